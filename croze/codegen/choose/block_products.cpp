// block_products.cpp -- a tile for sums over blocks of quantized numbers.
//
//     out[i, j] = sum over b of scale(i, b, j) * (sum over k of x[i, b, k] * w(b, k, j))
//
// where x and w are bytes, and w and a part of the scales are computed from packed weights.  The
// inner sum is short and stands in the outer one as straight code, whose instructions take four
// terms for each lane at once.  Lanes are columns j: then no lanes are combined, and the scales of
// the columns are vectors, too.
//
//     for vectors of columns j:
//       panel = w and the scales of these columns, for all blocks
//       for rows i, a few as copies of the code:
//         for blocks b:
//           out[i, j] += scales * (contract x[i, b, ..], panel[b, .., j], ..)
//
// A unit of tiles makes the sums of a block for all these rows at once, which are then read from
// memory.  Rows that would fill half a tile are as fast without it: what tells the processor the
// sizes of tiles, stores one and reads it again is the work that it saves.
//
// Where the rows are one tile, a panel holds a few blocks, and is made anew for the next ones.
// There reading the weights is most of the work.  Neighbouring columns that are shorter than a page
// are read here and there in it, which the hardware does not foresee, and instructions that fetch
// them get half of what memory gives.  So lanes are columns that lie far apart, each of which, or a
// few that are short, is read in order, with those behind it, from pages of its own:
//
//     for parts of the columns:
//       for columns j, first of a lane's in the part and then the next:
//         for some blocks at a time: a panel of them, and sums for all rows
#include "croze/codegen/choose/block_products.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/panel.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Rows whose sums, beside the columns of a block, stay in registers.
constexpr std::int64_t most_rows = 12;

struct Sums {
  UOp outer, inner;
};

std::optional<Sums> find_sums(const KernelState& k) {
  const std::vector<UOp> all = reduces(k.sink);
  if (all.size() != 2 || k.sink.num_src() != 1) return {};
  const Sums sums{all[0], all[1]};
  const bool is_nested = std::ranges::any_of(closed_ranges(sums.outer),
                                             [&](UOp r) { return sums.inner.varies_over(r); });
  if (!is_nested || sums.outer.reduce_op() != Op::Add || sums.inner.reduce_op() != Op::Add) {
    return {};
  }
  return sums;
}

UOp not_widened(UOp factor) { return factor.is(Op::Cast) ? factor.src(0) : factor; }

struct Factors {
  UOp rows, columns;  // as bytes; of rows they are loaded
  std::int64_t unit;  // that multiplies them, as an edit names it
};

// With each unit that can multiply them: those of the most rows first, of others the best.
std::vector<Factors> factors_of(const KernelState& k, UOp inner) {
  const UOp product = inner.src(0);
  if (!product.is(Op::Mul)) return {};
  UOp rows = not_widened(product.src(0)), columns = not_widened(product.src(1));
  if (!rows.is(Op::Load) || columns.is(Op::Load)) std::swap(rows, columns);
  if (!rows.is(Op::Load)) return {};
  const auto& units = k.caps().matrix_units;
  std::vector<Factors> result;
  for (std::size_t i = 0; i < units.size(); i++) {
    const MatrixUnit& unit = *units[i];
    const bool fits = unit.threads == 1 && !has_row_for_each_column(unit) &&
                      takes_dtype(unit.a, rows.dtype()) && takes_dtype(unit.b, columns.dtype()) &&
                      unit.accumulator == inner.dtype() && unit.shifted.empty() &&
                      takes_values(unit, rows) && takes_values(unit, columns);
    if (fits) result.push_back({rows, columns, static_cast<std::int64_t>(i) + 1});
  }
  std::ranges::stable_sort(result, std::greater(), [&](const Factors& f) {
    return units[static_cast<std::size_t>(f.unit - 1)]->rows;
  });
  return result;
}

// How many terms of a column lie side by side in the unit's operand.
std::int64_t terms_side_by_side(const MatrixUnit& unit) {
  return std::int64_t{1} << place_bits(unit.places_of_b)[0].count;
}

// The longest output loop that the first of two values varies over and the other does not.
UOp loop_of_one(const KernelState& k, UOp value, UOp other) {
  UOp best;
  for (UOp r : k.loops) {
    if (!is_parallel(r) || !value.varies_over(r) || other.varies_over(r)) continue;
    if (!best || r.range_size() > best.range_size()) best = r;
  }
  return best;
}

// Whether places so many bytes apart from the first one find room in the first cache: few of them
// share a set.
bool are_in_many_sets(std::span<const std::int64_t> bytes) {
  constexpr std::int64_t most = MachineModel::lines_of_set / 2;
  std::map<std::int64_t, std::set<std::int64_t>> lines;  // of each set
  for (const std::int64_t b : bytes) {
    const std::int64_t at = b / cache_line_bytes;
    lines[at % (MachineModel::set_bytes / cache_line_bytes)].insert(at);
  }
  return std::ranges::all_of(lines, [](const auto& set) { return std::ssize(set.second) <= most; });
}

