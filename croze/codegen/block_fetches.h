// block_fetches.h -- what the loops of a linear program fetch from memory before they read it.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "croze/codegen/prefetch.h"
#include "croze/render/program.h"

namespace croze {

// A loop of a kernel, or all of it, with what stands in it.
struct Block {
  int parent = -1;
  int depth = 0;
  UOp range;               // null: the root
  std::vector<int> units;  // nodes as they come, by number; inner blocks as ~block
};

// Chooses by the blocks of a kernel which of its loads are fetched where (prefetch.h).  Refers to
// what it is given, which may be filled in later.
class BlockFetches {
 public:
  // Nodes by number; blocks; how far each node is along the update of a register, 0: it is none;
  // which units wait for which others of their block.
  BlockFetches(const std::vector<UOp>& order, const std::vector<Block>& blocks,
               const std::vector<int>& progress,
               const std::unordered_map<int, std::vector<int>>& waits_for, bool is_blind_to_masks)
      : order_(order),
        blocks_(blocks),
        progress_(progress),
        waits_for_(waits_for),
        is_blind_to_masks_(is_blind_to_masks) {
    for (UOp u : order) {
      if (is_lane(u)) lanes_ = lanes_ | u.ranges();
    }
  }

  // In a turn of the block.
  std::vector<Fetch> of(int block) const;
  // Those among them that follow from numbers which are read before the block.
  std::vector<UOp> of_later_rows(int block) const;

  bool is_vector(int number) const {
    return !(order_[static_cast<std::size_t>(number)].ranges() & lanes_).empty();
  }

 private:
  const Block& at(int block) const { return blocks_[static_cast<std::size_t>(block)]; }
  UOp node(int unit) const { return order_[static_cast<std::size_t>(unit)]; }
  std::vector<UOp> places_read_directly(const Block& block) const;
  std::vector<UOp> places_read(const Block& block) const;
  std::int64_t instructions_in(const Block& block) const;
  bool updates_register(const Block& block) const;

  // The loops around the fill of a tile, outermost first: those that fill it, and those in each
  // turn of which it is filled anew.
  struct FillLoops {
    std::vector<UOp> filling, around;
  };
  UOp fill_of(const Block& block) const;
  FillLoops loops_of_fill(int block, UOp fill) const;
  bool uses(const Block& block, UOp fill, const Block& filling) const;

  std::int64_t turns_of(int block) const;
  std::vector<UOp> behind_long_loops(int block) const;
  std::vector<UOp> of_next_turn(int block) const;
  std::vector<UOp> of_next_fill(int block) const;
  std::vector<UOp> of_next_fill_while_used(int block) const;
  bool reads_what_was_read(int block, std::span<const UOp> places) const;
  std::vector<Fetch> of_stream(int block) const;

  const std::vector<UOp>& order_;
  const std::vector<Block>& blocks_;
  const std::vector<int>& progress_;
  const std::unordered_map<int, std::vector<int>>& waits_for_;
  RangeSet lanes_;
  const bool is_blind_to_masks_;
};

}  // namespace croze
