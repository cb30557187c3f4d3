// vector_tiles.cpp -- tiles of items, scored.
//
// A warp's items lie along one loop.  Each item makes a tile of results in registers: some of that
// loop, as far apart as there are items, and some of the other loops.  A step of the reduction
// loads everything once for those copies that differ in it, so what is the same for many of them is
// loaded seldom.  Reductions of a few steps gain as much as long ones do.
#include "croze/codegen/choose/warps/vector_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/choose/warps/group_tiles.h"
#include "croze/codegen/choose/warps/vector_warp_model.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct VectorTile {
  std::size_t lanes = 0;                                    // the loop that items lie along
  std::int64_t items = 1;                                   // of a group
  std::vector<std::int64_t> copies;                         // that an item has of each loop
  double cycles = std::numeric_limits<double>::infinity();  // of the kernel
};

class VectorTileSearch {
 public:
  VectorTileSearch(const KernelState& k, UOp reduce)
      : k_(k), model_(k.caps()), steps_(static_cast<double>(iterations(closed_ranges(reduce)))) {
    count(reduce);
    find_shared_loops();
  }

  VectorTile run() {
    for (std::size_t lanes = 0; lanes < k_.loops.size(); lanes++) {
      if (!is_parallel(k_.loops[lanes]) || k_.loops[lanes].range_size() == 1) continue;
      load_along(k_.loops[lanes]);
      try_copies({lanes, model_.warp, std::vector<std::int64_t>(k_.loops.size(), 1)}, 0);
    }
    if (!best_.copies.empty()) widen();
    return std::move(best_);
  }

 private:
  // ---- trying -----------------------------------------------------------------------------------

  // Every number of copies of the loops from this one on.
  void try_copies(VectorTile t, std::size_t loop) {
    if (loop == k_.loops.size()) return score(t);
    const std::int64_t size = is_shared_[loop] ? k_.loops[loop].range_size() : 1;
    for (std::int64_t copies : model_.copies_of_loop) {
      t.copies[loop] = copies;
      if (copies > size || sums_of(t) > model_.most_sums) return;
      try_copies(t, loop + 1);
    }
  }

  // More warps in a group.
  void widen() {
    load_along(k_.loops[best_.lanes]);
    for (VectorTile t = best_; t.items <= model_.usual_items(); t.items *= 2) score(t);
  }

  void score(VectorTile& t) {
    t.cycles = cycles_of(t);
    if (t.cycles < best_.cycles) best_ = t;
  }

  static std::int64_t sums_of(const VectorTile& t) {
    std::int64_t sums = 1;
    for (std::int64_t n : t.copies) sums *= n;
    return sums;
  }

  // ---- what is done -----------------------------------------------------------------------------

  // Of what varies over the same loops.
  struct Count {
    std::vector<UOp> loads;  // of a step of the reduction
    double loading = 0;      // these, in cycles
    double operations = 0;
    double stores = 0;  // behind it
  };

  Count& of(UOp u) {
    std::uint64_t loops = 0;
    for (std::size_t i = 0; i < k_.loops.size(); i++) {
      if (u.varies_over(k_.loops[i])) loops |= std::uint64_t{1} << i;
    }
    return counts_[loops];
  }

  void count(UOp reduce) {
    for (UOp u : toposort(reduce.src(0))) {
      if (u.dtype() == DType::Index || u.is(Op::Index) || u.ranges().empty()) continue;
      if (u.is(Op::Load)) {
        of(u).loads.push_back(u);
      } else {
        of(u).operations++;
      }
    }
    of(reduce).operations++;
    for (UOp u : k_.sink.sources()) of(u.src(0)).stores++;
  }

  // The innermost loops over which some load is the same.
  void find_shared_loops() {
    is_shared_.assign(k_.loops.size(), false);
    std::int64_t found = 0;
    for (std::size_t i = k_.loops.size(); i-- > 0 && found < model_.most_tiled_loops;) {
      const bool shares = std::ranges::any_of(counts_, [&](const auto& loops_and_count) {
        const auto& [loops, count] = loops_and_count;
        return !count.loads.empty() && (loops >> i & 1) == 0;
      });
      is_shared_[i] = shares && is_parallel(k_.loops[i]) && k_.loops[i].range_size() > 1;
      found += is_shared_[i];
    }
  }

  // ---- what it takes ----------------------------------------------------------------------------

  double groups_of(const VectorTile& t) const {
    double groups = 1;
    for (std::size_t i = 0; i < k_.loops.size(); i++) {
      const std::int64_t part = t.copies[i] * (i == t.lanes ? t.items : 1);
      groups *= divided_up(k_.loops[i].range_size(), part);
    }
    return groups;
  }

  // What loads cost where lanes lie along this loop.
  void load_along(UOp lanes) {
    for (auto& [loops, c] : counts_) {
      c.loading = 0;
      for (UOp load : c.loads) c.loading += access(load.src(0), lanes);
    }
  }

