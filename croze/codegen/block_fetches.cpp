// block_fetches.cpp -- for each block, what it reads and the loops around it.
#include "croze/codegen/block_fetches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Turns of a loop in which what its next runs read can be fetched.
constexpr std::int64_t fetching_loop = 4;
// Whither the next contents of a tile are fetched: what it is used with stays in the first cache.
constexpr std::int64_t second_cache = 2;

// Places as they are outside of a loop that turns once or not at all (lower/rare_work.h).
std::vector<UOp> places_outside(std::span<const UOp> places, UOp jump) {
  std::vector<UOp> result;
  for (UOp place : places) {
    std::vector<std::pair<UOp, UOp>> outside;
    for (UOp u : toposort(place.src(1))) {
      if (u.is(Op::After) && u.src(1) == jump) outside.emplace_back(u, u.src(0));
    }
    result.push_back(place.graph().place(place.src(0), substitute(place.src(1), outside)));
  }
  return result;
}

}  // namespace

std::vector<Fetch> BlockFetches::of(int block) const {
  std::vector<Fetch> fetches;
  const auto add = [&](const std::vector<UOp>& places, std::int64_t cache) {
    for (UOp place : places) fetches.push_back({place, cache});
  };
  add(behind_long_loops(block), 1);
  add(of_later_rows(block), 1);
  add(of_next_turn(block), 1);
  add(of_next_fill(block), second_cache);
  add(of_next_fill_while_used(block), second_cache);
  std::ranges::copy(of_stream(block), std::back_inserter(fetches));
  return fetches;
}

// Turns of all loops in a block, one in the other.
std::int64_t BlockFetches::turns_of(int block) const {
  std::int64_t most = 1;
  for (int unit : at(block).units) {
    if (unit < 0) most = std::max(most, turns_of(~unit));
  }
  return std::min(at(block).range.range_size(), long_loop) * std::min(most, long_loop);
}

// Memory that a block reads in vectors when its long loops are over is fetched while they run:
// rows of a tile are too far apart for the hardware to foresee.  What lanes read or are stored to
// one by one is so many lines that shorter loops, one in the other, are worth it.
std::vector<UOp> BlockFetches::behind_long_loops(int block) const {
  FlatSet<int> before;
  bool has_long_loop = false, has_long_nest = false;
  for (int unit : at(block).units) {
    if (unit >= 0) continue;
    has_long_loop = has_long_loop || at(~unit).range.range_size() >= long_loop;
    has_long_nest = has_long_nest || turns_of(~unit) >= long_loop;
    if (const auto it = waits_for_.find(unit); it != waits_for_.end()) {
      for (int w : it->second) before.insert(w);
    }
  }
  std::vector<UOp> vectors, scattered;
  for (int unit : at(block).units) {
    if (unit < 0 || before.contains(unit)) continue;
    const UOp u = node(unit);
    if (has_long_loop && u.is(Op::Load) && is_fetchable(u.src(0))) {
      vectors.push_back(u.src(0));
    } else if (has_long_nest && (u.is(Op::Load) || u.is(Op::Store)) && is_scattered(u.src(0))) {
      scattered.push_back(u.src(0));
    }
  }
  const std::vector<UOp> lines = lines_of(scattered);
  vectors.insert(vectors.end(), lines.begin(), lines.end());
  return vectors;
}

// What a block reads, but for the loops in it.
std::vector<UOp> BlockFetches::places_read_directly(const Block& block) const {
  std::vector<UOp> places;
  for (int unit : block.units) {
    if (unit < 0) continue;
    const UOp u = node(unit);
    if (u.is(Op::Load) && u.src(0).is(Op::Index)) places.push_back(u.src(0));
  }
  return places;
}

// The same of a block that has no loops in it; nothing of others.
std::vector<UOp> BlockFetches::places_read(const Block& block) const {
  const auto is_loop = [](int unit) { return unit < 0; };
  if (std::ranges::any_of(block.units, is_loop)) return {};
  return places_read_directly(block);
}

std::int64_t BlockFetches::instructions_in(const Block& block) const {
  std::int64_t count = 0;
  for (int unit : block.units) {
    if (unit >= 0) count += vector_instructions(node(unit), is_vector(unit));
  }
  return count;
}

bool BlockFetches::updates_register(const Block& block) const {
  return std::ranges::any_of(block.units, [&](int unit) {
    return unit >= 0 && progress_[static_cast<std::size_t>(unit)] > 0;
  });
}

// What the next turn of the loop around a reduction reads is fetched in its own turns.
std::vector<UOp> BlockFetches::of_next_turn(int block) const {
  const Block& inner = at(block);
  if (inner.parent <= 0 || inner.range.range_size() < fetching_loop) return {};
  if (!updates_register(inner)) return {};
  return places_of_next_turn(places_read(inner), inner.range, at(inner.parent).range);
}

// The store to a tile that closes the loop; null: it fills none.
UOp BlockFetches::fill_of(const Block& block) const {
  if (!block.range) return UOp();
  for (int unit : block.units) {
    if (unit < 0) continue;
    const UOp u = node(unit);
    if (u.is(Op::Store) && u.src(0).is(Op::Index) && tile_of(u) && closes(u, block.range)) return u;
  }
  return UOp();
}

