// item_rows.cpp -- items reduce together.
//
// A row that lies in memory element by element is read side by side by the items of a group, each
// of which reduces every so many of its elements; then they combine what they have come to
// (combine_items.cpp).  Loops over the row that make something of the results, as of a softmax, are
// cut the same way.  Columns are read side by side by items that have one each; if there are few of
// them, several items share a column.
#include "croze/codegen/choose/warps/item_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

class RowSharer {
 public:
  explicit RowSharer(KernelState& k) : k_(k), model_(k.caps()) {}

  bool run() {
    const std::vector<UOp> rows = shared_loops();
    if (rows.empty()) return false;
    length_ = std::ranges::max(rows, {}, &UOp::range_size).range_size();
    passes_ = std::ssize(rows) + std::ranges::any_of(k_.loops, [&](UOp r) {
                return is_parallel(r) && !is_reduced_outside(r);
              });
    const UOp columns = columns_beside(rows);
    const std::int64_t side = columns ? model_.warp : 1;
    const std::int64_t items = items_of(results() / static_cast<double>(side), side);
    if (items < least_items) return false;
    KernelState before = k_;
    if (columns) share_columns(columns, side);
    for (UOp r : rows) {
      if (!combine(r, items)) {
        k_ = std::move(before);
        return false;
      }
    }
    if (!columns) {
      share_outputs(items);
      gather_rows(items);
    }
    return true;
  }

 private:
  static constexpr std::int64_t least_items = 4;
  // Elements that an item has at least, or combining is most of the work.
  static constexpr std::int64_t least_elements = 2;

  // The loop of each reduction that items may share; nothing if there is one that has none.
  std::vector<UOp> shared_loops() const {
    std::vector<UOp> loops;
    for (UOp u : reduces(k_.sink)) {
      if (is_small_reduction(u)) continue;
      const UOp r = best_loop(u);
      if (!r) return {};
      if (std::ranges::find(loops, r) == loops.end()) loops.push_back(r);
    }
    return loops;
  }

  // The loop along which the most is contiguous, and of those the longest.
  UOp best_loop(UOp reduce) const {
    UOp best;
    for (UOp r : closed_ranges(reduce)) {
      if (r.loop_kind() != LoopKind::Reduce || r.is_open()) continue;
      if (!best || is_better(reduce, r, best)) best = r;
    }
    return best && best.range_size() >= least_items * least_elements ? best : UOp();
  }

  static bool is_better(UOp reduce, UOp a, UOp b) {
    const auto contiguous = contiguous_loads(reduce, a), others = contiguous_loads(reduce, b);
    if (contiguous != others) return contiguous > others;
    return a.range_size() > b.range_size();
  }

  static std::int64_t contiguous_loads(UOp root, UOp range) {
    return std::ranges::count_if(
        loads(root), [&](UOp load) { return along(load.src(0), range) == Along::Contiguous; });
  }

  // The output loop along which the terms lie side by side, if they do not along the reductions.
  UOp columns_beside(const std::vector<UOp>& rows) const {
    UOp best;
    std::int64_t most = 0;
    for (UOp u : reduces(k_.sink)) {
      for (UOp r : rows) {
        if (closes(u, r)) most = std::max(most, contiguous_loads(u.src(0), r));
      }
    }
    for (UOp r : k_.loops) {
      if (!is_parallel(r) || r.range_size() < model_.warp / 2) continue;
      const std::int64_t count = contiguous_loads(k_.sink, r);
      const bool is_reduced = std::ranges::all_of(
          reduces(k_.sink), [&](UOp u) { return is_small_reduction(u) || u.varies_over(r); });
      if (!is_reduced || count <= most) continue;
      most = count;
      best = r;
    }
    return best;
  }

  // Results of the reductions.
  double results() const {
    double count = 1;
    for (UOp r : k_.loops) {
      if (is_reduced_outside(r)) count *= static_cast<double>(r.range_size());
    }
    return count;
  }

  // Whether all reductions stand inside of an output loop.
  bool is_reduced_outside(UOp loop) const {
    return std::ranges::all_of(reduces(k_.sink), [&](UOp u) { return u.varies_over(loop); });
  }

