// open_blocks.h -- internal to schedule/: which blocks of a sequence a mask leaves anything of.
#pragma once

#include <vector>

#include "croze/codegen/lower/masked_turns.h"
#include "croze/schedule/blocks/block_cut.h"

namespace croze {

// An axis that is cut: where the block begins along it, and how long it is.
struct CutAxis {
  const BlockAxis* axis;
  UOp number;  // of the block
  std::int64_t blocks;

  // Of a loop along the axis.
  std::int64_t extent(UOp loop) const { return loop.range_size() / blocks; }
  UOp start(UOp loop) const { return number * extent(loop); }
  // What takes the place of the loop.
  UOp position(UOp loop) const {
    if (extent(loop) == 1) return start(loop);
    return start(loop) + loop.graph().range(loop.range_id(), extent(loop), loop.loop_kind());
  }
};

struct OpenBlocks {
  UOp any;                 // whether a block has anything to add; null: all have
  std::vector<UOp> first;  // by nest: the block that is the first to add to what it stores; null: 0
};

// Where all that is stored for others are sums, and masks leave out all of their terms in some
// blocks.  `nests`: of the whole.
OpenBlocks open_blocks(std::span<const UOp> nests, const BlockPlan& plan,
                       std::span<const CutAxis> axes);

// The turns of the loop in which the mask is open somewhere, for whatever its ranges but those in
// `known` come to.  With `positions` blocks take the place of loops.
MaskedTurns open_turns(UOp mask, UOp loop, std::span<const std::pair<UOp, UOp>> positions,
                       RangeSet known = {});

// The nest, which stores only where `condition` holds.
UOp storing_where(UOp nest, UOp condition);

}  // namespace croze
