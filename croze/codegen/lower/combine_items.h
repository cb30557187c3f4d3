// combine_items.h -- what the items of a group have come to is made one value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/op.h"
#include "croze/graph/uop.h"

namespace croze {

class ItemCombiner {
 public:
  // For a kernel with these nodes.
  explicit ItemCombiner(std::span<const UOp> nodes);

  // The values that the items of a range have, combined; all of them get the result.
  UOp combined(Op op, UOp value, UOp item);

 private:
  std::vector<UOp> apart_;  // items and lanes, which have values of their own
  std::int64_t next_local_ = 0;
};

}  // namespace croze
