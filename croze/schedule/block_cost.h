// block_cost.h -- how nests that run by blocks are cut, and whether that is worth it.
#pragma once

#include <cstdint>
#include <vector>

#include "croze/codegen/choose/machine_model.h"
#include "croze/schedule/kernels.h"

namespace croze {

// An axis along which nests are cut together: a loop of each of them.
struct BlockAxis {
  std::int64_t size;
  std::vector<UOp> loops;  // by nest
};

// What the cost asks of a nest.
struct NestLoads {
  struct Entry {
    UOp place;
    std::int64_t elements;  // that it reads, each counted once
    bool packed;            // an operand of a contraction
  };
  std::vector<Entry> loads;  // from memory
  std::vector<UOp> places;   // all that it loads and stores
  double cycles = 0;         // of its arithmetic, on one thread
  bool is_parallel = false;  // it is large enough to be shared by threads
};
NestLoads facts_for_blocks(const PendingStep& step);

// Nests that run one after the other, the axes that they have in common, and the buffers that would
// be memory of a block.
struct BlockedNests {
  std::vector<NestLoads> nests;
  std::vector<BlockAxis> axes;  // outermost first
  std::vector<UOp> inner;
};

struct BlockCut {
  std::vector<std::int64_t> blocks;  // by axis
  double gain = 0;  // cycles saved, against the nests run one by one; <= 0: nothing

  std::int64_t count() const;
};

// Cuts the outermost axes, no further than there is work for all threads and a block's memory stays
// in the cache: what the nests load along other axes is loaded again for each block.  Or leaves all
// as one block, on one thread, where waking the others costs more.
BlockCut cut_into_blocks(const BlockedNests& nests, const MachineModel& machine);

}  // namespace croze
