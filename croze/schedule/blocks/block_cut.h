// block_cut.h -- internal to schedule/: steps that would run as a sequence, and cutting their
// nests.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "croze/schedule/blocks/block_cost.h"
#include "croze/schedule/kernels.h"

namespace croze {

// A loop of the nest that writes a buffer, and the distance in memory from one turn to the next.
struct LayoutAxis {
  UOp loop;
  std::int64_t stride;
};
using Layout = std::vector<LayoutAxis>;  // outermost first

// How a store lays out its buffer; empty if not every element has its place in the loops.
Layout layout_of(UOp store);

// The position of an access along an axis of the buffer's layout.
inline UOp position_along(UOp index, const LayoutAxis& axis) {
  return index / axis.stride % axis.loop.range_size();
}

// The loop over the whole axis that alone is the position along it in every one of the places that
// is in the buffer; null if there is none.
UOp loop_along(std::span<const UOp> places, UOp buffer, const LayoutAxis& axis);

// The loops along which a nest can be cut: parallel ones around all of its stores.
std::vector<UOp> common_loops(UOp nest);

// The loops over which a nest adds up what it stores, or a multiple of it: it can be cut along them
// as well, if its blocks are run in order and each adds to what those before it have stored.
std::vector<UOp> summed_loops(UOp nest);

// A buffer that a sequence writes, with the nest that lays it out.
struct Written {
  UOp buffer;
  std::size_t nest;
  Layout layout;
};

// A step as it would be run by blocks.
struct BlockPlan {
  bool joinable = false;
  BlockSequence sequence;
  std::map<const Node*, Written> written;                 // by buffer
  std::map<const Node*, std::set<std::size_t>> accessed;  // the nests that do, by buffer
  BlockCut cut;
  // Nests that say themselves how they add to what the blocks before have stored.
  std::set<std::size_t> adds_itself;
};

// Makes the nests of a step those of a block: a loop that is cut becomes the number of the block
// times its extent plus a shorter loop, and what lies in memory of a block has room for one only.
void cut_step(PendingStep& step, const BlockPlan& plan, Schedule& schedule, const Caps& caps);

}  // namespace croze
