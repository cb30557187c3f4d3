// held_tiles.cpp -- tiles of rows whose products stay in the registers of a warp.
//
// A warp has some rows of the result with all of their columns, so nobody else has to make the
// first product of these rows.  A group has several warps, which share what they read for all rows:
// some terms of the second product at a time, in group memory.
#include "croze/codegen/choose/warps/held_tiles.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "croze/codegen/choose/warps/group_tiles.h"
#include "croze/codegen/choose/warps/unit_axes.h"
#include "croze/codegen/choose/warps/warp_model.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/follow.h"

namespace croze {
namespace {

// The reductions of such a kernel.
struct Products {
  UOp leader, sum;          // what the terms of the sum need, and the second product
  UOp loaded;               // its factor of the columns
  std::vector<UOp> loops;   // of the leader, of those who go along, and of the sum
  std::vector<UOp> depths;  // of the first product, wherever it stands
};

UOp loop_of(UOp reduce) {
  const std::vector<UOp> closed = closed_ranges(reduce);
  return closed.size() == 1 && !closed[0].is_open() ? closed[0] : UOp();
}

UOp not_masked(UOp term) {
  while (term.is(Op::Where) && term.src(2).is_const(0)) term = term.src(1);
  return term;
}

UOp loaded_factor(UOp sum) {
  const UOp product = not_masked(sum.src(0));
  if (!product.is(Op::Mul)) return UOp();
  for (UOp factor : product.sources()) {
    const UOp narrow = factor.is(Op::Cast) ? factor.src(0) : factor;
    if (narrow.is(Op::Load)) return narrow;
  }
  return UOp();
}

// The greatest of a row that the terms of a sum need.
UOp leader_of(UOp sum) {
  for (UOp u : toposort(sum.src(0))) {
    if (u.is(Op::Reduce) && u.reduce_op() == Op::Max && loop_of(u) && !u.varies_over(loop_of(sum)))
      return u;
  }
  return UOp();
}

std::optional<Products> products_of(UOp sink) {
  Products p;
  const std::vector<UOp> all = reduces(sink);
  for (UOp u : all) {
    if (u.reduce_op() != Op::Add || !loop_of(u) || !loaded_factor(u)) continue;
    if (const UOp leader = leader_of(u); leader && !p.sum) {
      p.sum = u;
      p.leader = leader;
    }
  }
  if (!p.sum) return {};
  p.loaded = loaded_factor(p.sum);
  p.loops.push_back(loop_of(p.leader));
  for (UOp u : all) {
    if (u == p.sum || u == p.leader) continue;
    if (is_used_by(u.src(0), p.leader)) {
      if (!loop_of(u)) return {};
      p.loops.push_back(loop_of(u));
    } else if (const UOp depth = loop_of(u)) {
      p.depths.push_back(depth);
    }
  }
  p.loops.push_back(loop_of(p.sum));
  return p;
}

struct HeldTile {
  std::int64_t unit = 0;  // number in Caps::matrix_units, from 1
  UOp rows, columns;
  std::int64_t waves = 1, copies = 1;  // of a group; tiles of rows that each has
  std::int64_t block = 1;              // terms of the sum in group memory at once
  std::int64_t slots = 1;              // of them
  double cycles = 0;                   // of the kernel
};

class Search {
 public:
  Search(const KernelState& k, const Products& products)
      : k_(k), model_(k.caps()), products_(products) {}

  // The tiles worth trying, the best first.
  std::vector<HeldTile> run() {
    const auto& units = k_.caps().matrix_units;
    for (std::size_t i = 0; i < units.size(); i++) {
      unit_ = units[i];
      if (unit_->threads != model_.warp || unit_->b != products_.loaded.dtype()) continue;
      if (unit_->accumulator != products_.sum.dtype() || !is_allowed(*unit_)) continue;
      HeldTile t{.unit = static_cast<std::int64_t>(i) + 1};
      for (UOp rows : k_.loops) {
        for (UOp columns : k_.loops) {
          if (!is_axis(rows, products_.leader, products_.loaded)) continue;
          if (!is_axis(columns, products_.loaded, products_.leader)) continue;
          t.rows = rows;
          t.columns = columns;
          try_waves(t);
        }
      }
    }
    std::ranges::stable_sort(tiles_, {}, &HeldTile::cycles);
    if (std::ssize(tiles_) > most_tried) tiles_.resize(most_tried);
    return std::move(tiles_);
  }

