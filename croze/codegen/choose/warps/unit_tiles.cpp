// unit_tiles.cpp -- tiles in three levels: of a unit, of a wave and of a group.
//
// A wave makes a few tiles of the unit side by side, so that each operand that it fetches serves
// several.  A group has waves along rows and columns, and what they multiply lies in group memory
// for some steps, in the order in which the threads of a wave fetch it (contract_wave.cpp).  Waves
// are those of the unit here, of as many threads as it has.
#include "croze/codegen/choose/warps/unit_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/warps/group_tiles.h"
#include "croze/codegen/choose/warps/unit_axes.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct UnitTile {
  std::int64_t unit = 0;  // number in Caps::matrix_units, from 1
  UOp rows, columns, depth;
  std::int64_t row_waves = 1, column_waves = 1;      // of a group
  std::int64_t row_copies = 1, column_copies = 1;    // tiles of the unit that a wave has
  std::int64_t steps = 1;                            // of the unit, in group memory at once
  std::int64_t slots = 1;                            // of tiles in group memory
  std::int64_t row_fetches = 1, column_fetches = 1;  // elements, for each of an operand
  std::int64_t row_copy = 1, column_copy = 1;        // bytes that an item copies at once
  double cycles = 0;                                 // of the kernel
};

class Search {
 public:
  Search(const KernelState& k, UOp reduce) : k_(k), model_(k.caps()), reduce_(reduce) {}

  // The tiles worth trying, the best first.
  std::vector<UnitTile> run() {
    const auto& units = k_.caps().matrix_units;
    for (std::size_t i = 0; i < units.size(); i++) {
      unit_ = units[i];
      if (unit_->threads == 1 || unit_->threads % model_.warp != 0) continue;
      if (!multiplies_for(reduce_, *unit_)) continue;
      if (!is_allowed(*unit_)) continue;
      UnitTile t{.unit = static_cast<std::int64_t>(i) + 1};
      for (UOp rows : k_.loops) {
        for (UOp columns : k_.loops) {
          if (rows == columns || !is_parallel(rows) || !is_parallel(columns)) continue;
          if (rows.is_open() || columns.is_open()) continue;
          t.rows = rows;
          t.columns = columns;
          for (UOp depth : closed_ranges(reduce_)) {
            t.depth = depth;
            if (!depth.is_open() && find_factors(t)) try_waves(t);
          }
        }
      }
    }
    std::ranges::stable_sort(tiles_, {}, &UnitTile::cycles);
    std::vector<std::int64_t> tried(units.size() + 1, 0);
    std::erase_if(tiles_, [&](const UnitTile& t) {
      return ++tried[static_cast<std::size_t>(t.unit)] > most_tried;
    });
    return std::move(tiles_);
  }

 private:
  static constexpr std::int64_t most_tried = 8;  // of a unit

  void try_waves(UnitTile t) {
    for (t.row_waves = 1; t.row_waves <= 4; t.row_waves *= 2) {
      for (t.column_waves = 1; t.column_waves <= 4; t.column_waves *= 2) {
        if (items_of(t) > model_.most_items) continue;
        for (t.row_copies = 1; t.row_copies <= 4; t.row_copies *= 2) {
          for (t.column_copies = 1; t.column_copies <= 8; t.column_copies *= 2) try_steps(t);
        }
      }
    }
  }

  void try_steps(UnitTile t) {
    if (!model_.has_room(values_of(t), items_of(t))) return;
    for (t.steps = 1; t.steps <= most_steps(); t.steps *= 2) {
      if (t.steps > 1 && t.steps * unit_->depth >= 2 * t.depth.range_size()) break;
      try_slots(t);
    }
  }

  // A unit that reads for itself takes as many terms as a turn has.
  std::int64_t most_steps() const {
    return unit_->reads_group_memory ? 1 : model_.most_steps / unit_->depth;
  }

  // As many as there is room for, and turns of the innermost loop of the reduction.
  void try_slots(UnitTile t) {
    const bool is_innermost = closed_ranges(reduce_).back() == t.depth;
    for (t.slots = 1; t.slots <= (is_innermost ? model_.most_slots : 1); t.slots++) {
      if (bytes_of(t) > model_.group_memory) break;
      if (t.slots > 1 && t.slots * t.steps * unit_->depth > t.depth.range_size()) break;
      t.cycles = cycles_of(t);
      tiles_.push_back(t);
    }
  }

  std::int64_t items_of(const UnitTile& t) const {
    return t.row_waves * t.column_waves * unit_->threads;
  }

