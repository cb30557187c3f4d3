// tile_search.cpp -- register tiles, scored.
//
// An output loop is cut into lanes, or the reduction is; output loops are unrolled so that a tile
// of rows x columns vector accumulators stays in registers while the reduction runs.  Every choice
// (which loop gives lanes, how wide, how many unrolled) is scored by cycles per element:
// multiply-adds against loads, with the accumulators bounded by the register count and at least as
// many as the latency of a multiply-add needs.  A reduction so long that the columns of a tile do
// not stay in the L1 cache from one tile of rows to the next may go in turns of as much as does,
// which costs loading and storing the sums in each.
#include "croze/codegen/choose/tile_search.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Whether sums may wait in a tile between turns: of the only reduction of the kernel, whose terms
// hold no loops and nothing that the kernel stores.
bool can_take_turns(const KernelState& k, UOp reduce) {
  if (reduces(k.sink).size() > 1 || loads_what_it_stores(k.sink)) return false;
  return std::ranges::none_of(closed_ranges(reduce), &UOp::is_open);
}

class Search {
 public:
  Search(const KernelState& k, UOp reduce)
      : reduced_(closed_ranges(reduce)),
        loads_(loads(reduce.src(0))),
        can_take_turns_(croze::can_take_turns(k, reduce)),
        can_overlap_(!loads_what_it_stores(k.sink)),
        stored_(k.sink.src(0).src(0)),
        inner_turns_(iterations(std::span(reduced_).subspan(1))),
        turns_(static_cast<double>(iterations(reduced_))),
        machine_(k.caps()),
        full_(full_lanes(k.sink, k.caps())) {
    std::copy_if(k.loops.begin(), k.loops.end(), std::back_inserter(loops_), is_parallel);
    std::ranges::copy_if(toposort(reduce.src(0)), std::back_inserter(computed_), [&](UOp u) {
      return u != reduce.src(0) && is_elementwise(u.op()) && u.dtype() != DType::Index &&
             u.dtype() != DType::Bool;
    });
  }

