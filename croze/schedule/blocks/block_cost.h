// block_cost.h -- how nests that run by blocks are cut, and whether that is worth it.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/uop.h"

namespace croze {

// An axis along which nests are cut together: a loop of each of them, or none of those of a
// prelude.
struct BlockAxis {
  std::int64_t size;       // of the loops, or what divides all of them
  std::vector<UOp> loops;  // by nest

  // Whether a nest adds up over it, so that its blocks are run in order.
  bool is_in_order() const;
};

// What the cost asks of a nest.
struct BlockedNest {
  struct LoadFacts {
    UOp place;
    std::int64_t elements;  // that it reads, each counted once
    bool packed;            // an operand of a contraction
  };
  std::vector<LoadFacts> loads;  // from memory
  std::vector<UOp> places;       // all that it loads and stores
  double cycles = 0;             // of its arithmetic, on one thread
  double stored_bytes = 0;
  bool is_parallel = false;  // it is large enough to be shared by threads
};
BlockedNest blocked_nest(UOp sink);

// A buffer that nests of a sequence write and others of it read, and the first and last of them.
struct PassedBuffer {
  UOp buffer;
  std::size_t first, last;
  bool inner;  // nobody else wants it: it would be memory of a block
};

// Nests that run one after the other, the axes that they have in common, and what they pass on.
struct BlockSequence {
  std::vector<const BlockedNest*> nests;
  std::vector<BlockAxis> axes;       // outermost first, those in order last
  std::vector<PassedBuffer> passed;  // by number of the buffer
  std::size_t strands = 1;           // that wait for nothing of each other: one launch otherwise
  std::size_t prelude = 0;           // so many of the first nests are the same in all blocks

  const PassedBuffer* find_passed(UOp buffer) const;  // null if it is not
  bool is_inner(UOp buffer) const;
};

struct BlockCut {
  std::vector<std::int64_t> blocks;  // by axis
  double gain = 0;  // cycles saved, against the nests run one by one; <= 0: nothing

  std::int64_t count() const;
};

// Cuts the outermost axes into as many blocks as gain most: fewer leave threads idle and memory out
// of the cache, more load again what does not vary along the axes.  One block runs on one thread,
// where waking the others costs more than they help.  A last axis that is in order is cut as well
// where that gains more.
BlockCut cut_into_blocks(const BlockSequence& sequence, const MachineModel& machine);

// The same where the last axis, which is in order, is cut as well, into blocks that fit into a
// cache.
BlockCut cut_last_in_order(const BlockSequence& sequence, const MachineModel& machine);

}  // namespace croze