BlockFetches::FillLoops BlockFetches::loops_of_fill(int block, UOp fill) const {
  FillLoops loops{.filling = {at(block).range}, .around = {}};
  for (int b = at(block).parent; b > 0; b = at(b).parent) {
    auto& of_kind = closes(fill, at(b).range) ? loops.filling : loops.around;
    of_kind.insert(of_kind.begin(), at(b).range);
  }
  return loops;
}

// Whether the block reads the tile in as many turns as the other fills it in, for the same turn of
// the loop around both.
bool BlockFetches::uses(const Block& block, UOp fill, const Block& filling) const {
  if (!block.range || block.range == filling.range || block.parent != filling.parent) return false;
  if (block.range.is_open() || block.range.range_size() != filling.range.range_size()) return false;
  return std::ranges::any_of(block.units, [&](int unit) {
    return unit >= 0 && node(unit).is(Op::Load) &&
           buffer_of(node(unit).src(0)) == buffer_of(fill.src(0));
  });
}

// What a tile is filled with later on is fetched while it is filled; in a next turn of the loops
// around its filling, while it is used, which leaves memory alone, or else while it is filled.
std::vector<UOp> BlockFetches::of_next_fill(int block) const {
  const UOp fill = fill_of(at(block));
  if (!fill) return {};
  const FillLoops loops = loops_of_fill(block, fill);
  const std::vector<UOp> places = places_read(at(block));
  std::vector<UOp> fetched = places_of_next_fill(places, loops.filling, is_blind_to_masks_);
  const bool is_used_so =
      std::ranges::any_of(blocks_, [&](const Block& b) { return uses(b, fill, at(block)); });
  if (is_used_so) return fetched;
  const std::vector<UOp> later = places_of_later_fill(places, at(block).range, loops.around);
  fetched.insert(fetched.end(), later.begin(), later.end());
  return fetched;
}

std::vector<UOp> BlockFetches::of_next_fill_while_used(int block) const {
  std::vector<UOp> fetched;
  if (at(block).parent < 0) return fetched;
  for (int unit : at(at(block).parent).units) {
    if (unit >= 0) continue;
    const Block& filling = at(~unit);
    const UOp fill = fill_of(filling);
    if (!fill || !uses(at(block), fill, filling)) continue;
    const FillLoops loops = loops_of_fill(~unit, fill);
    const std::pair<UOp, UOp> turns[] = {{filling.range, at(block).range}};
    for (UOp place : places_of_later_fill(places_read(filling), filling.range, loops.around)) {
      fetched.push_back(place.graph().place(place.src(0), substitute(place.src(1), turns)));
    }
  }
  return fetched;
}

// Rows of a table that come later, as numbers in memory say.
std::vector<UOp> BlockFetches::of_later_rows(int block) const {
  const Block& inner = at(block);
  if (inner.parent <= 0) return {};
  return places_of_later_rows(places_read(inner), inner.range, at(inner.parent).range);
}

// Whether a loop that this one waits for has read one of the places in as many turns.
bool BlockFetches::reads_what_was_read(int block, std::span<const UOp> places) const {
  std::vector<int> before{~block};
  FlatSet<int> seen;
  for (std::size_t i = 0; i < before.size(); i++) {
    const auto waits = waits_for_.find(before[i]);
    if (waits == waits_for_.end()) continue;
    for (int unit : waits->second) {
      if (!seen.contains(unit)) before.push_back(unit);
      seen.insert(unit);
    }
  }
  const UOp range = at(block).range;
  return std::ranges::any_of(before, [&](int unit) {
    if (unit >= 0 || ~unit == block) return false;
    const UOp other = at(~unit).range;
    if (other.is_open() || range.is_open() || other.range_size() != range.range_size())
      return false;
    const std::pair<UOp, UOp> turns[] = {{other, range}};
    return std::ranges::any_of(places_read_directly(at(~unit)), [&](UOp place) {
      return std::ranges::find(places, substitute(place, turns)) != places.end();
    });
  });
}

// What a loop reads and computes much with, unless it is a product, whose tile is the work.
std::vector<Fetch> BlockFetches::of_stream(int block) const {
  const Block& inner = at(block);
  if (!inner.range) return {};
  const UOp outer = inner.parent > 0 ? at(inner.parent).range : UOp();
  const std::int64_t turns = outer ? outer.range_size() : 1;
  if (std::max(turns, inner.range.range_size()) < long_loop) return {};
  std::vector<UOp> places = places_read_directly(inner);
  std::int64_t instructions = instructions_in(inner);
  for (int unit : inner.units) {
    if (unit >= 0) continue;
    const Block& rare_work = at(~unit);
    if (rare_work.range.range_size() > 1) return {};
    instructions += instructions_in(rare_work);
    const std::vector<UOp> outside = places_outside(places_read(rare_work), rare_work.range);
    places.insert(places.end(), outside.begin(), outside.end());
  }
  const bool reads_again =
      outer && std::ranges::any_of(places, [&](UOp place) { return !place.varies_over(outer); });
  if (updates_register(inner) && reads_again) return {};
  const bool is_again = reads_what_was_read(block, places);
  return places_of_stream(places, inner.range, outer, instructions, is_again);
}

}  // namespace croze
