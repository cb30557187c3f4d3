// join_passes.cpp -- which reductions go in one pass, and in blocks of what size.
#include "croze/codegen/choose/join_passes.h"

#include <algorithm>
#include <array>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Bytes of cache that the terms of a reduction pass through while it makes one result; where
// neighbours in memory belong to other results, with these, of which several are made at once.
std::int64_t bytes_read(UOp reduce) {
  const std::vector<UOp> closed = closed_ranges(reduce);
  std::int64_t bytes = 0;
  for (UOp load : loads(reduce.src(0))) {
    const UOp place = load.src(0);
    std::int64_t elements = 1, width = bytes_side_by_side;
    for (UOp r : closed) {
      if (!place.varies_over(r)) continue;
      elements *= r.range_size();
      if (along(place, r) == Along::Contiguous) width = size_of(load.dtype());
    }
    if (elements > 1) bytes += elements * width;
  }
  return bytes;
}

// The reduction that comes first of those over a loop.
UOp reduction_over(UOp sink, UOp range) {
  for (UOp u : reduces(sink)) {
    if (closes(u, range)) return u;
  }
  return {};
}

// Blocks no smaller than this leave vectors and several chains of them to the loops inside.
constexpr std::int64_t least_block = 64;

// Into blocks of how many iterations of the loop to cut, which stay in the L1 cache; 0 if what is
// read stays near anyway, beside as much that is made of it.
std::int64_t block_of(UOp reduce, UOp loop, const MachineModel& model) {
  const std::int64_t bytes = bytes_read(reduce);
  if (2 * bytes <= model.tile_bytes) return 0;
  const std::vector<UOp> closed = closed_ranges(reduce);
  std::int64_t inside = 1;  // iterations of the loops in this one
  for (auto it = std::ranges::find(closed, loop) + 1; it != closed.end(); ++it) {
    inside *= it->range_size();
  }
  const std::int64_t of_one = std::max<std::int64_t>(1, bytes / iterations(closed) * inside);
  const std::int64_t most = model.turn_bytes / of_one;
  if (most < 1) return 0;
  const std::int64_t size = loop.trip_divisor();
  const std::int64_t lanes = largest_divisor(size, least_block);
  const std::int64_t block =
      lanes * largest_divisor(size / lanes, std::max<std::int64_t>(1, most / lanes));
  return block < size && block <= most && block * inside >= least_block ? block : 0;
}

// One pair of loops; false if there is none.
bool join_one(KernelState& k, const MachineModel& model) {
  const std::vector<UOp> all = Legality(k).ranges();
  for (UOp first : all) {
    const UOp reduce =
        first.loop_kind() == LoopKind::Reduce ? reduction_over(k.sink, first) : UOp();
    const std::int64_t block = reduce ? block_of(reduce, first, model) : 0;
    if (block == 0) continue;
    for (UOp second : all) {
      const Edit edit{.kind = EditKind::OnePass,
                      .ranges = {first.range_id(), second.range_id()},
                      .size = block};
      if (first == second || !is_legal(k, edit)) continue;
      one_pass(k, std::array{first, second}, block);
      return true;
    }
  }
  return false;
}

}  // namespace

void join_passes(KernelState& k) {
  const MachineModel model(k.caps());
  while (join_one(k, model)) {
  }
}

}  // namespace croze
