// group_tiles.cpp -- tiles in two levels, scored.
//
// A group makes a tile of rows x columns.  What its items read of both operands lies in group
// memory, for some steps of the reduction at a time:
//
//     for blocks of steps:
//       all items copy rows and columns of the block to group memory
//       for steps:
//         item: its own tile of rows x columns, whose sums are in registers
//
// Neighbours in a warp have neighbouring columns, so they read one row of group memory side by
// side, and all of them the same element of a row.  Where the device copies on its own, the next
// blocks are on their way meanwhile (edits/warps/fill_ahead.h).  How large the tiles are, how many
// items share one and how many steps a block has is found by what a group takes for a step, in
// cycles of a compute unit (warp_model.h), and by how evenly the groups fill the units.  Sizes that
// the tiles do not divide are padded: what is beyond the end is copied as zero and not stored.
#include "croze/codegen/choose/warps/group_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/choose/warps/unit_tiles.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct GroupTile {
  UOp rows, columns;
  std::int64_t row_items = 1, column_items = 1;  // of a group
  std::int64_t item_rows = 1, item_columns = 1;  // that an item has
  std::int64_t steps = 1;  // of the loop of the reduction that is cut, in group memory at once
  std::int64_t slots = 1;  // of tiles in group memory
  double cycles = 0;       // of the kernel

  std::int64_t all_rows() const { return row_items * item_rows; }
  std::int64_t all_columns() const { return column_items * item_columns; }
  std::int64_t items() const { return row_items * column_items; }
};

class Search {
 public:
  Search(const KernelState& k, UOp reduce)
      : k_(k),
        model_(k.caps()),
        element_bytes_(widest_bytes(k.sink)),
        reduced_(closed_ranges(reduce)),
        loads_(loads(reduce.src(0))) {
    choose_cut();
  }

  // The loop of the reduction that is cut in blocks of steps: those inside of it are short.
  UOp cut() const { return reduced_[cut_]; }

  // The tiles worth trying, the best first.
  std::vector<GroupTile> run() {
    for (UOp rows : k_.loops) {
      for (UOp columns : k_.loops) {
        if (is_shared(rows, columns) && is_shared(columns, rows)) try_items({rows, columns});
      }
    }
    std::ranges::stable_sort(tiles_, {}, &GroupTile::cycles);
    if (std::ssize(tiles_) > most_tried) tiles_.resize(most_tried);
    return std::move(tiles_);
  }

 private:
  static constexpr std::int64_t most_tried = 16;

  void choose_cut() {
    std::int64_t inside = 1;
    cut_ = reduced_.size() - 1;
    while (cut_ > 0 && !reduced_[cut_].is_open() &&
           inside * reduced_[cut_].range_size() <= model_.most_steps / 2) {
      inside *= reduced_[cut_--].range_size();
    }
    inside_ = inside;
  }

  // Whether one load varies over the first loop and not over the second.
  bool is_shared(UOp loop, UOp other) const {
    if (loop == other || !is_parallel(loop) || loop.range_size() < model_.least_shared)
      return false;
    return std::ranges::any_of(loads_, [&](UOp load) {
      return load.src(0).varies_over(loop) && !load.src(0).varies_over(other);
    });
  }

  void try_items(GroupTile t) {
    for (t.row_items = 1; t.row_items <= 32; t.row_items *= 2) {
      for (t.column_items = 4; t.column_items <= 64; t.column_items *= 2) {
        if (t.items() < model_.least_items() || t.items() > model_.most_items) continue;
        for (t.item_rows = 1; t.item_rows <= 8; t.item_rows *= 2) {
          for (t.item_columns = 1; t.item_columns <= 8; t.item_columns *= 2) try_steps(t);
        }
      }
    }
  }

  void try_steps(GroupTile t) {
    if (!model_.has_room(values_of(t), t.items())) return;
    for (t.steps = 1; t.steps * inside_ <= model_.most_steps; t.steps *= 2) {
      if (t.steps > 1 && t.steps >= 2 * cut().range_size()) break;
      try_slots(t);
    }
  }

  // As many as there is room for, and turns.
  void try_slots(GroupTile t) {
    for (t.slots = 1; t.slots <= model_.most_slots; t.slots++) {
      if (bytes_of(t) > model_.group_memory) break;
      if (t.slots > 1 && t.slots * t.steps > cut().range_size()) break;
      t.cycles = cycles_of(t);
      tiles_.push_back(t);
    }
  }

  // Of an item, in registers.
  static std::int64_t values_of(const GroupTile& t) {
    return t.item_rows * t.item_columns + t.item_rows + t.item_columns;
  }