 private:
  static constexpr std::int64_t most_tried = 8;
  // What is done to each element of the first product: a scale, a mask, an exponential, and what
  // comes of its row; and to each of the result in a turn: it is moved to another centre.
  static constexpr double element_operations = 32, move_operations = 3;

  static bool is_axis(UOp range, UOp one, UOp other) {
    return is_parallel(range) && !range.is_open() && one.varies_over(range) &&
           !other.varies_over(range);
  }

  void try_waves(HeldTile t) {
    for (t.waves = 1; t.waves <= 8; t.waves *= 2) {
      for (t.copies = 1; t.copies <= 2; t.copies *= 2) {
        for (t.block = unit_->depth; t.block <= 128; t.block *= 2) {
          if (t.block >= 2 * terms()) break;
          if (model_.has_room(values_of(t), items_of(t))) try_slots(t);
        }
      }
    }
  }

  void try_slots(HeldTile t) {
    for (t.slots = 1; t.slots <= model_.most_slots; t.slots++) {
      if (bytes_of(t) > model_.group_memory || t.slots * t.block > terms()) break;
      t.cycles = cycles_of(t);
      tiles_.push_back(t);
    }
  }

  static std::int64_t padded(std::int64_t size, std::int64_t to) {
    return (size + to - 1) / to * to;
  }
  std::int64_t terms() const { return loop_of(products_.sum).range_size(); }
  std::int64_t depth() const { return padded(products_.depths[0].range_size(), unit_->depth); }
  std::int64_t width(const HeldTile& t) const {
    return padded(t.columns.range_size(), unit_->columns);
  }
  std::int64_t rows_of(const HeldTile& t) const { return t.waves * t.copies * unit_->rows; }
  std::int64_t items_of(const HeldTile& t) const { return t.waves * model_.warp; }

  // Of a thread, in registers: sums of both products, the factor that is made of the first, what
  // rows have come to, which each sum has beside it, and an operand of each.
  std::int64_t values_of(const HeldTile& t) const {
    const std::int64_t rows = t.copies * unit_->rows;
    const std::int64_t words = rows * (width(t) + t.block) * size_of(unit_->accumulator) / 4 +
                               rows * t.block * size_of(unit_->a) / 4;
    const std::int64_t of_rows =
        std::ssize(products_.loops) * places_of_thread(*unit_, unit_->places_of_sums);
    const std::int64_t operands = places_of_thread(*unit_, unit_->places_of_a) * size_of(unit_->a) +
                                  places_of_thread(*unit_, unit_->places_of_b) * size_of(unit_->b);
    return words / model_.warp + t.copies * (of_rows + operands / 4);
  }

  std::int64_t bytes_of_block(const HeldTile& t) const {
    return t.block * (depth() + width(t)) * size_of(unit_->b);
  }
  std::int64_t bytes_of_rows(const HeldTile& t) const {
    return rows_of(t) * depth() * size_of(unit_->a);
  }
  std::int64_t bytes_of(const HeldTile& t) const {
    return bytes_of_rows(t) + t.slots * bytes_of_block(t);
  }

  double cycles_of(const HeldTile& t) const {
    double groups =
        std::ceil(static_cast<double>(t.rows.range_size()) / static_cast<double>(rows_of(t)));
    for (UOp r : k_.loops) {
      if (r != t.rows && r != t.columns) groups *= static_cast<double>(r.range_size());
    }
    const double turns = std::ceil(static_cast<double>(terms()) / static_cast<double>(t.block));
    const double rounds = std::ceil(groups / static_cast<double>(model_.units));
    const double at_once = std::min(rounds, static_cast<double>(model_.resident_groups(
                                                items_of(t), values_of(t), bytes_of(t))));
    const double waiting =
        std::max(1.0, WarpModel::hiding_warps / (at_once * static_cast<double>(t.waves)));
    return rounds * turns * model_.cycles_of(turn_of(t), turns, t.slots, at_once) * waiting;
  }

  WarpModel::Turn turn_of(const HeldTile& t) const {
    const auto rows = static_cast<double>(rows_of(t)), block = static_cast<double>(t.block);
    const auto both = static_cast<double>(depth() + width(t));
    const double units = rows * block * both / model_.unit_multiply_adds(*unit_);
    const double fetched = static_cast<double>(t.waves * bytes_of_block(t) + bytes_of_rows(t));
    const double reading = fetched / 4 / static_cast<double>(model_.warp) * model_.group_load;
    const double elements =
        rows * (block * element_operations + static_cast<double>(width(t)) * move_operations) /
        model_.multiply_adds;
    const double longest = std::max({units, reading, elements});
    const double computing = longest + model_.not_hidden * (units + reading + elements - longest);
    const auto bytes = static_cast<double>(bytes_of_block(t));
    const double issuing = bytes / static_cast<double>(k_.caps().vector_bytes) *
                           model_.copy_instructions / model_.multiply_adds;
    return {computing, issuing, bytes / model_.far_bytes};
  }

