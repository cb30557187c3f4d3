// groups.cpp -- edits for devices that run groups of items.
#include "croze/codegen/choose/groups.h"

#include <algorithm>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t max_axes = 3;  // of a launch

class Grouper {
 public:
  explicit Grouper(KernelState& k) : k_(k), caps_(k.caps()) {}

  void run() {
    if (!tile()) items_along_memory();
    bind_groups();
  }

 private:
  // ---- contractions ----

  // Two output loops, each missed by an operand of the one reduction, and a reduction long enough.
  bool tile() {
    const std::vector<UOp> all = reduces(k_.sink);
    if (all.size() != 1 || !is_at_full_depth(k_, all[0]) || closed_ranges(all[0]).size() != 1)
      return false;
    const std::vector<UOp> operands = loads(all[0].src(0));
    if (operands.size() != 2) return false;
    const UOp rows = missed_by(operands[1], operands[0]);
    const UOp columns = missed_by(operands[0], operands[1]);
    if (!rows || !columns) return false;
    const std::int64_t side = item_side();
    const UOp reduced = closed_ranges(all[0])[0];
    if (side == 0 || !can_cut(rows, side * 4) || !can_cut(columns, side * 4) ||
        !can_cut(reduced, slice)) {
      return false;
    }
    apply(rows, columns, reduced, side);
    return true;
  }

  static constexpr std::int64_t slice = 16;  // of the reduction, staged at a time

  // Items along each of the two axes of a group; 0 if the device has no room for such tiles.
  std::int64_t item_side() const {
    const std::int64_t longest = std::min(caps_.max_group_axis[0], caps_.max_group_axis[1]);
    for (std::int64_t side : {16, 8}) {
      const std::int64_t tiles = 2 * slice * side * 4 * widest_bytes(k_.sink);
      if (side * side <= caps_.max_items && side <= longest && tiles <= caps_.group_memory) {
        return side;
      }
    }
    return 0;
  }

  // The largest parallel loop that `operand` varies over and `other` does not.
  UOp missed_by(UOp other, UOp operand) const {
    UOp best;
    for (UOp r : k_.loops) {
      if (!is_parallel(r) || other.src(0).varies_over(r) || !operand.src(0).varies_over(r))
        continue;
      if (!best || r.range_size() > best.range_size()) best = r;
    }
    return best;
  }

  struct Cut {
    UOp group, item, unrolled;
  };

  Cut cut(UOp range, std::int64_t side) {
    const SplitRange outer = split(k_, pad(k_, range, side * 4), side * 4);
    const SplitRange inner = split(k_, outer.inner, 4);
    return {outer.outer, bind(k_, inner.outer, LoopKind::Item),
            bind(k_, inner.inner, LoopKind::Unroll)};
  }

  void apply(UOp rows, UOp columns, UOp reduced, std::int64_t side) {
    const Cut r = cut(rows, side), c = cut(columns, side);
    const SplitRange slices = split(k_, pad(k_, reduced, slice), slice);
    for (UOp load : loads(reduces(k_.sink)[0].src(0))) {
      const bool of_rows = load.src(0).varies_over(r.item);
      const std::vector<UOp> inner{slices.inner, of_rows ? r.item : c.item,
                                   of_rows ? r.unrolled : c.unrolled};
      stage(k_, load, inner, Space::Group);
    }
  }

  // ---- everything else ----

  // The loop along which the stores are contiguous is shared by the items of a group.
  void items_along_memory() {
    for (std::size_t i = k_.loops.size(); i-- > 0;) {
      const UOp r = k_.loops[i];
      if (!is_parallel(r)) continue;
      const std::int64_t most =
          std::min({std::int64_t{64}, caps_.max_items, caps_.max_group_axis[0]});
      const std::int64_t count = r.is_open() ? most : largest_divisor(r.range_size(), most);
      const SplitRange parts = split(k_, pad(k_, r, count), count);
      if (parts.inner.is(Op::Range)) bind(k_, parts.inner, LoopKind::Item);
      return;
    }
  }

  void bind_groups() {
    std::int64_t axes = 0;
    for (UOp r : std::vector<UOp>(k_.loops)) {
      if (!is_parallel(r) || axes == max_axes) continue;
      if (r.range_size() > caps_.max_groups_axis[axes]) continue;
      bind(k_, r, LoopKind::Group);
      axes++;
    }
    std::vector<UOp> order = k_.loops;
    std::stable_partition(order.begin(), order.end(), [](UOp r) {
      return r.loop_kind() == LoopKind::Group || r.loop_kind() == LoopKind::Item;
    });
    reorder(k_, order);
  }

  KernelState& k_;
  const Caps& caps_;
};

}  // namespace

void choose_groups(KernelState& k) { Grouper(k).run(); }

}  // namespace croze