  // Of group memory, roughly: windows that overlap take less.
  std::int64_t bytes_of(const GroupTile& t) const {
    return t.slots * t.steps * inside_ * (t.all_rows() + t.all_columns()) * element_bytes_;
  }

  double cycles_of(const GroupTile& t) const {
    double groups = divided_up(t.rows.range_size(), t.all_rows()) *
                    divided_up(t.columns.range_size(), t.all_columns());
    for (UOp r : k_.loops) {
      if (r != t.rows && r != t.columns) groups *= static_cast<double>(r.range_size());
    }
    const double blocks = divided_up(cut().range_size(), t.steps);
    double outside = 1;  // of the loops around the one that is cut
    for (std::size_t i = 0; i < cut_; i++) outside *= static_cast<double>(reduced_[i].range_size());
    const double rounds = std::ceil(groups / static_cast<double>(model_.units));
    const double at_once = std::min(rounds, resident(t));
    return rounds * outside * blocks * model_.cycles_of(turn_of(t), blocks, t.slots, at_once) *
           waiting(t, at_once);
  }

  // Copying a block to group memory, and its steps.
  WarpModel::Turn turn_of(const GroupTile& t) const {
    const auto items = static_cast<double>(t.items());
    const auto steps = static_cast<double>(t.steps * inside_);
    const auto elements = static_cast<double>(t.all_rows() + t.all_columns()) * steps;
    const auto element = static_cast<double>(element_bytes_);
    const auto rows = static_cast<double>(t.item_rows),
               columns = static_cast<double>(t.item_columns);
    const double arithmetic =
        steps * items * (rows * columns + model_.around_step) / model_.multiply_adds;
    const double warps = items / static_cast<double>(model_.warp);
    const double words = element / 4;
    const double reading = steps * warps * (rows + columns) * words * model_.group_load;
    const double issuing = elements * model_.copy_instructions / model_.multiply_adds;
    const double computing =
        std::max(arithmetic, reading) + model_.not_hidden * std::min(arithmetic, reading);
    return {computing, issuing, elements * element / model_.far_bytes};
  }

  double resident(const GroupTile& t) const {
    return static_cast<double>(model_.resident_groups(t.items(), values_of(t), bytes_of(t)));
  }

  // How much longer it takes where too few warps are there to hide what each waits for.
  double waiting(const GroupTile& t, double at_once) const {
    const double warps = at_once * static_cast<double>(t.items() / model_.warp);
    return std::max(1.0, model_.hiding_warps / std::max(1.0, warps));
  }

  const KernelState& k_;
  const WarpModel model_;
  const std::int64_t element_bytes_;
  std::vector<UOp> reduced_, loads_;
  std::size_t cut_ = 0;
  std::int64_t inside_ = 1;  // steps of the loops inside of the one that is cut
  std::vector<GroupTile> tiles_;
};

// The loops that an axis of a tile becomes: its part in each group is cut among the items, which
// have every so many of it.
struct Cut {
  UOp copies, items;

  std::vector<UOp> loops() const {
    std::vector<UOp> result;
    for (UOp r : {copies, items}) {
      if (r.is(Op::Range)) result.push_back(r);
    }
    return result;
  }
};

bool varies(UOp place, const Cut& cut) {
  return std::ranges::any_of(cut.loops(), [&](UOp r) { return place.varies_over(r); });
}

Cut cut_axis(KernelState& k, UOp range, std::int64_t items, std::int64_t copies) {
  const SplitRange groups = split(k, pad(k, range, items * copies), items * copies);
  const SplitRange parts = split(k, groups.inner, items);
  Cut cut{parts.outer, parts.inner};
  if (cut.copies.is(Op::Range)) cut.copies = bind(k, cut.copies, LoopKind::Unroll);
  if (cut.items.is(Op::Range)) cut.items = bind(k, cut.items, LoopKind::Item);
  return cut;
}

UOp contraction_of(const KernelState& k) {
  UOp found;
  for (UOp u : reduces(k.sink)) {
    if (is_small_reduction(u)) continue;
    if (found || !is_at_full_depth(k, u)) return UOp();
    found = u;
  }
  return found;
}

UOp reduction_over(const KernelState& k, UOp range) {
  UOp found;
  for (UOp u : reduces(k.sink)) {
    if (closes(u, range)) found = u;
  }
  return found;
}