class BlockTiler {
 public:
  BlockTiler(KernelState& k, const Sums& sums, const Factors& factors)
      : k_(k),
        outer_(closed_ranges(sums.outer)),
        inner_(closed_ranges(sums.inner)),
        number_(factors.unit),
        unit_(*k.caps().matrix_units[static_cast<std::size_t>(number_ - 1)]),
        columns_(loop_of_one(k, factors.columns, factors.rows)),
        rows_(loop_of_one(k, factors.rows, factors.columns)) {}

  bool run() {
    if (!columns_ || !rows_ || columns_.range_size() % unit_.columns != 0) return false;
    if (columns_.is_open() || inner_.empty()) return false;
    if (rows_.range_size() < MachineModel::least_reuse) return false;
    if (inner_.back().range_size() % terms_side_by_side(unit_) != 0) return false;
    if (has_tiles() && !fills_tiles()) return false;
    const std::int64_t together = lanes_together(), apart = columns_apart(together);
    const SplitRange parts = split(k_, columns_, unit_.columns * apart);
    const Vectors vectors = cut_vectors(parts.inner, apart, together);
    const UOp lanes = bind(k_, vectors.lanes, LoopKind::Lane);
    const SplitRange terms = split(k_, inner_.back(), terms_side_by_side(unit_));
    inner_.back() = terms.outer;
    const UOp rows = cut_rows();
    arrange({parts.outer, vectors.steps}, lanes, rows);
    const bool has_one_tile = std::ranges::all_of(k_.loops, [&](UOp r) {
      return r == parts.outer || r == vectors.steps || r == rows || r == lanes;
    });
    if (has_one_tile) cut_blocks(lanes, terms.inner, apart > 1);
    return fill_panel(lanes, terms.inner) && contract_terms(lanes, terms.inner);
  }

 private:
  bool has_tiles() const { return unit_.rows > 1; }

  // Whether tiles are filled by rows, and by the terms of a block.
  bool fills_tiles() const {
    return !rows_.is_open() && rows_.range_size() % unit_.rows == 0 &&
           iterations(inner_) == unit_.depth;
  }

  // How many vectors there are in a part of the columns.  More than one have lanes apart: where one
  // tile of rows meets columns, so that each lane's have a page to themselves as long as there are
  // tasks enough.
  std::int64_t columns_apart(std::int64_t together) const {
    constexpr std::int64_t page_bytes = MachineModel::set_bytes;
    if (rows_.range_size() > most_rows || k_.loops.size() != 2 || row_bytes() >= page_bytes)
      return 1;
    const std::int64_t vectors = columns_.range_size() / unit_.columns;
    const MachineModel machine(k_.caps());
    std::int64_t best = 1;
    for (std::int64_t tasks = MachineModel::tasks_per_thread;
         tasks >= MachineModel::blocks_per_thread; tasks /= 2) {
      for (std::int64_t apart = vectors / (tasks * machine.threads); apart > best; apart--) {
        if (vectors % apart != 0 || !can_be_apart(apart, together)) continue;
        best = apart;
      }
      if (best * row_bytes() >= page_bytes) break;
    }
    return best;
  }

  // Lanes of neighbouring columns, whose results are stored together.  The hardware follows one
  // place in a page, which goes on from column to column where a few of them are short.
  std::int64_t lanes_together() const {
    constexpr std::int64_t few = 4;
    return few * row_bytes() <= MachineModel::set_bytes / 2 ? few : 1;
  }

  bool can_be_apart(std::int64_t apart, std::int64_t together) const {
    return std::ranges::all_of(toposort(k_.sink), [&](UOp place) {
      if (!place.is(Op::Index) || !place.varies_over(columns_)) return true;
      const Stride s = stride_over(place.src(1), columns_);
      std::vector<std::int64_t> bytes;
      for (std::int64_t lane = 0; lane < unit_.columns; lane++) {
        const std::int64_t column = lane / together * together * apart + lane % together;
        bytes.push_back(std::abs(s.step) * column * size_of(place.dtype()));
      }
      return s.affine && are_in_many_sets(bytes);
    });
  }

  // The lanes of a part of the columns, and the steps in which they go through it.
  struct Vectors {
    UOp lanes, steps;
  };
  Vectors cut_vectors(UOp part, std::int64_t apart, std::int64_t together) {
    if (apart == 1 || together == 1) {
      const SplitRange lanes = split(k_, part, apart);
      return {.lanes = lanes.outer, .steps = lanes.inner};
    }
    const SplitRange runs = split(k_, part, together * apart);
    const SplitRange steps = split(k_, runs.inner, together);
    return {.lanes = merge(k_, runs.outer, steps.inner), .steps = steps.outer};
  }

  // Of packed weights of a column.
  std::int64_t row_bytes() const {
    std::int64_t bytes = 0;
    for (UOp load : loads(k_.sink)) {
      const Stride s = stride_over(load.src(0).src(1), columns_);
      bytes = std::max(bytes, std::abs(s.step) * size_of(load.dtype()));
    }
    return bytes;
  }

