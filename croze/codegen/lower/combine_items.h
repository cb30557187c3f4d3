// combine_items.h -- what the items of a group have come to is made one value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/edits/item_axes.h"
#include "croze/device/caps.h"
#include "croze/graph/op.h"
#include "croze/graph/uop.h"

namespace croze {

class ItemCombiner {
 public:
  // For a kernel with these nodes, whose loops over items are these axes of a group.
  ItemCombiner(std::span<const UOp> nodes, const Caps& caps, const ItemAxes& axes);

  // The values that the items of some of the loops that `reduce` closes have, combined by its op;
  // all of them get the result.
  UOp combined(UOp reduce, UOp value, std::span<const UOp> items);

 private:
  // Where the items of a loop stand in their warps.
  struct Neighbours {
    std::int64_t distance = 0;  // from one to the next
    std::int64_t in_warp = 1;   // of the loop; 1: they do not shuffle
  };
  Neighbours neighbours_of(UOp item, DType t) const;

  // What is put aside for the others to read: a row of what items and lanes have beside the loop.
  struct Row {
    UOp place;  // of what one item has, or of its lanes
    std::int64_t size = 1;
  };
  Row row_beside(UOp item, UOp reduce, std::span<const UOp> open) const;

  UOp row_in_ballot(DType t, const Neighbours& row, Graph& g) const;
  UOp number_in_warp(Graph& g) const;
  UOp by_ballot(Op op, UOp value, const Neighbours& row) const;
  UOp combined_in_warp(Op op, UOp value, const Neighbours& row) const;
  UOp shuffled(Op op, UOp value, std::int64_t items, std::int64_t distance) const;
  UOp by_warps(Op op, UOp value, UOp item, const Row& row, const Neighbours& neighbours);
  UOp by_tree(Op op, UOp value, UOp item, const Row& row);
  UOp new_tile(DType t, std::int64_t elements, Graph& g);

  std::int64_t warp_ = 1;       // items that shuffle; 1: none do
  bool shuffles_wide_ = false;  // what has 8 bytes
  bool ballots_ = false;
  ItemAxes axes_;
  std::vector<UOp> apart_;  // items and lanes, which have values of their own
  std::int64_t next_local_ = 0;
};

}  // namespace croze
