// item_rows.h -- reductions on devices whose items run in warps.
#pragma once

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Has the items of a group share the reductions of the kernel, and what is made of them: a row of a
// softmax or a layer norm is a group.  False, and nothing done, if they are short or items had
// better have a reduction each.
bool share_reductions(KernelState& k);

}  // namespace croze
