// tile_search.cpp -- register tiles, scored.
//
// An output loop is cut into lanes, or the reduction is; output loops are unrolled so that a tile
// of rows x columns vector accumulators stays in registers while the reduction runs.  Every choice
// (which loop gives lanes, how wide, how many unrolled) is scored by cycles per element:
// multiply-adds against loads, with the accumulators bounded by the register count and at least as
// many as the latency of a multiply-add needs.  A reduction so long that the columns of a tile do
// not stay in the L1 cache from one tile of rows to the next may go in turns of as much as does,
// which costs loading and storing the sums in each.
#include "croze/codegen/choose/tiles/tile_search.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

class Search {
 public:
  Search(const KernelState& k, UOp reduce, UnitTerms by_unit) : c_(k, reduce, by_unit) {}

  RegisterTile best(UOp only) {
    for (UOp lane : c_.loops) {
      if (only && lane != only) continue;
      for (std::int64_t lanes = c_.full; lanes >= std::max(MachineModel::least_lanes, c_.full / 4);
           lanes /= 2) {
        for (UOp rows : with_none(c_.loops, lane)) try_output_lanes(lane, lanes, rows);
      }
    }
    for (UOp lane : only || c_.unit ? std::vector<UOp>{} : c_.reduced) {
      if (TileCost::used_part(lane, c_.full) < c_.machine.least_used) continue;
      for (UOp columns : c_.loops) {
        for (UOp rows : with_none(c_.loops, columns)) try_reduction_lanes(lane, columns, rows);
      }
    }
    return best_;
  }

 private:
  // The other loops, and none.
  static std::vector<UOp> with_none(const std::vector<UOp>& loops, UOp taken) {
    std::vector<UOp> result{UOp()};
    for (UOp r : loops) {
      if (r != taken) result.push_back(r);
    }
    return result;
  }

  void try_output_lanes(UOp lane, std::int64_t lanes, UOp rows) {
    const std::int64_t vectors = (lane.range_size() + lanes - 1) / lanes;
    for (std::int64_t columns = 1; columns <= c_.machine.most_columns; columns++) {
      if (vectors % columns == 0 || lane.is_open()) {
        try_rows({lane, false, lanes, lane, rows, columns}, TileCost::used_part(lane, lanes));
      }
      const std::int64_t block = lanes * columns;
      if (can_overlap(lane, block)) {
        try_rows({lane, false, lanes, lane, rows, columns, 1, true},
                 TileCost::used_part(lane, block));
      }
    }
    // A loop that is no even number of vectors, as over a short line of a picture, gives one to a
    // tile, and another loop its columns.
    if (vectors % 2 == 0 || lane.is_open() || !rows) return;
    const bool overlaps = can_overlap(lane, lanes);
    for (UOp other : c_.loops | std::views::reverse) {  // what lies near comes last
      if (other == lane || other == rows || other.is_open()) continue;
      for (std::int64_t columns = 2; columns <= c_.machine.most_columns; columns++) {
        if (!can_cut(other, columns) && !can_overlap(other, columns)) continue;
        const double used = TileCost::used_part(lane, lanes) * TileCost::used_part(other, columns);
        try_rows({lane, false, lanes, other, rows, columns, 1, overlaps}, used);
      }
    }
  }

  // `used` is the part of the lanes that does work.
  void try_rows(RegisterTile t, double used) {
    if (used < c_.machine.least_used || !c_.suits_unit(t)) return;
    const std::int64_t step = c_.rows_at_once();
    for (std::int64_t n = step; n <= (t.rows ? step * c_.machine.most_rows : 1); n += step) {
      if (t.rows && !can_cut(t.rows, n) && !can_overlap(t.rows, n)) continue;
      if (!c_.fits_registers(n, t.num_columns, temporaries(t))) continue;
      t.num_rows = n;
      for (RegisterTile way : cost_.ways(t)) {
        way.columns_feed = cost_.columns_feed(way);
        way.cost = cost_.cycles(way) /
                   (used * static_cast<double>(n * t.num_columns * t.lanes * c_.terms()));
        if (way.streams_rows) way.cost *= cost_.unevenness(way);
        if (t.rows && can_overlap(t.rows, n)) {
          way.cost /= TileCost::used_part(t.rows, n);
          // There are no blocks of rows that come as a stream.
          if (!cost_.fetches_rows(way)) way.cost *= MachineModel::overlap;
        }
        take_if_better(way);
      }
    }
  }

  // Registers that computing an operand takes beside what it is made of.
  std::int64_t temporaries(const RegisterTile& t) const {
    const auto on_vectors =
        std::ranges::count_if(c_.computed, [&](UOp u) { return u.varies_over(t.lane); });
    return std::min<std::int64_t>(on_vectors, MachineModel::most_temporaries);
  }

  // Whether the last of blocks of so many iterations may begin earlier.
  bool can_overlap(UOp range, std::int64_t block) const {
    return c_.can_overlap && !can_cut(range, block) && range.range_size() > block;
  }

  void try_reduction_lanes(UOp lane, UOp columns, UOp rows) {
    for (std::int64_t c = 1; c <= c_.machine.most_outputs; c++) {
      if (!can_cut(columns, c)) continue;
      for (std::int64_t n = 1; n <= (rows ? c_.machine.most_outputs : 1); n++) {
        if (rows && !can_cut(rows, n)) continue;
        if (!c_.machine.fits_registers(n, c, c * held_for_fields(columns))) continue;
        RegisterTile t{lane, true, c_.full, columns, rows, c, n};
        const double combine =  // once, at the end
            c_.machine.combine_lane * static_cast<double>(n * c * c_.full) / c_.turns;
        t.cost = (cost_.cycles(t) + combine) /
                 (static_cast<double>(n * c * c_.full) * TileCost::used_part(lane, c_.full));
        take_if_better(t);
      }
    }
  }

  // What each column keeps in registers while its fields, a loop that becomes copies of the code,
  // are unpacked: bytes that they share, and a scale.
  std::int64_t held_for_fields(UOp columns) const {
    const auto is_held = [&](UOp load) {
      return load.varies_over(columns) && std::ranges::any_of(c_.reduced, [&](UOp r) {
               return !r.is_open() && r.range_size() <= MachineModel::longest_window &&
                      !load.varies_over(r);
             });
    };
    return std::min<std::int64_t>(std::ranges::count_if(c_.loads, is_held),
                                  MachineModel::most_temporaries);
  }

  // Of equal ones, that whose rows go on in a longer loop: more tiles share a panel.
  void take_if_better(const RegisterTile& t) {
    const auto rows = [](const RegisterTile& tile) {
      return tile.rows ? tile.rows.range_size() : 0;
    };
    if (t.cost > best_.cost || (t.cost == best_.cost && rows(t) <= rows(best_))) return;
    best_ = t;
    best_.by_unit = c_.by_unit;
  }

  const Contraction c_;
  const TileCost cost_{c_};
  RegisterTile best_;
};

}  // namespace

RegisterTile best_tile(const KernelState& k, UOp reduce, UOp lane, UnitTerms by_unit) {
  return Search(k, reduce, by_unit).best(lane);
}

}  // namespace croze
