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
#include <cmath>
#include <optional>
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

  RegisterTile best(UOp only) {
    for (UOp lane : loops_) {
      if (only && lane != only) continue;
      for (std::int64_t lanes = full_; lanes >= std::max(MachineModel::least_lanes, full_ / 4);
           lanes /= 2) {
        for (UOp rows : with_none(loops_, lane)) try_output_lanes(lane, lanes, rows);
      }
    }
    for (UOp lane : only ? std::vector<UOp>{} : reduced_) {
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
      for (const Way& way : ways(t)) {
        t.turn = way.turn;
        t.streams_rows = way.streams_rows;
        t.columns_feed = columns_feed(t);
        t.cost = cycles(t) / (used * static_cast<double>(n * t.num_columns * t.lanes));
        if (t.streams_rows) t.cost *= unevenness(t);
        if (t.rows && can_overlap(t.rows, n))
          t.cost *= MachineModel::overlap / used_part(t.rows, n);
        take_if_better(t);
      }
    }
  }

  // How the reduction goes.
  struct Way {
    std::int64_t turn = 0;
    bool streams_rows = false;
  };
  std::vector<Way> ways(const RegisterTile& t) const {
    std::vector<Way> result{{}};
    if (const std::int64_t turn = near_turn(t); turn > 0) result.push_back({turn});
    if (const auto turn = streaming_turn(t)) result.push_back({*turn, true});
    return result;
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
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      if (place.varies_over(t.rows) && uses(place, t) < MachineModel::least_reuse) return 0;
    }
    return turn_within(panel_bytes(t), machine_.near_bytes);
  }

  // The longest turn whose columns take so many bytes at most; 0 if there is none.
  std::int64_t turn_within(std::int64_t bytes_of_one, std::int64_t most) const {
    if (bytes_of_one > most) return 0;
    const std::int64_t size = reduced_[0].range_size();
    const std::int64_t turn = bytes_of_one > 0 ? largest_divisor(size, most / bytes_of_one) : size;
    return turn == size || turn * inner_turns_ < MachineModel::shortest_turn ? 0 : turn;
  }

  // What the columns of a tile take in one iteration of the outermost loop of the reduction.
  std::int64_t panel_bytes(const RegisterTile& t) const {
    std::int64_t bytes = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      if (are_columns(place, t))
        bytes += copies(place.src(1), t) * t.lanes * size_of(place.dtype()) * inner_turns_;
    }
    return bytes;
  }

  // The turn of a tile that streams its rows: 0 if the panel of all its columns stays in the L2
  // cache, else the longest of which it does; none if it cannot.  The rows are more than their
  // half of that cache and read in order.
  std::optional<std::int64_t> streaming_turn(const RegisterTile& t) const {
    if (!t.rows || t.rows.is_open() || t.lane.is_open() || t.columns.is_open()) return {};
    if (std::ranges::any_of(reduced_, &UOp::is_open) || !has_streaming_rows(t)) return {};
    const std::int64_t bytes = panel_bytes(t);
    if (bytes * reduced_[0].range_size() <= machine_.tile_bytes) return 0;
    if (!can_take_turns_ || row_tiles(t) * bytes_of_sums(t) > machine_.sums_bytes) return {};
    const std::int64_t turn = turn_within(bytes, machine_.tile_bytes / 2);
    return turn > 0 ? std::optional(turn) : std::nullopt;
  }

  // What the threads do more than their share of the tiles of columns.
  double unevenness(const RegisterTile& t) const {
    const double tiles = column_tiles(t) * other_iterations(t);
    const auto threads = static_cast<double>(machine_.threads);
    return std::ceil(tiles / threads) * threads / tiles;
  }

  bool has_streaming_rows(const RegisterTile& t) const {
    double bytes = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      if (!place.varies_over(t.rows)) continue;
      if (place.varies_over(t.lane) || place.varies_over(t.columns) || !follows_reduction(place))
        return false;
      bytes += all_bytes(l);
    }
    return bytes > static_cast<double>(machine_.tile_bytes);
  }

  // What a load reads in the whole kernel.
  double all_bytes(UOp load) const {
    return bytes_over(load, loops_) * bytes_over(load, reduced_) /
           static_cast<double>(size_of(load.dtype()));
  }

  static std::int64_t row_tiles(const RegisterTile& t) {
    return t.rows ? (t.rows.range_size() + t.num_rows - 1) / t.num_rows : 1;
  }
  static double column_tiles(const RegisterTile& t) {
    const std::int64_t others =
        t.columns == t.lane ? 1 : (t.columns.range_size() + t.num_columns - 1) / t.num_columns;
    return static_cast<double>(column_loop_size(t) * others);
  }
  // Of the loop that gives the lanes.
  static std::int64_t column_loop_size(const RegisterTile& t) {
    const std::int64_t in_tile = t.columns == t.lane ? t.lanes * t.num_columns : t.lanes;
    return (t.lane.range_size() + in_tile - 1) / in_tile;
  }
  std::int64_t bytes_of_sums(const RegisterTile& t) const {
    return t.num_rows * t.num_columns * t.lanes * (machine_.vector_bytes / full_);
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
        if (!machine_.fits_registers(n, c)) continue;
        RegisterTile t{lane, true, full_, columns, rows, c, n};
        const double combine =  // once, at the end
            machine_.combine_lane * static_cast<double>(n * c * full_) / turns_;
        t.cost =
            (cycles(t) + combine) / (static_cast<double>(n * c * full_) * used_part(lane, full_));
        take_if_better(t);
      }
    }
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
      load += static_cast<double>(count) * std::max(load_cost(place, t), distance_cost(l, t));
    }
    return std::max({multiply, load, streaming_cost(t)}) +
           machine_.not_hidden * std::min(multiply, load) + machine_.turn + store_cost(t) / turns_ +
           waiting_cost(t) + copying_cost(t);
  }

  // Loading a vector from where it stays from one tile to the next: columns from one tile of rows
  // to the next, other vectors until all of them have been read.
  double distance_cost(UOp load, const RegisterTile& t) const {
    const UOp place = load.src(0);
    if (!are_columns(place, t)) {
      const double bytes = all_bytes(load);
      if (t.in_reduction || !place.varies_over(t.lane) || bytes <= machine_.cache_bytes) return 0;
      return machine_.farther_load();
    }
    const double bytes = bytes_of_columns(copies(place.src(1), t), place, t);
    const bool is_near = bytes <= static_cast<double>(machine_.near_bytes);
    // Without a copy they displace each other.
    if (!is_copied(place, t)) return is_near ? machine_.far_load : machine_.farther_load();
    if (is_near) return 0;
    return bytes <= machine_.cache_bytes ? machine_.far_load : machine_.farther_load();
  }

  // Whether what lies in lines that are far apart is read by so many that a copy pays.
  bool is_copied(UOp place, const RegisterTile& t) const {
    return !are_columns_in_lines(place, t) ||
           uses_in_block(place, t) >= static_cast<double>(MachineModel::least_copy_reuse);
  }

  // Rows that come from beyond the L2 cache: they are fetched ahead, and only so fast.
  double streaming_cost(const RegisterTile& t) const {
    if (!t.streams_rows) return 0;
    double cost = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      if (place.varies_over(t.rows))
        cost += fetching_cost(l, static_cast<double>(copies(place.src(1), t)));
    }
    return cost;
  }

  // Fetching so many elements of what a load reads, all threads being at it.
  double fetching_cost(UOp load, double elements) const {
    return machine_.cycles(elements * static_cast<double>(size_of(load.dtype())) *
                           machine_.cycles_per_byte(all_bytes(load)) *
                           static_cast<double>(machine_.threads));
  }

  // What is copied to where the tile reads it in order: columns that do not lie side by side, or do
  // so in lines that are far apart, rows that neither do nor go on along the reduction.  What is no
  // column and stays where it is is fetched anew by tiles that have it in common with no other.
  double copying_cost(const RegisterTile& t) const {
    if (t.in_reduction) return 0;
    double cost = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      const auto count = static_cast<double>(copies(place.src(1), t));
      double each = 0;
      if (can_copy_columns(place, t)) {
        each = copying_a_vector(place, t);
      } else if (are_columns_in_lines(place, t) && is_copied(place, t)) {
        each = fetching_cost(l, static_cast<double>(t.lanes)) + 2 * MachineModel::load;
      } else if (are_rows(place, t) && along(place, t.rows) == Along::Strided &&
                 !follows(place, reduced_.back())) {
        each = (place.num_src() > 2 ? 2 : 1) * MachineModel::copy_element;
      } else if (!are_columns(place, t) && !t.streams_rows) {
        const bool vector = place.varies_over(t.lane);
        each = fetching_cost(l, vector ? static_cast<double>(t.lanes) : 1);
      }
      cost += each * count / uses_in_block(place, t);
    }
    return cost;
  }

  static bool are_rows(UOp place, const RegisterTile& t) {
    return t.rows && place.varies_over(t.rows) && !place.varies_over(t.lane);
  }

  // Whether columns lie side by side, and those of each of many steps of the reduction far from the
  // others.
  bool are_columns_in_lines(UOp place, const RegisterTile& t) const {
    if (!are_columns(place, t) || place.num_src() > 2) return false;
    if (along(place, t.lane) != Along::Contiguous) return false;
    std::int64_t steps = 1;
    for (UOp r : reduced_) {
      const Stride s = stride_over(place.src(1), r);
      if (s.affine && s.step * size_of(place.dtype()) < machine_.far_bytes) continue;
      steps *= r.range_size();
    }
    return steps >= machine_.many_rows;
  }

  // Tiles that read what is copied: those of a block, where there are any.
  double uses_in_block(UOp place, const RegisterTile& t) const {
    const double all = uses(place, t);
    if (!t.rows || t.streams_rows) return all;
    const double rows = rows_of_block(t);
    if (are_columns(place, t)) return std::min(all, rows);
    if (t.turn == 0) return all;
    const double sums = rows * static_cast<double>(bytes_of_sums(t));
    return std::min(all, std::max(1.0, static_cast<double>(machine_.sums_bytes) / sums));
  }

  // Tiles of rows that stay in the L2 cache, if each thread is left some blocks.
  double rows_of_block(const RegisterTile& t) const {
    const auto all = static_cast<double>(row_tiles(t));
    if (t.turn == 0 && column_tiles(t) < machine_.least_blocked_columns) return all;
    const double steps = t.turn > 0 ? static_cast<double>(t.turn * inner_turns_) : turns_;
    const double bytes = steps * static_cast<double>(t.num_rows * (machine_.vector_bytes / full_));
    double rows = std::max(1.0, std::floor(static_cast<double>(machine_.tile_bytes) / bytes));
    const auto wanted = static_cast<double>(machine_.wanted_blocks());
    if (!columns_feed(t) && other_iterations(t) < wanted) {
      const auto least = static_cast<double>(machine_.least_blocked_rows);
      rows = std::min(rows, std::max(least, std::ceil(all / wanted)));
    }
    return all / std::ceil(all / rows);
  }

  // Of the loops that the tile does not cut.
  double other_iterations(const RegisterTile& t) const {
    double count = 1;
    for (UOp r : loops_) {
      if (r != t.lane && r != t.columns && r != t.rows)
        count *= static_cast<double>(r.range_size());
    }
    return count;
  }

  // Whether the threads had better share the columns: each block of rows fills all panels anew,
  // which a short one does not make up for, nor a long one where all rows stay in the L2 cache.
  // Those that are read in order come in time from other caches, too.
  bool columns_feed(const RegisterTile& t) const {
    const std::int64_t blocks = machine_.wanted_blocks();
    if (!t.rows || column_tiles(t) < static_cast<double>(blocks)) return false;
    if (unevenness(t) > MachineModel::most_uneven) return false;
    const bool short_blocks = row_tiles(t) * t.num_rows < blocks * machine_.least_panel_rows;
    double bytes = 0;  // of rows
    bool in_order = true;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      if (!place.varies_over(t.rows)) continue;
      bytes += all_bytes(l);
      in_order = in_order && follows_reduction(place);
    }
    bytes *= static_cast<double>(row_tiles(t) * t.num_rows) /
             static_cast<double>(t.rows.range_size());  // tiles that overlap read some twice
    return (in_order && short_blocks) || bytes <= machine_.cache_bytes;
  }

  // Read in order as the reduction goes.
  bool follows_reduction(UOp place) const {
    return place.num_src() == 2 && follows(place, reduced_.back());
  }

  double copying_a_vector(UOp place, const RegisterTile& t) const {
    const double gates = place.num_src() > 2 ? 2 : 1;
    const bool divided = divides(place, t.lane);
    if (along(place, t.lane) == Along::Contiguous) {
      return gates * (masked_load(place) + (divided ? MachineModel::divide_lanes : 0));
    }
    const bool turned = along(place, reduced_.back()) == Along::Contiguous;
    const double each = divided  ? MachineModel::divide_element
                        : turned ? MachineModel::turn_element
                                 : MachineModel::copy_element;
    return gates * each * static_cast<double>(t.lanes);
  }

  // Whether where it lies, or whether it is there, takes divisions that lanes have results of their
  // own of.
  static bool divides(UOp place, UOp lane) {
    return std::ranges::any_of(toposort(place), [&](UOp u) {
      return (u.is(Op::IDiv) || u.is(Op::Mod)) && u.varies_over(lane);
    });
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
    if (bytes_of_columns(copies(place.src(1), t), place, t) >
        static_cast<double>(machine_.tile_bytes))
      return false;
    return t.rows.range_size() / t.num_rows >= machine_.least_reuse;
  }

  // Loading and storing the sums once in a turn: they come from the L2 cache, and others go there
  // in their place.
  double waiting_cost(const RegisterTile& t) const {
    if (t.turn == 0) return 0;
    return 3 * machine_.far_load * static_cast<double>(t.num_rows * t.num_columns) /
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

  // Of so many vectors of columns in all iterations of the reduction, or of a turn.
  double bytes_of_columns(std::int64_t vectors, UOp place, const RegisterTile& t) const {
    const std::int64_t elements = t.in_reduction ? vectors : vectors * t.lanes;  // an iteration
    const double iterations = t.turn > 0 ? static_cast<double>(t.turn * inner_turns_) : turns_;
    return iterations * static_cast<double>(elements * size_of(place.dtype()));
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

  static bool pads_lanes(UOp place, const RegisterTile& t) {
    return !t.overlaps && t.lane.trip_divisor() % t.lanes != 0 && place.varies_over(t.lane);
  }

  // Whether the place is gated, or will be where a loop is padded.
  static bool is_gated(UOp place, const RegisterTile& t) {
    const auto pads = [&](UOp r, std::int64_t count) {
      return r && r.is_open() && r.trip_divisor() % count != 0 && place.varies_over(r);
    };
    return place.num_src() > 2 || pads_lanes(place, t) || pads(t.columns, t.num_columns) ||
           pads(t.rows, t.num_rows);
  }

  // The mask is another one in each turn if the gate is.
  double masked_load(UOp place) const {
    const bool changes = place.num_src() > 2 && std::ranges::any_of(reduced_, [&](UOp r) {
                           return place.src(2).varies_over(r);
                         });
    return machine_.masked_load() + (changes ? machine_.make_mask() : 0);
  }

  double load_cost(UOp place, const RegisterTile& t) const {
    const bool gated = is_gated(place, t);
    switch (along(place, t.lane)) {
      case Along::Still: return gated ? machine_.gated_broadcast : machine_.broadcast();
      case Along::Contiguous:
        if (!gated || can_copy_columns(place, t)) return machine_.load;
        return masked_load(place) + (divides(place, t.lane) ? MachineModel::divide_lanes : 0);
      case Along::Strided: break;
    }
    if (can_copy_columns(place, t)) return machine_.load;
    return static_cast<double>(t.lanes) *
           (gated ? MachineModel::gated_lane : MachineModel::load_lane);
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

RegisterTile best_tile(const KernelState& k, UOp reduce, UOp lane) {
  return Search(k, reduce).best(lane);
}

}  // namespace croze
