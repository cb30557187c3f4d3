// transpose.cpp -- a butterfly: exchanges of two vectors turn a tile.
//
// Element by element a tile costs a load and a store each.  By rows it is a load and a store of
// each vector, and for each bit of a lane's number one exchange per vector: rows whose numbers
// differ in one bit trade the lanes whose numbers differ in another.
//
// An element of row t and lane j of u rows of n lanes is to be at the place j u + t: the bits of t
// and, above them, those of j, of which the upper ones number the vectors that are stored.  Bit by
// bit from the lowest, a bit of the lane changes places with the bit of the row that holds what it
// is to be: first the bits of t, and what they give way to goes round by the rows' numbers to its
// place.
#include "croze/codegen/lower/transpose.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <ranges>
#include <span>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

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

// Of the unrolled ranges that the store closes that along which it goes in the smallest steps.
UOp nearest_copies(UOp store) {
  UOp best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (UOp r : closed_ranges(store)) {
    if (r.loop_kind() != LoopKind::Unroll) continue;
    const Stride s = stride_over(store.src(0).src(1), r);
    if (!s.affine || std::abs(s.step) >= least) continue;
    best = r;
    least = std::abs(s.step);
  }
  return best;
}

// The tile where runs of lanes stay side by side: as many in a row of it as there are copies, which
// lie side by side; nothing if there are no such runs.
std::optional<TransposedTile> tile_of_runs(UOp place, UOp lane, UOp unrolled) {
  const Stride copies = stride_over(place.src(1), unrolled);
  const std::int64_t terms = copies.affine ? copies.step : 0, lanes = terms * unrolled.range_size();
  if (terms < 1 || lane.range_size() % lanes != 0) return {};
  const auto at_lane = [&](UOp at) {
    const std::pair<UOp, UOp> map[] = {{lane, at}};
    return substitute(place.src(1), map);
  };
  Graph& g = place.graph();
  const UOp first = at_lane(g.index(0)), apart = at_lane(g.index(terms)) - first;
  if (!apart.is(Op::Const)) return {};
  const UOp expected =
      first + lane % terms + lane % lanes / terms * apart.arg().value + lane / lanes * lanes;
  if (!(place.src(1) - expected).is_const(0)) return {};
  return TransposedTile{lane, unrolled, lanes, terms};
}

// Whether all vectors are made by one op with the same number of others, and as many bytes: it does
// not mind in which order lanes are.  The fields of a byte are made so, and those tiles of them
// that come from the same vectors are turned together.
bool can_be_done_after(std::span<const UOp> vectors) {
  const UOp first = vectors[0];
  if (!is_elementwise(first.op()) || first.num_src() != 2 || !first.src(1).is_const()) return false;
  if (first.src(0).dtype() != first.dtype()) return false;
  return std::ranges::all_of(vectors, [&](UOp v) {
    return v.is(first.op()) && v.dtype() == first.dtype() && v.num_src() == 2 &&
           v.src(1) == first.src(1) && v.src(0).dtype() == first.dtype();
  });
}

}  // namespace

bool can_exchange(DType t, const Caps& caps) {
  return caps.exchanges_lanes && (caps.has_dtype(t) || is_half(t));
}

std::optional<TransposedTile> transposed_tile(UOp store, const Caps& caps) {
  const UOp place = store.src(0), value = store.src(1);
  const bool can_turn = can_exchange(value.dtype(), caps);
  if (!can_turn || !place.is(Op::Index) || place.num_src() > 2) return {};
  const UOp lane = only_closed(store, LoopKind::Lane), unrolled = nearest_copies(store);
  if (!lane || !unrolled) return {};
  const auto lanes = static_cast<std::uint64_t>(lane.range_size()),
             rows = static_cast<std::uint64_t>(unrolled.range_size());
  if (rows > lanes || rows < 2 || !std::has_single_bit(lanes) || !std::has_single_bit(rows))
    return {};
  if (!value.varies_over(lane) || !value.varies_over(unrolled)) return {};
  if (const std::optional<TransposedTile> tile = tile_of_runs(place, lane, unrolled)) return tile;
  const Stride apart = stride_over(place.src(1), lane);
  if (rows < lanes && (!apart.affine || apart.step != unrolled.range_size())) return {};
  if (!is_contiguous(place, unrolled) || is_contiguous(place, lane)) return {};
  return TransposedTile{lane, unrolled, lane.range_size()};
}

std::vector<UOp> transposed(std::vector<UOp> vectors, std::int64_t lanes, std::int64_t terms) {
  Graph& graph = vectors[0].graph();
  std::vector<UOp> after;  // what is done to all elements alike, from the last one on
  while (can_be_done_after(vectors)) {
    after.push_back(vectors[0]);
    for (UOp& v : vectors) v = v.src(0);
  }
  const auto exchange = [&](UOp x, UOp y, std::int64_t bit) {
    return graph.make(Op::Exchange, x.dtype(), {x, y}, Arg(bit));
  };
  std::size_t row_bit = 1;
  for (std::int64_t bit = terms; bit < lanes; bit *= 2) {
    for (std::size_t low = 0; low < vectors.size(); low++) {
      if (low & row_bit) continue;
      const UOp x = vectors[low], y = vectors[low | row_bit];
      vectors[low] = exchange(x, y, bit);
      vectors[low | row_bit] = exchange(x, y, -bit);
    }
    row_bit = 2 * row_bit < vectors.size() ? 2 * row_bit : 1;
  }
  // The bits of j that were the last to go are in order but for the round they have not ended.
  const auto bits_of = [](std::size_t n) { return static_cast<int>(std::bit_width(n)) - 1; };
  const int row_bits = bits_of(vectors.size());
  const int turned = bits_of(static_cast<std::size_t>(lanes / terms)) % row_bits;
  std::vector<UOp> result;
  for (std::size_t number = 0; number < vectors.size(); number++) {
    const std::size_t from =
        (number << turned | number >> (row_bits - turned)) & (vectors.size() - 1);
    result.push_back(vectors[from]);
  }
  for (UOp like : after | std::views::reverse) {
    for (UOp& v : result) v = graph.make(like.op(), like.dtype(), {v, like.src(1)});
  }
  return result;
}

}  // namespace croze