  // Whether the unit multiplies while items do other things, with registers for its sums alone.
  bool goes_on_behind() const { return unit_->reads_group_memory && !unit_->keeps_sums; }

  // Of a thread, in registers.
  std::int64_t values_of(const UnitTile& t) const {
    const std::int64_t sums =
        places_of_thread(*unit_, unit_->places_of_sums) * size_of(unit_->accumulator) / 4;
    if (goes_on_behind()) return t.row_copies * t.column_copies * sums;
    return t.row_copies * t.column_copies * sums +
           (t.row_copies * a_bytes() + t.column_copies * b_bytes()) / 4;
  }

  // Of a thread, of one tile.
  std::int64_t a_bytes() const {
    return places_of_thread(*unit_, unit_->places_of_a) * size_of(unit_->a);
  }
  std::int64_t b_bytes() const {
    return places_of_thread(*unit_, unit_->places_of_b) * size_of(unit_->b);
  }

  // Of group memory.
  std::int64_t bytes_of(const UnitTile& t) const {
    return t.slots * (bytes_of_rows(t) + bytes_of_columns(t)) +
           t.row_waves * t.column_waves * bytes_of_kept_sums(*unit_);
  }
  // Of a slot.
  std::int64_t bytes_of_rows(const UnitTile& t) const {
    return t.steps * unit_->threads * t.row_waves * t.row_copies * a_bytes();
  }
  std::int64_t bytes_of_columns(const UnitTile& t) const {
    return t.steps * unit_->threads * t.column_waves * t.column_copies * b_bytes();
  }

  // For a block.
  std::int64_t fetched_bytes(const UnitTile& t) const {
    return bytes_of_rows(t) * t.row_fetches + bytes_of_columns(t) * t.column_fetches;
  }

  // Whether one factor is that of the rows and one that of the columns.
  bool find_factors(UnitTile& t) const {
    auto [a, b] = factors_of_sum(reduce_, unit_->accumulator);
    if (!a) return false;
    if (b.varies_over(t.rows)) std::swap(a, b);
    if (!a.varies_over(t.rows) || a.varies_over(t.columns)) return false;
    if (!b.varies_over(t.columns) || b.varies_over(t.rows)) return false;
    t.row_fetches = fetched_of_one(a, t.rows);
    t.column_fetches = fetched_of_one(b, t.columns);
    t.row_copy = bytes_of_copy(a, t.rows, t.depth, unit_->places_of_a);
    t.column_copy = bytes_of_copy(b, t.columns, t.depth, unit_->places_of_b);
    return true;
  }

  // Elements that are fetched for each one that is used: what lies beside it is for nothing, unless
  // it is another one of the tile, or that of a window that moves on.
  std::int64_t fetched_of_one(UOp load, UOp across) const {
    const std::int64_t fetched = WarpModel::sector_bytes / size_of(load.dtype());
    std::vector<UOp> loops = closed_ranges(reduce_);
    loops.push_back(across);
    std::int64_t used = 1;
    for (UOp r : loops) {
      const Stride stride = stride_over(load.src(0).src(1), r);
      if (!stride.affine || stride.step == 0 || r.is_open()) continue;
      const std::int64_t steps = std::max<std::int64_t>(1, fetched / std::abs(stride.step));
      used *= std::min(r.range_size(), steps);
    }
    return std::max<std::int64_t>(1, fetched / used);
  }

  double cycles_of(const UnitTile& t) const {
    double groups =
        divided_up(t.rows.range_size(), t.row_waves * t.row_copies * unit_->rows) *
        divided_up(t.columns.range_size(), t.column_waves * t.column_copies * unit_->columns);
    for (UOp r : k_.loops) {
      if (r != t.rows && r != t.columns) groups *= static_cast<double>(r.range_size());
    }
    const double turns = divided_up(t.depth.range_size(), t.steps * unit_->depth);
    double blocks = turns;
    for (UOp r : closed_ranges(reduce_)) {
      if (r != t.depth) blocks *= static_cast<double>(r.range_size());
    }
    const double rounds = std::ceil(groups / static_cast<double>(model_.units));
    const double at_once = std::min(rounds, resident(t));
    return rounds * blocks * model_.cycles_of(turn_of(t), turns, t.slots, at_once) *
           waiting(t, at_once);
  }

