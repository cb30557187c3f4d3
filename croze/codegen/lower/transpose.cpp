// transpose.cpp -- a butterfly: n log n exchanges of two vectors turn a tile of n x n.
//
// Element by element a tile costs a load and a store each.  By rows it is n loads and n stores of
// vectors, and for each bit of a lane's number one exchange per vector: rows whose numbers differ
// in this bit trade the lanes whose numbers differ in it.
#include "croze/codegen/lower/transpose.h"

#include <bit>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

bool is_contiguous(UOp place, UOp range) {
  const Stride s = stride_over(place.src(1), range);
  return s.affine && s.step == 1;
}

// The one range of that kind which the store closes, or null.
UOp only_closed(UOp store, LoopKind kind) {
  UOp found;
  for (UOp r : closed_ranges(store)) {
    if (r.loop_kind() != kind) continue;
    if (found) return UOp();
    found = r;
  }
  return found;
}

}  // namespace

std::optional<TransposedTile> transposed_tile(UOp store, const Caps& caps) {
  const UOp place = store.src(0), value = store.src(1);
  const bool can_turn = caps.exchanges_lanes && caps.has_dtype(value.dtype());
  if (!can_turn || !place.is(Op::Index) || place.num_src() > 2) return {};
  const TransposedTile tile{only_closed(store, LoopKind::Lane),
                            only_closed(store, LoopKind::Unroll)};
  if (!tile.lane || !tile.unrolled) return {};
  const std::int64_t size = tile.lane.range_size();
  if (size != tile.unrolled.range_size() || !std::has_single_bit(static_cast<std::uint64_t>(size)))
    return {};
  if (!value.varies_over(tile.lane) || !value.varies_over(tile.unrolled)) return {};
  if (!is_contiguous(place, tile.unrolled) || is_contiguous(place, tile.lane)) return {};
  return tile;
}

std::vector<UOp> transposed(std::vector<UOp> vectors) {
  Graph& graph = vectors[0].graph();
  const auto exchange = [&](UOp x, UOp y, std::int64_t bit) {
    return graph.make(Op::Exchange, x.dtype(), {x, y}, Arg(bit));
  };
  for (std::size_t bit = 1; bit < vectors.size(); bit *= 2) {
    for (std::size_t low = 0; low < vectors.size(); low++) {
      if (low & bit) continue;
      const UOp x = vectors[low], y = vectors[low | bit];
      vectors[low] = exchange(x, y, static_cast<std::int64_t>(bit));
      vectors[low | bit] = exchange(x, y, -static_cast<std::int64_t>(bit));
    }
  }
  return vectors;
}

}  // namespace croze