  RegisterTile best() {
    for (UOp lane : loops_) {
      for (std::int64_t lanes = full_; lanes >= std::max(MachineModel::least_lanes, full_ / 4);
           lanes /= 2) {
        for (UOp rows : with_none(loops_, lane)) try_output_lanes(lane, lanes, rows);
      }
    }
    for (UOp lane : reduced_) {
      if (used_part(lane, full_) < machine_.least_used) continue;
      for (UOp columns : loops_) {
        for (UOp rows : with_none(loops_, columns)) try_reduction_lanes(lane, columns, rows);
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
    for (std::int64_t columns = 1; columns <= machine_.most_columns; columns++) {
      if (vectors % columns == 0 || lane.is_open()) {
        try_rows({lane, false, lanes, lane, rows, columns}, used_part(lane, lanes));
      }
      const std::int64_t block = lanes * columns;
      if (can_overlap(lane, block)) {
        try_rows({lane, false, lanes, lane, rows, columns, 1, true}, used_part(lane, block));
      }
    }
    // A loop that is no even number of vectors, as over a short line of a picture, gives one to a
    // tile, and another loop its columns.
    if (vectors % 2 == 0 || lane.is_open() || !rows) return;
    const bool overlaps = can_overlap(lane, lanes);
    for (UOp other : loops_ | std::views::reverse) {  // what lies near comes last
      if (other == lane || other == rows || other.is_open()) continue;
      for (std::int64_t columns = 2; columns <= machine_.most_columns; columns++) {
        if (!can_cut(other, columns) && !can_overlap(other, columns)) continue;
        const double used = used_part(lane, lanes) * used_part(other, columns);
        try_rows({lane, false, lanes, other, rows, columns, 1, overlaps}, used);
      }
    }
  }

  // `used` is the part of the lanes that does work.
  void try_rows(RegisterTile t, double used) {
    if (used < machine_.least_used) return;
    for (std::int64_t n = 1; n <= (t.rows ? machine_.most_rows : 1); n++) {
      if (t.rows && !can_cut(t.rows, n) && !can_overlap(t.rows, n)) continue;
      if (!machine_.fits_registers(n, t.num_columns, temporaries(t))) continue;
      t.num_rows = n;
      for (std::int64_t turn : {std::int64_t{0}, near_turn(t)}) {
        t.turn = turn;
        t.cost = cycles(t) / (used * static_cast<double>(n * t.num_columns * t.lanes));
        if (t.rows && can_overlap(t.rows, n))
          t.cost *= MachineModel::overlap / used_part(t.rows, n);
        take_if_better(t);
      }
    }
  }

  // Registers that computing an operand takes beside what it is made of.
  std::int64_t temporaries(const RegisterTile& t) const {
    const auto on_vectors =
        std::ranges::count_if(computed_, [&](UOp u) { return u.varies_over(t.lane); });
    return std::min<std::int64_t>(on_vectors, MachineModel::most_temporaries);
  }

  // The longest turn in which the columns of the tile stay in the L1 cache; 0 if there is none.
  // Rows that a few tiles read come from memory, where they are better read in one go.
  std::int64_t near_turn(const RegisterTile& t) const {
    if (!can_take_turns_ || !t.rows || t.rows.is_open() || t.lane.is_open()) return 0;
    std::int64_t bytes = 0;  // of one iteration of the loop
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      if (place.varies_over(t.rows) && uses(place, t) < MachineModel::least_reuse) return 0;
      if (!are_columns(place, t)) continue;
      bytes += copies(place.src(1), t) * t.lanes * size_of(place.dtype()) * inner_turns_;
    }
    if (bytes > machine_.near_bytes) return 0;
    const std::int64_t size = reduced_[0].range_size();
    const std::int64_t turn = bytes > 0 ? largest_divisor(size, machine_.near_bytes / bytes) : size;
    return turn == size || turn * inner_turns_ < MachineModel::shortest_turn ? 0 : turn;
  }

  // Whether the last of blocks of so many iterations may begin earlier.
  bool can_overlap(UOp range, std::int64_t block) const {
    return can_overlap_ && !can_cut(range, block) && range.range_size() > block;
  }

  void try_reduction_lanes(UOp lane, UOp columns, UOp rows) {
    for (std::int64_t c = 1; c <= machine_.most_outputs; c++) {
      if (!can_cut(columns, c)) continue;
      for (std::int64_t n = 1; n <= (rows ? machine_.most_outputs : 1); n++) {
        if (rows && !can_cut(rows, n)) continue;
        if (!machine_.fits_registers(n, c, c * held_for_fields(columns))) continue;
        RegisterTile t{lane, true, full_, columns, rows, c, n};
        const double combine =  // once, at the end
            machine_.combine_lane * static_cast<double>(n * c * full_) / turns_;
        t.cost =
            (cycles(t) + combine) / (static_cast<double>(n * c * full_) * used_part(lane, full_));
        take_if_better(t);
      }
    }
  }

  // What each column keeps in registers while its fields, a loop that becomes copies of the code,
  // are unpacked: bytes that they share, and a scale.
  std::int64_t held_for_fields(UOp columns) const {
    const auto is_held = [&](UOp load) {
      return load.varies_over(columns) && std::ranges::any_of(reduced_, [&](UOp r) {
               return !r.is_open() && r.range_size() <= MachineModel::longest_window &&
                      !load.varies_over(r);
             });
    };
    return std::min<std::int64_t>(std::ranges::count_if(loads_, is_held),
                                  MachineModel::most_temporaries);
  }

  // Of equal ones, that whose rows go on in a longer loop: more tiles share a panel.
  void take_if_better(const RegisterTile& t) {
    const auto rows = [](const RegisterTile& tile) {
      return tile.rows ? tile.rows.range_size() : 0;
    };
    if (t.cost > best_.cost || (t.cost == best_.cost && rows(t) <= rows(best_))) return;
    best_ = t;
  }

  // Cycles of one turn of the reduction over a tile.
  double cycles(const RegisterTile& t) const {
    const double sums =
        std::max(static_cast<double>(t.num_rows * t.num_columns), machine_.in_flight());
    const double multiply = (sums + operand_work(t)) * machine_.multiply_add(t.lanes, full_);
    double load = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      const std::int64_t count = copies(place.src(1), t);
      const double each = load_cost(place, t);
      load += static_cast<double>(count) *
              (are_far_columns(place, count, t) ? std::max(each, machine_.far_load()) : each);
    }
    return std::max(multiply, load) + machine_.not_hidden * std::min(multiply, load) +
           machine_.turn + store_cost(t) / turns_ + waiting_cost(t) + copying_cost(t);
  }

