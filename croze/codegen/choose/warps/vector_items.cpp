// vector_items.cpp -- which loops are lanes, which are copies.
//
// A warp costs as much with one lane as with all of them, so the loop along the first axis of a
// group has whole warps, or nearly.  What a load costs does not depend on whether lanes read side
// by side, but beginning an item costs as much as several loads: an item makes a few elements,
// those first that have loads in common.
#include "croze/codegen/choose/warps/vector_items.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/warps/group_tiles.h"
#include "croze/codegen/choose/warps/vector_warp_model.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

class VectorItems {
 public:
  explicit VectorItems(KernelState& k) : k_(k), model_(k.caps()) {}

  void run() {
    unroll_short_loops();
    const UOp loop = loop_of_lanes();
    if (!loop) return;
    const std::int64_t items = items_of(loop);
    const Taken lanes = take(loop, items);
    const std::int64_t more = model_.usual_items() / whole_warps(items);
    for (std::size_t i = k_.loops.size(); i-- > 0 && more > 1;) {
      const UOp r = k_.loops[i];
      if (!is_parallel(r) || r == lanes.rest || r.range_size() == 1) continue;
      take(r, std::min(more, r.range_size()));
      break;
    }
    order_for_items(k_, lanes.items);
  }

 private:
  std::int64_t whole_warps(std::int64_t items) const {
    return (items + model_.warp - 1) / model_.warp * model_.warp;
  }

  // The part of the lanes that have something to do, if the loop is cut among so many items.
  double use_of(UOp range) const {
    const std::int64_t size = range.range_size();
    const std::int64_t items = items_of(range);
    const std::int64_t groups = (size + items - 1) / items;
    return static_cast<double>(size) / static_cast<double>(groups * whole_warps(items));
  }

  // All of the loop, or a number of warps of which few are idle.
  std::int64_t items_of(UOp range) const {
    const std::int64_t size = range.range_size(), most = model_.usual_items();
    if (size <= most && !range.is_open()) return size;
    const auto padded = [&](std::int64_t n) { return (size + n - 1) / n * n; };
    std::int64_t best = most;
    for (std::int64_t n = most / 2; n >= model_.warp && !range.is_open(); n /= 2) {
      if (padded(n) * 8 < padded(best) * 7) best = n;
    }
    return best;
  }

  // The loop that makes the most use of lanes; of those that are about equal the one along which
  // memory is walked, and then the innermost.
  UOp loop_of_lanes() const {
    constexpr double about = 1.2;
    const auto walks = [&](UOp r) { return contiguous_accesses(k_.sink, r); };
    UOp best;
    for (std::size_t i = k_.loops.size(); i-- > 0;) {
      const UOp r = k_.loops[i];
      if (!is_parallel(r) || r.range_size() == 1) continue;
      const bool is_better = !best || use_of(r) > about * use_of(best) ||
                             (about * use_of(r) > use_of(best) && walks(r) > walks(best));
      if (is_better) best = r;
    }
    return best;
  }

  // Whether something that is loaded is the same in all turns of the loop.
  bool shares_loads(UOp range) const {
    return std::ranges::any_of(toposort(k_.sink), [&](UOp u) {
      return u.is(Op::Load) && !u.ranges().empty() && !u.varies_over(range);
    });
  }

  double iterations_in_all() const {
    double count = 1;
    for (UOp r : k_.loops) {
      if (is_parallel(r)) count *= static_cast<double>(r.range_size());
    }
    return count;
  }

  // Elements that an item makes, so that all cores have enough items.
  std::int64_t room_for_copies() const {
    const auto enough = static_cast<double>(model_.units * model_.least_items_of_unit);
    return static_cast<std::int64_t>(
        std::min(static_cast<double>(model_.most_copies), iterations_in_all() / enough));
  }

  void unroll_short_loops() {
    std::int64_t room = room_for_copies();
    for (UOp r : std::vector<UOp>(k_.loops)) {
      if (!is_parallel(r) || r.is_open() || r.range_size() > room || !shares_loads(r)) continue;
      if (!try_bind(k_, r, LoopKind::Unroll)) continue;
      room /= r.range_size();
    }
    copies_ = std::min<std::int64_t>(room, model_.most_parts);
  }

  struct Taken {
    UOp items, rest;
  };

  // So many items of the loop; what is left of it is copies and groups.
  Taken take(UOp range, std::int64_t items) {
    const SplitRange parts = split(k_, pad(k_, range, items), items);
    Taken taken{try_bind(k_, parts.inner, LoopKind::Item), parts.outer};
    if (!parts.outer.is(Op::Range) || parts.outer.is_open()) return taken;
    const std::int64_t copies = largest_divisor(parts.outer.range_size(), copies_);
    if (copies <= 1) return taken;
    // Each copy stands as far from the next as all groups of a part are long.
    const SplitRange groups = split(k_, parts.outer, parts.outer.range_size() / copies);
    try_bind(k_, groups.outer, LoopKind::Unroll);
    copies_ = 1;
    taken.rest = groups.inner;
    return taken;
  }

  KernelState& k_;
  const VectorWarpModel model_;
  std::int64_t copies_ = 1;  // of the code that are still worth having
};

}  // namespace

void map_vector_items(KernelState& k) { VectorItems(k).run(); }

}  // namespace croze