  // The loop over rows that becomes copies of the code.
  UOp cut_rows() {
    const std::int64_t size = rows_.range_size();
    if (has_tiles()) return bind(k_, split(k_, rows_, unit_.rows).inner, LoopKind::Unroll);
    const std::int64_t tiles = (size + most_rows - 1) / most_rows;
    const std::int64_t count = (size + tiles - 1) / tiles;
    const SplitRange parts = can_cut(rows_, count) ? split(k_, pad(k_, rows_, count), count)
                                                   : split_overlapping(k_, rows_, count);
    return bind(k_, parts.inner, LoopKind::Unroll);
  }

  // Vectors of columns outermost: what stands inside shares their panel.
  void arrange(std::initializer_list<UOp> vectors, UOp lanes, UOp rows) {
    std::vector<UOp> order;
    std::ranges::copy_if(vectors, std::back_inserter(order), [](UOp r) { return r.is(Op::Range); });
    const std::vector<UOp> first = order;
    for (UOp r : k_.loops) {
      const bool is_first = std::ranges::find(first, r) != first.end();
      if (!is_first && r != lanes && r != rows) order.push_back(r);
    }
    order.push_back(rows);
    order.push_back(lanes);
    reorder(k_, order);
  }

  // A panel that one tile of rows reads is decoded some blocks at a time, so that it stays in the
  // cache with what is read beside it, and what it is decoded from comes while others are
  // multiplied, which is where columns lie apart, as short as can be.  Leaves the loops over these
  // blocks in outer_.
  void cut_blocks(UOp lanes, UOp depth, bool are_apart) {
    const std::vector<UOp> values = values_of_lanes(k_.sink, lanes);
    const MachineModel machine(k_.caps());
    std::vector<UOp> loops{lanes, depth};
    std::ranges::copy_if(inner_, std::back_inserter(loops), [](UOp r) { return r.is(Op::Range); });
    std::vector<UOp> all(loops);
    all.insert(all.end(), outer_.begin(), outer_.end());
    if (!are_apart && panel_bytes(values, all) <= machine.turn_bytes) return;
    std::vector<UOp> kept;
    for (UOp r : outer_ | std::views::reverse) {
      const std::int64_t room =
          std::max<std::int64_t>(machine.decoded_bytes / panel_bytes(values, loops), 1);
      const std::int64_t count = largest_divisor(r.trip_divisor(), room);
      const bool is_whole = !r.is_open() && count == r.range_size();
      if (count > 1) kept.insert(kept.begin(), is_whole ? r : split(k_, r, count).inner);
      if (!is_whole) break;
      loops.push_back(r);
    }
    outer_ = std::move(kept);
  }

  bool fill_panel(UOp lanes, UOp depth) {
    Edit edit{.kind = EditKind::Panel};
    std::vector<UOp> loops;
    const auto add = [&](UOp r) {
      if (!r.is(Op::Range)) return;
      loops.push_back(r);
      edit.ranges.push_back(r.range_id());
    };
    std::ranges::for_each(outer_, add);
    std::ranges::for_each(inner_, add);
    add(lanes);
    add(depth);
    const MachineModel machine(k_.caps());
    if (!is_legal(k_, edit)) return false;
    if (panel_bytes(values_of_lanes(k_.sink, lanes), loops) > machine.tile_bytes) return false;
    panel(k_, loops);
    return true;
  }

  // What an instruction takes at once are the terms that lie side by side, of which others are
  // copies of the code, or the loops of the sum together.
  bool contract_terms(UOp lanes, UOp side_by_side) {
    std::vector<UOp> terms;
    for (UOp r : inner_) {
      if (!r.is(Op::Range)) continue;
      if (has_tiles()) {
        terms.push_back(r);
      } else if (!try_bind(k_, r, LoopKind::Unroll)) {
        return false;
      }
    }
    terms.push_back(side_by_side);
    Edit edit{.kind = EditKind::Contract, .ranges = {lanes.range_id()}, .size = number_};
    for (UOp r : terms) edit.ranges.push_back(r.range_id());
    if (!is_legal(k_, edit)) return false;
    contract(k_, lanes, terms, number_);
    return true;
  }

  KernelState& k_;
  std::vector<UOp> outer_, inner_;  // loops of the sums
  std::int64_t number_;             // of the unit, as an edit names it
  const MatrixUnit& unit_;
  UOp columns_, rows_;
};

}  // namespace

bool tile_block_products(KernelState& k) {
  const std::optional<Sums> sums = find_sums(k);
  if (!sums) return false;
  for (const Factors& factors : factors_of(k, sums->inner)) {
    KernelState tiled = k;
    if (!BlockTiler(tiled, *sums, factors).run()) continue;
    k = std::move(tiled);
    return true;
  }
  return false;
}

}  // namespace croze