  // What is copied to where the tile reads it in order: columns that do not lie side by side, rows
  // that neither do nor go on along the reduction.
  double copying_cost(const RegisterTile& t) const {
    if (t.in_reduction) return 0;
    double cost = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      const std::int64_t count = copies(place.src(1), t);
      double each = 0;
      if (can_copy_columns(place, t)) {
        each = copying_a_vector(place, t);
      } else if (t.rows && place.varies_over(t.rows) && !place.varies_over(t.lane) &&
                 along(place, t.rows) == Along::Strided &&
                 along(place, reduced_.back()) == Along::Strided) {
        each = MachineModel::copy_element;
      }
      const bool gated = place.num_src() > 2;
      cost += (gated ? 2 : 1) * each * static_cast<double>(count) / uses(place, t);
    }
    return cost;
  }

  double copying_a_vector(UOp place, const RegisterTile& t) const {
    if (along(place, t.lane) == Along::Contiguous) return machine_.masked_load();
    const bool turned = along(place, reduced_.back()) == Along::Contiguous;
    return (turned ? MachineModel::turn_element : MachineModel::copy_element) *
           static_cast<double>(t.lanes);
  }

  // Tiles that read what one tile reads at a place: columns are copied for the loop over rows, rows
  // for all others.
  double uses(UOp place, const RegisterTile& t) const {
    double tiles = 1;
    for (UOp r : loops_) {
      if (place.varies_over(r) || (r != t.rows && are_columns(place, t))) continue;
      std::int64_t in_tile = r == t.lane ? t.lanes : 1;
      if (r == t.columns) in_tile *= t.num_columns;
      if (r == t.rows) in_tile *= t.num_rows;
      tiles *= std::max(1.0, static_cast<double>(r.range_size()) / static_cast<double>(in_tile));
    }
    return tiles;
  }

  // Whether lanes that lie apart, or some of which lie nowhere, can be copied side by side: a panel
  // that many rows read.
  bool can_copy_columns(UOp place, const RegisterTile& t) const {
    const Along lanes = along(place, t.lane);
    const bool scattered =
        lanes == Along::Strided || (lanes == Along::Contiguous && place.num_src() > 2);
    if (!scattered || t.in_reduction) return false;
    if (!t.rows || place.src(1).varies_over(t.rows)) return false;
    if (std::ranges::any_of(reduced_, &UOp::is_open)) return false;  // the tile may not fit
    return t.rows.range_size() / t.num_rows >= machine_.least_reuse;
  }

  // Loading and storing the sums once in a turn, from the L2 cache.
  double waiting_cost(const RegisterTile& t) const {
    if (t.turn == 0) return 0;
    return 2 * machine_.far_load() * static_cast<double>(t.num_rows * t.num_columns) /
           static_cast<double>(t.turn * inner_turns_);
  }

  // Loads of a place in one turn, or computations of a value.
  static std::int64_t copies(UOp u, const RegisterTile& t) {
    std::int64_t result = 1;
    if (u.varies_over(t.columns)) result *= t.num_columns;
    if (t.rows && u.varies_over(t.rows)) result *= t.num_rows;
    return result;
  }

  // What is computed on vectors of the operands in one turn before they are multiplied.
  double operand_work(const RegisterTile& t) const {
    double work = 0;
    for (UOp u : computed_) {
      if (u.varies_over(t.lane)) work += static_cast<double>(copies(u, t));
    }
    return work;
  }

  // Whether it is what all rows read.
  static bool are_columns(UOp place, const RegisterTile& t) {
    return place.src(1).varies_over(t.lane) && !(t.rows && place.src(1).varies_over(t.rows));
  }

  // Whether these vectors are more than the L1 cache keeps from one tile of rows to the next.
  bool are_far_columns(UOp place, std::int64_t vectors, const RegisterTile& t) const {
    if (!are_columns(place, t)) return false;
    const std::int64_t elements = t.in_reduction ? vectors : vectors * t.lanes;  // an iteration
    const double iterations = t.turn > 0 ? static_cast<double>(t.turn * inner_turns_) : turns_;
    const double bytes = iterations * static_cast<double>(elements * size_of(place.dtype()));
    return bytes > static_cast<double>(machine_.near_bytes);
  }

  // Once per tile.
  double store_cost(const RegisterTile& t) const {
    if (t.in_reduction) return 0;
    const double each = along(stored_, t.lane) == Along::Contiguous
                            ? 1
                            : MachineModel::store_lane * static_cast<double>(t.lanes);
    return each * static_cast<double>(t.num_rows * t.num_columns);
  }

  // The part of the lanes that does work when the loop's size is not a multiple of them.  An open
  // loop may turn once: a constant one gives the lanes if there is one.
  static double used_part(UOp range, std::int64_t lanes) {
    if (range.is_open()) return MachineModel::used_if_open;
    const std::int64_t vectors = (range.range_size() + lanes - 1) / lanes;
    return static_cast<double>(range.range_size()) / static_cast<double>(vectors * lanes);
  }

  // Whether the place is gated, or will be where a loop is padded.
  static bool is_gated(UOp place, const RegisterTile& t) {
    const auto pads = [&](UOp r, std::int64_t count) {
      return r && r.is_open() && r.trip_divisor() % count != 0 && place.varies_over(r);
    };
    const bool pads_lanes =
        !t.overlaps && t.lane.trip_divisor() % t.lanes != 0 && place.varies_over(t.lane);
    return place.num_src() > 2 || pads_lanes || pads(t.columns, t.num_columns) ||
           pads(t.rows, t.num_rows);
  }

  double load_cost(UOp place, const RegisterTile& t) const {
    const bool gated = is_gated(place, t);
    switch (along(place, t.lane)) {
      case Along::Still: return gated ? machine_.gated_broadcast : machine_.broadcast();
      case Along::Contiguous:
        return gated && !can_copy_columns(place, t) ? machine_.masked_load() : machine_.load;
      case Along::Strided: break;
    }
    return can_copy_columns(place, t) ? machine_.load : static_cast<double>(t.lanes);
  }

  std::vector<UOp> loops_;  // of the output, those that may run in any order
  std::vector<UOp> reduced_;
  std::vector<UOp> loads_;
  std::vector<UOp> computed_;  // of the operands; the last operation is one with the sum
  bool can_take_turns_;
  bool can_overlap_;          // an iteration may be run twice
  UOp stored_;                // the place written
  std::int64_t inner_turns_;  // of the reduction in one of its outermost loop
  double turns_;              // of the reduction, per element
  const MachineModel machine_;
  std::int64_t full_;  // lanes of a full register
  RegisterTile best_;
};

}  // namespace

RegisterTile best_tile(const KernelState& k, UOp reduce) { return Search(k, reduce).best(); }

}  // namespace croze
