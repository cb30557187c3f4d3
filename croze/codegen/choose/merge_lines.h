// merge_lines.h -- the lines of a picture as one loop.
#pragma once

#include <optional>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

struct MergedLines {
  KernelState kernel;
  UOp lines;  // the loop over all lines of a picture
};

// The kernel with neighbouring output loops merged over which it writes in one walk, and along both
// of which an operand is read or none: the lines of a picture.  Nothing if there are no such loops.
std::optional<MergedLines> with_merged_lines(const KernelState& k);

}  // namespace croze
