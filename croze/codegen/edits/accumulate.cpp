// accumulate.cpp -- a long reduction in turns, over sums that wait in a tile.
//
//     for i, j:
//       out[i, j] = reduce add a[k, i] * b[k, j], k
// walks down a column of a and of b for each place, and when it comes to the next place all the
// rows that it has touched are gone from the cache.  Accumulated over i and j, in turns of 64:
//     for t in turns:
//       for i, j:
//         so_far = t == 0 ? 0 : tile[i, j]
//         tile[i, j] = so_far + reduce add a[64 t + k, i] * b[64 t + k, j], k < 64
//     for i, j:
//       out[i, j] = tile[i, j]
// In a turn 64 rows are read again and again, and stay near.
#include "croze/codegen/edits/accumulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/codegen/edits/note.h"
#include "croze/graph/eval.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

UOp index_in_tile(Graph& g, std::span<const UOp> ranges) {
  UOp index = g.index(0);
  for (UOp r : ranges) index = index * r.range_size() + r;
  return index;
}

Edit accumulate_edit(UOp range, std::span<const UOp> over, std::int64_t turn) {
  Edit edit{.kind = EditKind::Accumulate, .ranges = {range.range_id()}, .size = turn};
  for (UOp r : over) edit.ranges.push_back(r.range_id());
  return edit;
}

}  // namespace

std::string refuse_accumulation(UOp reduce, std::span<const UOp> over, std::int64_t room) {
  if (reduce.dtype() == DType::Index) return "mathematical integers have no width in a tile";
  for (UOp r : over) {
    if (!reduce.varies_over(r)) return fmt::format("loop r{} has no sums", r.range_id());
    const LoopKind kind = r.loop_kind();
    if (r.is_open() ||
        (kind != LoopKind::Parallel && kind != LoopKind::Lane && kind != LoopKind::Unroll)) {
      return fmt::format("a tile cannot extend over loop r{} of kind {}", r.range_id(),
                         name_of(kind));
    }
  }
  const std::int64_t places = iterations(over);
  if (places > room / size_of(reduce.dtype())) {
    return fmt::format("a tile of {} sums does not fit in {} bytes", places, room);
  }
  for (UOp u : toposort(reduce)) {
    if (u.is(Op::Range) && reduce.varies_over(u) && std::ranges::find(over, u) == over.end() &&
        !can_stand_around_tile(u.loop_kind(), Space::Thread)) {
      return fmt::format("loop r{} is of kind {} and not one of the tile's", u.range_id(),
                         name_of(u.loop_kind()));
    }
    // They would be copied, and their loops with them.
    if (u != reduce && u.first_closed() < u.num_src()) return "what is summed holds other loops";
  }
  return {};
}

std::optional<TurnLoops> try_accumulate(KernelState& k, UOp range, std::span<const UOp> over,
                                        std::int64_t turn) {
  if (!is_legal(k, accumulate_edit(range, over, turn))) return {};
  return accumulate(k, range, over, turn);
}

TurnLoops accumulate(KernelState& k, UOp range, std::span<const UOp> over, std::int64_t turn) {
  note(k, accumulate_edit(range, over, turn));
  Graph& g = k.graph();
  const SplitRange parts = split_in_two(k, range, turn);
  const std::vector<UOp> all = reduces(k.sink);
  const UOp reduce = *std::ranges::find_if(all, [&](UOp u) { return closes(u, parts.inner); });
  const UOp turns = g.range_of_kind(parts.outer, LoopKind::Loop);
  std::vector<std::pair<UOp, UOp>> renamed{{parts.outer, turns}};
  std::vector<UOp> loops{turns};
  for (UOp r : over) {
    const LoopKind kind = is_parallel(r) ? LoopKind::Loop : r.loop_kind();
    loops.push_back(g.range(k.next_range++, r.range_size(), kind));
    renamed.emplace_back(r, loops.back());
  }
  std::vector<UOp> rest = closed_ranges(reduce);
  std::erase(rest, parts.outer);
  const Op op = reduce.reduce_op();
  const UOp tile = g.local(reduce.dtype(), k.next_local++, iterations(over), Space::Thread);
  const UOp place = g.place(tile, index_in_tile(g, std::span(loops).subspan(1)));
  const UOp start = g.constant_bits(reduce.dtype(), identity_of(op, reduce.dtype()));
  const UOp so_far = where(equal(turns, 0), start, g.load(place));
  const UOp of_turn = g.reduce(op, substitute(reduce.src(0), renamed), rest);
  const UOp filled = g.store(place, g.alu(op, {so_far, of_turn}), loops);
  const UOp sum = g.load(g.place(g.after(tile, std::span(&filled, 1)), index_in_tile(g, over)));
  const std::pair<UOp, UOp> replacement[] = {{reduce, sum}};
  k.sink = substitute(k.sink, replacement);
  return {{loops.begin() + 1, loops.end()}, parts.inner};
}

}  // namespace croze