// The kernel with the tile; nothing if it does not take it.
std::optional<KernelState> tiled(const KernelState& kernel, const GroupTile& t, UOp cut) {
  KernelState k = kernel;
  const Cut rows = cut_axis(k, t.rows, t.row_items, t.item_rows);
  const Cut columns = cut_axis(k, t.columns, t.column_items, t.item_columns);
  const SplitRange steps = split(k, pad(k, cut, t.steps), t.steps);
  order_for_items(k, columns.items);
  const UOp step = steps.inner.is(Op::Range) ? steps.inner : steps.outer;
  const std::vector<UOp> reduced = closed_ranges(reduction_over(k, step));
  std::vector<UOp> steps_inside(std::ranges::find(reduced, step), reduced.end());
  if (step == steps.outer) steps_inside.erase(steps_inside.begin());
  for (UOp load : loads(reduction_over(k, step).src(0))) {
    const UOp place = load.src(0);
    const bool of_rows = varies(place, rows), of_columns = varies(place, columns);
    if (of_rows == of_columns) continue;  // nobody else reads it, or all do
    std::vector<UOp> inner = steps_inside;
    for (UOp r : of_rows ? rows.loops() : columns.loops()) inner.push_back(r);
    if (!try_stage(k, load, inner, Space::Group)) return {};
  }
  if (t.slots > 1 && !try_fill_ahead(k, steps.outer, t.slots)) return {};
  return k;
}

}  // namespace

bool tile_groups(KernelState& k) {
  const UOp reduce = contraction_of(k);
  if (!reduce || k.sink.num_src() > 1 || work_of(k.sink) < WarpModel::least_work) {
    return false;
  }
  unroll_small_reductions(k, closed_ranges(reduce));
  Search search(k, contraction_of(k));
  const std::vector<GroupTile> tiles = search.run();
  const double best = tiles.empty() ? std::numeric_limits<double>::infinity() : tiles[0].cycles;
  KernelState merged = k;
  merge_gated_loops(merged);
  if (tile_units(merged, contraction_of(merged), best)) {
    k = std::move(merged);
    return true;
  }
  for (const GroupTile& t : tiles) {
    if (auto result = tiled(k, t, search.cut())) {
      k = std::move(*result);
      bind_groups(k);
      return true;
    }
  }
  return false;
}

bool tile_by_units(KernelState& k) {
  if (k.caps().matrix_units.empty()) return false;
  KernelState merged = k;
  const UOp reduce = contraction_of(merged);
  if (!reduce || k.sink.num_src() > 1 || work_of(k.sink) < WarpModel::least_work) return false;
  unroll_small_reductions(merged, closed_ranges(reduce));
  merge_gated_loops(merged);
  const bool is_tiled =
      tile_units(merged, contraction_of(merged), std::numeric_limits<double>::infinity());
  if (is_tiled) k = std::move(merged);
  return is_tiled;
}

void order_for_items(KernelState& k, UOp innermost) {
  std::vector<UOp> order = k.loops;
  std::ranges::stable_sort(order, {}, [&](UOp r) {
    if (r == innermost) return 2;
    if (r.loop_kind() == LoopKind::Item) return 1;
    return r.loop_kind() == LoopKind::Group || is_parallel(r) ? 0 : 3;
  });
  reorder(k, order);
}

void bind_groups(KernelState& k) {
  constexpr std::size_t most_axes = 3;  // of a launch
  // Groups of a loop inside of which a reduction does not stand would each repeat it.
  const auto repeats = [&](UOp loop) {
    return std::ranges::any_of(reduces(k.sink), [&](UOp u) {
      return !is_small_reduction(u) && !is_at_full_depth(k, u) && !u.varies_over(loop);
    });
  };
  const auto free = [&] {
    std::vector<UOp> loops;
    std::ranges::copy_if(k.loops, std::back_inserter(loops),
                         [&](UOp r) { return is_parallel(r) && !repeats(r); });
    return loops;
  };
  for (std::vector<UOp> loops = free(); loops.size() > most_axes; loops = free()) {
    const Edit merging{.kind = EditKind::Merge,
                       .ranges = {loops[0].range_id(), loops[1].range_id()}};
    if (!is_legal(k, merging)) break;
    merge(k, loops[0], loops[1]);
  }
  for (UOp r : free()) try_bind(k, r, LoopKind::Group);
  std::vector<UOp> order = k.loops;
  std::ranges::stable_sort(order, {}, [](UOp r) {
    return r.loop_kind() == LoopKind::Group ? 0 : r.loop_kind() == LoopKind::Item ? 1 : 2;
  });
  reorder(k, order);
}

}  // namespace croze
