// note.h -- what the files that make edits share.
#pragma once

#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"

namespace croze {

// To be called before the edit is made: adds it to k.applied.  Throws InternalError with the reason
// if it is not legal.
void note(KernelState& k, const Edit& edit);

// split() without its note.
SplitRange split_in_two(KernelState& k, UOp range, std::int64_t inner_size);

}  // namespace croze