  const KernelState& k_;
  const WarpModel model_;
  const Products& products_;
  const MatrixUnit* unit_ = nullptr;
  std::vector<HeldTile> tiles_;
};

// The loop over the terms of a block in the second product.
UOp terms_of_block(const KernelState& k, UOp turns) {
  for (UOp u : toposort(k.sink)) {
    if (u.is(Op::TupleReduce) && closes(u, turns))
      return closed_ranges(u.src(u.first_closed() - 1))[0];
  }
  return UOp();
}

// The loops of an operand inside of the turns: steps of the unit, and copies that are none of rows
// or columns.
std::vector<UOp> steps_of(const KernelState& k, UOp load, UOp turns) {
  std::vector<UOp> steps;
  for (LoopKind kind : {LoopKind::Reduce, LoopKind::Unroll}) {
    for (UOp u : toposort(load.src(0))) {
      const bool is_step = u.is(Op::Range) && u.loop_kind() == kind && u != turns &&
                           std::ranges::find(k.loops, u) == k.loops.end();
      if (is_step) steps.push_back(u);
    }
  }
  return steps;
}

bool is_operand_of_unit(const KernelState& k, UOp load) {
  return std::ranges::any_of(toposort(k.sink), [&](UOp u) {
    return u.is(Op::Contract) && (u.src(1) == load || u.src(2) == load);
  });
}

bool stage_operands(KernelState& k, UOp thread, UOp turns) {
  for (UOp load : std::vector<UOp>(loads(k.sink))) {
    if (!is_operand_of_unit(k, load)) continue;
    const std::vector<UOp> inner = ranges_of_operand(k, load, steps_of(k, load, turns), thread);
    if (!try_stage(k, load, inner, Space::Group)) return false;
  }
  return true;
}

// The kernel with the tile; nothing if it does not take it.
std::optional<KernelState> tiled(const KernelState& kernel, Products products, const HeldTile& t) {
  KernelState k = kernel;
  const MatrixUnit& unit = *k.caps().matrix_units[static_cast<std::size_t>(t.unit - 1)];
  const UOp rows = cut_axis(k, t.rows, t.waves, t.copies, unit.rows);
  const UOp columns = cut_axis(
      k, t.columns, 1, (t.columns.range_size() + unit.columns - 1) / unit.columns, unit.columns);
  for (UOp depth : products.depths) pad(k, depth, unit.depth);
  for (UOp& loop : products.loops) loop = pad(k, loop, t.block);
  Edit passes{.kind = EditKind::OnePass, .size = t.block};
  for (UOp loop : products.loops) passes.ranges.push_back(loop.range_id());
  if (!is_legal(k, passes)) return {};
  const UOp turns = one_pass(k, products.loops, t.block), terms = terms_of_block(k, turns);
  const Edit products_made{.kind = EditKind::Contract,
                           .ranges = {rows.range_id(), columns.range_id(), terms.range_id()},
                           .size = t.unit};
  if (!is_legal(k, products_made)) return {};
  const UOp thread = contract(k, rows, columns, terms, t.unit);
  order_for_items(k, thread);
  if (!stage_operands(k, thread, turns)) return {};
  if (t.slots > 1 && !try_fill_ahead(k, turns, t.slots)) return {};
  return k;
}

struct TiledKernel {
  KernelState kernel;
  double cycles;
};

std::optional<TiledKernel> best_tiled(const KernelState& k) {
  const std::optional<Products> products = products_of(k.sink);
  if (!products || products->depths.empty() || k.sink.num_src() > 1) return {};
  for (const HeldTile& t : Search(k, *products).run()) {
    if (auto result = tiled(k, *products, t)) return TiledKernel{std::move(*result), t.cycles};
  }
  return {};
}

}  // namespace

bool tile_held_products(KernelState& k) {
  auto best = best_tiled(k);
  if (!best) return false;
  k = std::move(best->kernel);
  bind_groups(k);
  return true;
}

std::optional<double> cycles_of_held_products(const KernelState& k) {
  const auto best = best_tiled(k);
  return best ? std::optional(best->cycles) : std::nullopt;
}

}  // namespace croze
