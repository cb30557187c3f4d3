// region.h -- which elements of a buffer an access touches.
#pragma once

#include <cstdint>

#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"

namespace croze {

// first + i * stride + ..., for all i < count of each axis: at least the elements that are touched.
struct Region {
  struct Axis {
    std::int64_t stride, count;
    bool operator==(const Axis&) const = default;
  };

  std::int64_t first = 0;
  SmallVector<Axis, 4> axes;  // positive strides, the largest first; no count is 1
  bool is_exact = true;       // all of them are touched

  std::int64_t last() const;
  bool operator==(const Region&) const = default;
};

// What an Index node names, over all values of the ranges in it.
Region region_of(UOp place);
// Of a flat index into `elements` elements; `is_gated`: not everywhere.
Region region_of(UOp flat, std::int64_t elements, bool is_gated);

// Whether no element is in both, and whether all of `part` are touched by `whole`: if that can be
// seen.
bool are_disjoint(const Region& a, const Region& b);
bool covers(const Region& whole, const Region& part);

}  // namespace croze
