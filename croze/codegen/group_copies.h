// group_copies.h -- copies to memory of a group that need no item.
#pragma once

#include <vector>

#include "croze/render/program.h"

namespace croze {

// The instructions in which tiles that are filled ahead (edits/warps/fill_ahead.h) are copied while
// the items go on, where what is copied at once has 4, 8 or 16 bytes, if `of_items`: for devices
// that can (Caps::copies_async).  Boxes are copied so already.  Barriers await both.
std::vector<UOp> with_copies_begun(const LinearProgram& program, bool of_items);

}  // namespace croze