  // Items that share a reduction: twice as many halve what each does and add a step to combining,
  // as long as the device has room for them.
  std::int64_t items_of(double groups, std::int64_t side) const {
    const std::int64_t most = std::min(model_.most_items, model_.most_items_of_row) / side;
    std::int64_t best = 1;
    double least = cycles(1, groups, side);
    for (std::int64_t items = 2; items <= most && items * least_elements <= length_; items *= 2) {
      const double c = cycles(items, groups, side);
      if (c >= least) continue;
      least = c;
      best = items;
    }
    return best;
  }

  double cycles(std::int64_t items, double groups, std::int64_t side) const {
    const double resident = static_cast<double>(model_.units * model_.resident_items) /
                            static_cast<double>(items * side);
    const double rounds = std::max(1.0, groups / std::max(1.0, resident));
    const double elements = static_cast<double>((length_ + items - 1) / items);
    // Side by side a warp reads a line, alone each item of it one of its own.
    const double far = side == 1 && items < model_.warp
                           ? static_cast<double>(model_.warp) / static_cast<double>(items)
                           : 1;
    const double step =
        std::max(WarpModel::around_step, waiting(groups * static_cast<double>(items * side)));
    return rounds * (elements * far * step + model_.combining(items) +
                     reading_again(items * side, groups, side));
  }

  // What the passes after the first one wait for, where the rows that a unit is at, and what is
  // written beside them, do not stay in its cache.
  double reading_again(std::int64_t items, double groups, std::int64_t side) const {
    const double at_once = std::min(groups / static_cast<double>(model_.units),
                                    static_cast<double>(model_.resident_items / items));
    const double bytes = at_once * static_cast<double>(side * length_ * widest_bytes(k_.sink));
    if (2 * bytes <= static_cast<double>(model_.near_cache)) return 0;
    const double all = 2 * bytes * static_cast<double>(model_.units);
    const bool stay = all <= static_cast<double>(model_.far_cache);
    return static_cast<double>(passes_ - 1) * bytes /
           (stay ? WarpModel::far_bytes : WarpModel::memory_bytes);
  }

  // Cycles that a load is waited for, of which the other warps of a unit make use.
  double waiting(double items) const {
    const double warps = std::clamp(items / static_cast<double>(model_.units * model_.warp), 1.0,
                                    static_cast<double>(model_.resident_items / model_.warp));
    return WarpModel::far_latency / (warps * WarpModel::loads_in_flight);
  }

  bool combine(UOp range, std::int64_t items) {
    const UOp padded = pad(k_, range, items);
    const Edit cutting{
        .kind = EditKind::SplitReduction, .ranges = {padded.range_id()}, .size = items};
    if (!is_legal(k_, cutting)) return false;
    const SplitRange parts = split_reduction(k_, padded, items);
    return bool(try_bind(k_, parts.inner, LoopKind::Item));
  }

  // What is made of the results, element by element.
  void share_outputs(std::int64_t items) {
    UOp best;
    std::int64_t most = -1;
    for (UOp r : k_.loops) {
      if (!is_parallel(r) || is_reduced_outside(r) || r.range_size() < items) continue;
      const std::int64_t count = contiguous_accesses(k_.sink, r);
      if (count < most) continue;
      most = count;
      best = r;
    }
    if (best) share_columns(best, items);
  }

  // Few items leave a group room for more rows, if there are enough for all units.
  void gather_rows(std::int64_t items) {
    const auto rows_of_unit = static_cast<std::int64_t>(results()) / model_.units;
    const std::int64_t room =
        std::min(std::min(model_.usual_items, model_.most_items) / items, rows_of_unit);
    if (room < 2) return;
    for (std::size_t i = k_.loops.size(); i-- > 0;) {
      const UOp r = k_.loops[i];
      if (!is_parallel(r) || !is_reduced_outside(r) || r.range_size() < 2) continue;
      share_columns(r, std::min(room, r.range_size()));
      return;
    }
  }

  void share_columns(UOp range, std::int64_t items) {
    const SplitRange parts = split(k_, pad(k_, range, items), items);
    try_bind(k_, parts.inner, LoopKind::Item);
  }

  KernelState& k_;
  const WarpModel model_;
  std::int64_t length_ = 1;  // of the longest reduction
  std::int64_t passes_ = 1;  // over a row
};

}  // namespace

bool share_reductions(KernelState& k) { return RowSharer(k).run(); }

}  // namespace croze