  WarpModel::Turn turn_of(const UnitTile& t) const {
    const auto waves = static_cast<double>(t.row_waves * t.column_waves * t.steps);
    const auto tiles = static_cast<double>(t.row_copies * t.column_copies);
    const auto products = static_cast<double>(unit_->rows * unit_->columns * unit_->depth);
    const double arithmetic = waves * tiles * products / model_.unit_multiply_adds(*unit_);
    const auto bytes = static_cast<double>(fetched_bytes(t));
    const double copies =
        static_cast<double>(bytes_of_rows(t) / t.row_copy + bytes_of_columns(t) / t.column_copy);
    const double issuing = copies * model_.copy_instructions / model_.multiply_adds;
    const double transfer = bytes / model_.far_bytes;
    if (goes_on_behind()) {
      const auto of_unit = static_cast<double>(unit_->threads * (a_bytes() + b_bytes()));
      const double memory = (waves * tiles * of_unit + bytes) / model_.group_bytes;
      return {std::max(arithmetic, memory), issuing, transfer, true};
    }
    const double reading =
        waves * static_cast<double>(t.row_copies * a_bytes() + t.column_copies * b_bytes()) / 4 *
        model_.group_load;
    const double computing =
        std::max(arithmetic, reading) + model_.not_hidden * std::min(arithmetic, reading);
    return {computing, issuing, transfer};
  }

  // That an item copies at once: a vector, where tiles lie as what they are copied from does.
  std::int64_t bytes_of_copy(UOp load, UOp lines, UOp depth, std::string_view places) const {
    const std::int64_t element = size_of(load.dtype());
    const bool by_terms = place_bits(places).front().axis == 'k';
    const Stride in_row = stride_over(load.src(0).src(1), by_terms ? depth : lines);
    const bool by_vectors = unit_->reads_group_memory ? in_row.affine && in_row.step == 1
                                                      : k_.caps().loads_matrices && element == 2;
    return by_vectors ? std::max(element, k_.caps().vector_bytes) : element;
  }

  double resident(const UnitTile& t) const {
    return static_cast<double>(model_.resident_groups(items_of(t), values_of(t), bytes_of(t)));
  }

  // How much longer it takes where too few waves are there to hide what each waits for.
  double waiting(const UnitTile& t, double at_once) const {
    if (goes_on_behind()) return 1;
    return std::max(
        1.0, model_.hiding_warps / (at_once * static_cast<double>(t.row_waves * t.column_waves)));
  }

  const KernelState& k_;
  const WarpModel model_;
  UOp reduce_;
  const MatrixUnit* unit_ = nullptr;
  std::vector<UnitTile> tiles_;
};

// The kernel with the tile; nothing if it does not take it.
std::optional<KernelState> tiled(const KernelState& kernel, const UnitTile& t) {
  KernelState k = kernel;
  const MatrixUnit& unit = *k.caps().matrix_units[static_cast<std::size_t>(t.unit - 1)];
  const UOp rows = cut_axis(k, t.rows, t.row_waves, t.row_copies, unit.rows);
  const UOp columns = cut_axis(k, t.columns, t.column_waves, t.column_copies, unit.columns);
  const std::int64_t block = t.steps * unit.depth;
  const UOp padded = pad(k, t.depth, block);
  const SplitRange by_block = split(k, padded, block);
  SplitRange by_step{UOp(), by_block.inner};
  if (t.steps > 1) by_step = split(k, by_block.inner, unit.depth);
  const UOp depth = by_step.inner;
  std::vector<UOp> steps;
  if (by_step.outer) steps.push_back(by_step.outer);
  const Edit edit{.kind = EditKind::Contract,
                  .ranges = {rows.range_id(), columns.range_id(), depth.range_id()},
                  .size = t.unit};
  if (!is_legal(k, edit)) return {};
  const UOp thread = contract(k, rows, columns, depth, t.unit);
  order_for_items(k, thread);
  for (UOp load : unit.reads_group_memory ? std::vector<UOp>() : loads(k.sink)) {
    const std::vector<UOp> inner = ranges_of_operand(k, load, steps, thread);
    const bool is_operand = !inner.empty() && inner.back().loop_kind() == LoopKind::Lane &&
                            (load.dtype() == unit.a || load.dtype() == unit.b);
    if (is_operand && !try_stage(k, load, inner, Space::Group)) return {};
  }
  if (t.slots > 1 && !try_fill_ahead(k, by_block.outer, t.slots)) return {};
  return k;
}

}  // namespace

bool tile_units(KernelState& k, UOp reduce, double cycles) {
  for (const UnitTile& t : Search(k, reduce).run()) {
    if (t.cycles >= cycles) return false;
    if (auto result = tiled(k, t)) {
      k = std::move(*result);
      bind_groups(k);
      return true;
    }
  }
  return false;
}

}  // namespace croze
