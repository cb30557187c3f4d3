// keep.h -- what two loops compute alike; keep() itself is in transform.h.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// The same expression over one loop and over another.
struct SharedValue {
  UOp over_first, over_second;
};

// The largest expressions over `first` that the kernel computes over `second`, too, and that take
// more than loads and index arithmetic.  Those over further loops that are not in `around` are left
// out: a row of them would not do.
std::vector<SharedValue> shared_values(UOp sink, UOp first, UOp second,
                                       const std::vector<UOp>& around);

// Bytes of the tiles that keep() would make of them, a row of `size` for each copy of the code that
// they have; 2^48 if it is more.
std::int64_t kept_bytes(const std::vector<SharedValue>& values, std::int64_t size);

}  // namespace croze