  // By all lanes.
  double access(UOp place, UOp lanes) const {
    const Stride s = stride_over(place.src(1), lanes);
    const bool is_near = s.affine && std::abs(s.step) * size_of(place.dtype()) < model_.line_bytes;
    return static_cast<double>(model_.warp) * model_.access * (is_near ? 1 : model_.far);
  }

  double cycles_of(const VectorTile& t) const {
    double step = model_.turn, behind = 0;
    for (const auto& [loops, c] : counts_) {
      double copies = 1;
      for (std::size_t i = 0; i < k_.loops.size(); i++) {
        if (loops >> i & 1) copies *= static_cast<double>(t.copies[i]);
      }
      step += copies * (c.loading + c.operations * model_.operation);
      behind += copies * c.stores * static_cast<double>(model_.warp) * model_.access;
    }
    const double warps = divided_up(t.items, model_.warp);
    const double group = model_.group_start + warps * (model_.warp_start + behind + steps_ * step);
    return std::ceil(groups_of(t) / static_cast<double>(model_.units)) * group;
  }

  const KernelState& k_;
  const VectorWarpModel model_;
  const double steps_;                     // of the reduction
  std::map<std::uint64_t, Count> counts_;  // by the loops, as bits
  std::vector<bool> is_shared_;            // loops of which copies are tried
  VectorTile best_;
};

UOp reduction_with_loops(const KernelState& k) {
  const auto is_loop = [](UOp r) { return r.loop_kind() == LoopKind::Reduce; };
  for (UOp u : reduces(k.sink)) {
    if (std::ranges::any_of(closed_ranges(u), is_loop)) return u;
  }
  return UOp();
}

// The only reduction that has loops, once those of a few elements beside it are unrolled; null if
// there is none.
UOp unroll_all_but_one(KernelState& k) {
  std::vector<UOp> all = reduces(k.sink);
  if (all.size() > 1) std::erase_if(all, is_small_reduction);
  if (all.size() != 1 || !is_at_full_depth(k, all[0])) return UOp();
  unroll_small_reductions(k, closed_ranges(all[0]));
  return reduction_with_loops(k);
}

// Whether several results use what one load brings.
bool shares_loads(const KernelState& k, UOp reduce) {
  return std::ranges::any_of(loads(reduce.src(0)), [&](UOp load) {
    return std::ranges::any_of(k.loops,
                               [&](UOp r) { return is_parallel(r) && !load.varies_over(r); });
  });
}

// The loop in parts of so many copies, each of which stands as far from the next as there are
// items. Returns these.
UOp cut_loop(KernelState& k, UOp range, std::int64_t items, std::int64_t copies) {
  const SplitRange groups = split(k, pad(k, range, items * copies), items * copies);
  const SplitRange parts = split(k, groups.inner, items);
  if (parts.outer.is(Op::Range)) bind(k, parts.outer, LoopKind::Unroll);
  return parts.inner.is(Op::Range) ? bind(k, parts.inner, LoopKind::Item) : UOp();
}

// One loop of the reduction's inner ones, while that turns seldom: sums in memory are moved each
// time that an inner loop begins or ends.
void merge_short_loops(KernelState& k, UOp reduce) {
  for (std::vector<UOp> loops = closed_ranges(reduce); loops.size() > 1;) {
    const UOp inner = loops.back(), outer = loops[loops.size() - 2];
    if (inner.is_open() || inner.range_size() >= VectorWarpModel::least_turns) return;
    const Edit merging{.kind = EditKind::Merge, .ranges = {outer.range_id(), inner.range_id()}};
    if (!is_legal(k, merging)) return;
    const UOp merged = merge(k, outer, inner);
    loops.resize(loops.size() - 2);
    loops.push_back(merged);
  }
}

struct Tiled {
  KernelState kernel;
  VectorTile tile;
};

Tiled searched(KernelState k) {
  const UOp reduce = unroll_all_but_one(k);
  if (!reduce || !shares_loads(k, reduce)) return {std::move(k), {}};
  merge_short_loops(k, reduce);
  VectorTile t = VectorTileSearch(k, reduction_with_loops(k)).run();
  return {std::move(k), std::move(t)};
}

}  // namespace

bool tile_vector_warps(KernelState& k) {
  constexpr std::size_t most_loops = 64;  // that are told apart
  if (k.sink.num_src() > 1 || k.loops.size() > most_loops) return false;
  KernelState with_merged = k;
  merge_gated_loops(with_merged);
  Tiled best = searched(k), merged = searched(std::move(with_merged));
  if (merged.tile.cycles < best.tile.cycles) best = std::move(merged);
  const VectorTile& t = best.tile;
  if (t.copies.empty()) return false;
  const std::vector<UOp> loops = best.kernel.loops;
  UOp items;
  for (std::size_t i = 0; i < loops.size(); i++) {
    const UOp range = cut_loop(best.kernel, loops[i], i == t.lanes ? t.items : 1, t.copies[i]);
    if (range) items = range;
  }
  order_for_items(best.kernel, items);
  bind_groups(best.kernel);
  k = std::move(best.kernel);
  return true;
}

}  // namespace croze
