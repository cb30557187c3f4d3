// llvm_index.h -- indices of accesses, taken apart as LLVM IR has them.
#pragma once

#include <cstdint>

#include "croze/graph/uop.h"

namespace croze {

UOp without_after(UOp u);

// Whether an integer is known not to have wrapped (see Bounds).  What may have has the bounds of
// its type, or the multiples of its divisor next to them.
bool fits_its_type(UOp u);

// The place of lane 0.  Accesses whose indices differ by a constant share an address, and the
// constants stand apart, where machine instructions have a field for them.
struct SplitIndex {
  UOp index;
  std::int64_t offset = 0;
};

SplitIndex split_index(UOp place);

}  // namespace croze
