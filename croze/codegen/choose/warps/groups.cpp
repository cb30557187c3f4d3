// groups.cpp -- edits for devices whose items run in warps.
//
// Contractions get tiles (group_tiles.h), other reductions are shared by the items of a group
// (item_rows.h) where that is faster than one each.  In all else an item makes an element of the
// result, or a vector and a few of them where there is enough for all units, and neighbours in a
// warp those that lie side by side.
//
// Where warps are vectors of a processor other things are dear: vector_tiles.h and vector_items.h
// choose there, unless the device claims units: it was asked to take them.
#include "croze/codegen/choose/warps/groups.h"

#include <algorithm>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/choose/warps/group_tiles.h"
#include "croze/codegen/choose/warps/held_tiles.h"
#include "croze/codegen/choose/warps/item_rows.h"
#include "croze/codegen/choose/warps/vector_items.h"
#include "croze/codegen/choose/warps/vector_tiles.h"
#include "croze/codegen/choose/warps/vector_warp_model.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

class ItemMapper {
 public:
  explicit ItemMapper(KernelState& k) : k_(k), model_(k.caps()) {}

  // Loops become items, that along which memory is walked first, until a group is large enough.
  void run() {
    std::int64_t items = 1;
    for (UOp range = best_loop(); range && items < least_group(); range = best_loop()) {
      if (items == 1) range = cut_vectors(range);
      const std::int64_t count = items_of(range, model_.usual_items / items);
      if (count == 1 || !take(range, count)) return;
      items *= count;
    }
  }

 private:
  static constexpr std::int64_t most_copies = 4;

  std::int64_t least_group() const { return model_.usual_items / 2; }

  double iterations_in_all() const {
    double count = 1;
    for (UOp r : k_.loops) {
      if (r.loop_kind() != LoopKind::Serial) count *= static_cast<double>(r.range_size());
    }
    return count;
  }

  // Of loops that are equal the innermost.
  UOp best_loop() const {
    UOp best;
    std::int64_t most = -1;
    for (std::size_t i = k_.loops.size(); i-- > 0;) {
      const UOp r = k_.loops[i];
      if (!is_parallel(r) || r.range_size() == 1 || tried(r)) continue;
      const std::int64_t count = contiguous_accesses(k_.sink, r);
      if (count <= most) continue;
      most = count;
      best = r;
    }
    return best;
  }

  bool tried(UOp range) const {
    return std::ranges::find(tried_, range.range_id()) != tried_.end();
  }

  // Vectors of what each item loads and stores, if there is work for all units all the same, and
  // several of them.  Returns the loop over vectors.
  UOp cut_vectors(UOp range) {
    const double enough = static_cast<double>(model_.units * model_.resident_items);
    const double all = iterations_in_all();
    const std::int64_t lanes = full_lanes(k_.sink, k_.caps());
    if (lanes <= 1 || contiguous_accesses(k_.sink, range) == 0 || range.trip_divisor() % lanes != 0)
      return range;
    if (range.range_size() == lanes) return range;  // nothing would be left for items
    if (all < enough * static_cast<double>(lanes)) return range;
    const SplitRange vectors = split(k_, range, lanes);
    if (!try_bind(k_, vectors.inner, LoopKind::Lane)) return vectors.outer;
    if (!vectors.outer.is(Op::Range)) return vectors.outer;
    const double left = all / static_cast<double>(lanes) / enough;
    const std::int64_t copies =
        largest_divisor(vectors.outer.trip_divisor(),
                        std::min<std::int64_t>(most_copies, static_cast<std::int64_t>(left)));
    if (copies <= 1 || copies == vectors.outer.range_size()) return vectors.outer;
    if (!reduces(k_.sink).empty()) return vectors.outer;
    // Each copy stands as far from the next as all vectors of a part are long.
    const SplitRange parts = split(k_, vectors.outer, vectors.outer.trip_divisor() / copies);
    if (!parts.outer.is(Op::Range) || parts.outer.is_open()) return parts.inner;
    bind(k_, parts.outer, LoopKind::Unroll);
    return parts.inner;
  }

  // As many as the loop has, in whole warps, or a power of two of which few are idle.
  std::int64_t items_of(UOp range, std::int64_t most) const {
    most = std::min({most, model_.most_items, k_.caps().max_group_axis[0]});
    const std::int64_t size = range.range_size();
    if (size <= most) return range.is_open() ? most : size;
    if (range.is_open()) return most;
    std::int64_t best = most;
    const auto padded = [&](std::int64_t n) { return (size + n - 1) / n * n; };
    for (std::int64_t n = most / 2; n >= std::max<std::int64_t>(1, most / 4); n /= 2) {
      if (padded(n) * 8 < padded(best) * 7) best = n;
    }
    return best;
  }

  bool take(UOp range, std::int64_t count) {
    const SplitRange parts = split(k_, pad(k_, range, count), count);
    if (parts.outer.is(Op::Range)) tried_.push_back(parts.outer.range_id());
    return bool(try_bind(k_, parts.inner, LoopKind::Item));
  }

  KernelState& k_;
  const WarpModel model_;
  std::vector<std::int64_t> tried_;  // what is left of loops that are cut
};

}  // namespace

void choose_groups(KernelState& k) {
  const bool by_lane = VectorWarpModel::suits(k.caps());
  if (by_lane ? tile_by_units(k) || tile_vector_warps(k) : tile_held_products(k) || tile_groups(k))
    return;
  unroll_small_reductions(k);
  if (!share_reductions(k)) {
    if (by_lane) {
      map_vector_items(k);
    } else {
      ItemMapper(k).run();
    }
  }
  bind_groups(k);
}

}  // namespace croze
