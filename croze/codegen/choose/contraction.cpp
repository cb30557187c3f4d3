// contraction.cpp -- register and cache tiles for reductions that use each loaded element many
// times.
//
// The register tile.  An output loop is cut into lanes, or the reduction is; output loops are
// unrolled so that a tile of rows x columns vector accumulators stays in registers while the
// reduction runs. Every choice (which loop gives lanes, how wide, how many unrolled) is scored by
// cycles per element: multiply-adds against loads, with the accumulators bounded by the register
// count and at least as many as the latency of a multiply-add needs.
//
// The cache tile.  An operand whose elements for one tile lie far apart is staged: the columns of
// the one operand as a panel inside the loop over column tiles, the rows of the other as a block
// outside of it, so that the panel is reused by every row tile of the block and the block by every
// panel (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008).
#include "croze/codegen/choose/contraction.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

struct Tile {
  UOp lane;  // the loop cut into lanes: an output loop, or one of the reduction
  bool in_reduction = false;
  std::int64_t lanes = 1;
  UOp columns, rows;  // output loops unrolled; columns is `lane` unless in_reduction
  std::int64_t num_columns = 1, num_rows = 1;  // accumulators: vectors, rows
  bool overlaps = false;  // columns, at the end of a loop that is no multiple of their lanes
  double cost = std::numeric_limits<double>::infinity();
};

// Whether each iteration reads another row, too far away for the hardware to foresee.
bool walks_rows(UOp place, UOp range, std::int64_t element_bytes) {
  const Stride s = stride_over(place.src(1), range);
  return place.num_src() == 2 && s.affine && s.step * element_bytes >= MachineModel::far_bytes;
}

// Whether a long reduction, the only one of its kernel, may go in turns: over rows of memory.
bool can_take_turns(const KernelState& k, UOp reduce) {
  const std::vector<UOp> ranges = closed_ranges(reduce);
  if (reduces(k.sink).size() > 1 || ranges.size() != 1 || ranges[0].is_open()) return false;
  if (ranges[0].range_size() < MachineModel::shortest_turn * MachineModel::least_turns)
    return false;
  return std::ranges::all_of(loads(reduce.src(0)), [&](UOp load) {
    return walks_rows(load.src(0), ranges[0], widest_bytes(k.sink));
  });
}

class Search {
 public:
  Search(const KernelState& k, UOp reduce)
      : reduced_(closed_ranges(reduce)),
        loads_(loads(reduce.src(0))),
        takes_turns_(can_take_turns(k, reduce)),
        can_overlap_(!loads_what_it_stores(k.sink)),
        stored_(k.sink.src(0).src(0)),
        turns_(static_cast<double>(iterations(reduced_))),
        machine_(k.caps()),
        full_(full_lanes(k.sink, k.caps())) {
    std::copy_if(k.loops.begin(), k.loops.end(), std::back_inserter(loops_), is_parallel);
  }

  Tile best() {
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
  }

  // `used` is the part of the lanes that does work.
  void try_rows(Tile t, double used) {
    if (used < machine_.least_used) return;
    for (std::int64_t n = 1; n <= (t.rows ? machine_.most_rows : 1); n++) {
      if (t.rows && !can_cut(t.rows, n) && !can_overlap(t.rows, n)) continue;
      if (!machine_.fits_registers(n, t.num_columns)) continue;
      t.num_rows = n;
      t.cost = cycles(t) / (used * static_cast<double>(n * t.num_columns * t.lanes));
      if (t.rows && can_overlap(t.rows, n)) t.cost *= MachineModel::overlap / used_part(t.rows, n);
      take_if_better(t);
    }
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
        Tile t{lane, true, full_, columns, rows, c, n};
        const double combine =  // once, at the end
            machine_.combine_lane * static_cast<double>(n * c * full_) / turns_;
        t.cost =
            (cycles(t) + combine) / (static_cast<double>(n * c * full_) * used_part(lane, full_));
        take_if_better(t);
      }
    }
  }

  // Of equal ones, that whose rows go on in a longer loop: more tiles share a panel.
  void take_if_better(const Tile& t) {
    const auto rows = [](const Tile& tile) { return tile.rows ? tile.rows.range_size() : 0; };
    if (t.cost > best_.cost || (t.cost == best_.cost && rows(t) <= rows(best_))) return;
    best_ = t;
  }

  // Cycles of one turn of the reduction over a tile.
  double cycles(const Tile& t) const {
    const double multiply =
        std::max(static_cast<double>(t.num_rows * t.num_columns), machine_.in_flight()) *
        machine_.multiply_add(t.lanes, full_);
    double load = 0;
    for (UOp l : loads_) {
      const UOp place = l.src(0);
      const std::int64_t count = copies(place, t);
      const double each = load_cost(place, t);
      load += static_cast<double>(count) *
              (are_far_columns(place, count, t) ? std::max(each, machine_.far_load()) : each);
    }
    return std::max(multiply, load) + machine_.not_hidden * std::min(multiply, load) +
           machine_.turn + store_cost(t) / turns_;
  }

  // Loads of a place in one turn.
  static std::int64_t copies(UOp place, const Tile& t) {
    std::int64_t result = 1;
    if (place.src(1).varies_over(t.columns)) result *= t.num_columns;
    if (t.rows && place.src(1).varies_over(t.rows)) result *= t.num_rows;
    return result;
  }

  // Whether the vectors are what all rows read, and more than the L1 cache keeps from one to
  // the next.
  bool are_far_columns(UOp place, std::int64_t vectors, const Tile& t) const {
    if (takes_turns_ && !t.in_reduction) return false;
    if (!place.src(1).varies_over(t.lane) || (t.rows && place.src(1).varies_over(t.rows))) {
      return false;
    }
    const std::int64_t elements = t.in_reduction ? vectors : vectors * t.lanes;  // a turn
    const double bytes = turns_ * static_cast<double>(elements * size_of(place.dtype()));
    return bytes > static_cast<double>(machine_.near_bytes);
  }

  // Once per tile.
  double store_cost(const Tile& t) const {
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
  static bool is_gated(UOp place, const Tile& t) {
    const auto pads = [&](UOp r, std::int64_t count) {
      return r && r.is_open() && r.trip_divisor() % count != 0 && place.varies_over(r);
    };
    const bool pads_lanes =
        !t.overlaps && t.lane.trip_divisor() % t.lanes != 0 && place.varies_over(t.lane);
    return place.num_src() > 2 || pads_lanes || pads(t.columns, t.num_columns) ||
           pads(t.rows, t.num_rows);
  }

  double load_cost(UOp place, const Tile& t) const {
    const bool gated = is_gated(place, t);
    switch (along(place, t.lane)) {
      case Along::Still: return gated ? machine_.gated_broadcast : machine_.broadcast;
      case Along::Contiguous: return gated ? machine_.masked_load : machine_.load;
      // A strided operand can be staged if the tile is read by many rows.
      case Along::Strided: break;
    }
    const auto one_by_one = static_cast<double>(t.lanes);
    if (t.in_reduction || !t.rows || place.src(1).varies_over(t.rows)) return one_by_one;
    if (std::ranges::any_of(reduced_, &UOp::is_open)) return one_by_one;  // the tile may not fit
    const std::int64_t reuse = t.rows.range_size() / t.num_rows;
    if (reuse < machine_.least_reuse) return one_by_one;
    return machine_.load + machine_.copy_element * one_by_one / static_cast<double>(reuse);
  }

  std::vector<UOp> loops_;  // of the output, those that may run in any order
  std::vector<UOp> reduced_;
  std::vector<UOp> loads_;
  bool takes_turns_;  // in each of which the columns are near
  bool can_overlap_;  // an iteration may be run twice
  UOp stored_;        // the place written
  double turns_;      // of the reduction, per element
  const MachineModel machine_;
  std::int64_t full_;  // lanes of a full register
  Tile best_;
};

// Each of two loads misses an output loop that the other varies over.
bool is_contraction(const KernelState& k, UOp reduce) {
  const std::vector<UOp> all = loads(reduce.src(0));
  auto misses = [&](UOp a, UOp b) {
    return std::any_of(k.loops.begin(), k.loops.end(), [&](UOp r) {
      return r.range_size() >= MachineModel::least_reuse && !a.src(0).varies_over(r) &&
             b.src(0).varies_over(r);
    });
  };
  for (UOp a : all) {
    for (UOp b : all) {
      if (a != b && misses(a, b) && misses(b, a)) return true;
    }
  }
  return false;
}

// The contraction of the kernel, or null.  Beside it there may be reductions over the same loops,
// and small ones that can be unrolled.
UOp find_contraction(const KernelState& k) {
  UOp best;
  for (UOp u : reduces(k.sink)) {
    if (!is_at_full_depth(k, u) || !is_contraction(k, u)) continue;
    if (!best || iterations(closed_ranges(u)) > iterations(closed_ranges(best))) best = u;
  }
  if (!best) return UOp();
  for (UOp u : reduces(k.sink)) {
    if (closed_ranges(u) != closed_ranges(best) && !is_small_reduction(u)) return UOp();
  }
  return best;
}

class Tiler {
 public:
  Tiler(KernelState& k, const Tile& tile) : k_(k), machine_(k.caps()), tile_(tile) {}

  void run() {
    cut_registers();
    turn_ = turn_of_rows();
    block_rows();
    arrange();
    if (turn_ > 0) accumulate_rows();
    stage_operands();
    unroll_small_reductions();
  }

 private:
  void cut_registers() {
    if (tile_.in_reduction) {
      cut_reduction_lanes();
    } else if (tile_.overlaps) {
      const SplitRange parts = split_overlapping(k_, tile_.lane, tile_.lanes * tile_.num_columns);
      column_loop_ = parts.outer;
      const SplitRange vectors = split(k_, parts.inner, tile_.lanes);
      lane_ = bind(k_, vectors.inner, LoopKind::Lane);
      if (vectors.outer.is(Op::Range)) column_unroll_ = bind(k_, vectors.outer, LoopKind::Unroll);
    } else {
      const std::int64_t vectors = tile_.lane.is_open() ? tile_.num_columns : 1;
      const UOp padded = pad(k_, tile_.lane, tile_.lanes * vectors);
      const SplitRange parts = split(k_, padded, tile_.lanes);
      lane_ = bind(k_, parts.inner, LoopKind::Lane);
      if (parts.outer.is(Op::Range))
        cut(parts.outer, tile_.num_columns, column_loop_, column_unroll_);
    }
    if (tile_.rows) cut(tile_.rows, tile_.num_rows, row_loop_, row_unroll_);
  }

  void cut_reduction_lanes() {
    const SplitRange parts = split_reduction(k_, pad(k_, tile_.lane, tile_.lanes), tile_.lanes);
    lane_ = bind(k_, parts.inner, LoopKind::Lane);
    cut(tile_.columns, tile_.num_columns, column_loop_, column_unroll_);
  }

  // Unrolls `count` values of a loop; what is left of the loop goes to `loop`, null if nothing is.
  void cut(UOp range, std::int64_t count, UOp& loop, UOp& unrolled) {
    const SplitRange parts = can_cut(range, count) ? split(k_, pad(k_, range, count), count)
                                                   : split_overlapping(k_, range, count);
    if (parts.outer.is(Op::Range)) loop = parts.outer;
    if (parts.inner.is(Op::Range)) unrolled = bind(k_, parts.inner, LoopKind::Unroll);
  }

  bool is_tile_loop(UOp r) const {
    return r == lane_ || r == column_loop_ || r == column_unroll_ || r == row_loop_ ||
           r == row_unroll_;
  }

  // Other loops, blocks of rows, columns, rows, and the unrolled ones last.  Other loops that only
  // rows vary over are as good as loops over rows: inside of the columns they share a panel.
  void arrange() {
    std::vector<UOp> order, shared;
    const bool shares = contraction() && are_rows_near();
    for (UOp r : k_.loops) {
      if (is_tile_loop(r) || r == block_loop_) continue;
      (shares && shares_columns(r) ? shared : order).push_back(r);
    }
    auto add = [&](UOp r) {
      if (r && std::find(k_.loops.begin(), k_.loops.end(), r) != k_.loops.end()) order.push_back(r);
    };
    add(block_loop_);
    add(column_loop_);
    order.insert(order.end(), shared.begin(), shared.end());
    for (UOp r : {row_loop_, row_unroll_, column_unroll_, lane_}) add(r);
    reorder(k_, order);
  }

  // Whether what the lanes read stays the same in all turns of the loop.
  bool shares_columns(UOp loop) const {
    if (!is_parallel(loop) || block_loop_ || !column_loop_ || tile_.in_reduction) return false;
    if (!column_loop_.is_open() && column_loop_.range_size() < machine_.threads) return false;
    return std::ranges::none_of(loads(contraction().src(0)), [&](UOp load) {
      const UOp place = load.src(0);
      return place.varies_over(lane_) && place.varies_over(loop);
    });
  }

  // What all tiles of rows read, each column anew, stays in the L2 cache.
  bool are_rows_near() const {
    double bytes = 0;
    for (UOp load : loads(contraction().src(0))) {
      const UOp place = load.src(0);
      double elements = place.varies_over(lane_) ? 0 : 1;
      for (UOp r : k_.loops)
        elements *= place.varies_over(r) ? static_cast<double>(r.range_size()) : 1;
      for (UOp r : reduced())
        elements *= place.varies_over(r) ? static_cast<double>(r.range_size()) : 1;
      bytes += elements * static_cast<double>(size_of(load.dtype()));
    }
    return bytes <= static_cast<double>(machine_.tile_bytes);
  }

  // The reduction that is tiled: the only one that loops.  (Lanes of a reduction are combined by
  // another one around it.)
  UOp contraction() const {
    for (UOp u : reduces(k_.sink)) {
      for (UOp r : closed_ranges(u)) {
        if (r.loop_kind() == LoopKind::Reduce) return u;
      }
    }
    return UOp();
  }

  std::vector<UOp> reduced() const {
    const UOp u = contraction();
    return u ? closed_ranges(u) : std::vector<UOp>{};
  }

  std::int64_t element_bytes() const { return widest_bytes(k_.sink); }

  // A block of rows: half the L2 cache holds it, or its sums.
  void block_rows() {
    if (!row_loop_ || tile_.in_reduction) return;
    const bool has_columns =
        column_loop_ && column_loop_.range_size() >= machine_.least_blocked_columns;
    if (turn_ == 0 && !has_columns) return;
    const std::int64_t along = turn_ > 0 ? columns() : iterations(reduced());
    const std::int64_t row_tile = along * tile_.num_rows * element_bytes();
    std::int64_t rows = rows_of_block(std::max<std::int64_t>(1, machine_.tile_bytes / row_tile));
    const std::int64_t blocks = machine_.blocks_per_thread * machine_.threads;
    const bool by_columns = has_columns && contraction() && columns_feed(blocks);
    // Leave each thread some blocks.
    while (!by_columns && rows > machine_.least_blocked_rows &&
           row_loop_.range_size() / rows < blocks) {
      rows = rows_of_block(rows - 1);
    }
    if (rows < machine_.least_blocked_rows || rows >= row_loop_.range_size()) return;
    const SplitRange parts = can_cut(row_loop_, rows) ? split(k_, row_loop_, rows)
                                                      : split_overlapping(k_, row_loop_, rows);
    block_loop_ = parts.outer;
    row_loop_ = parts.inner;
  }

  // At most so many tiles: a divisor of what there is, unless that is far less and blocks may
  // overlap.
  std::int64_t rows_of_block(std::int64_t most) const {
    const std::int64_t even = largest_divisor(row_loop_.trip_divisor(), most);
    const std::int64_t all = row_loop_.range_size();
    if (row_loop_.is_open() || 2 * even > most || most >= all || loads_what_it_stores(k_.sink)) {
      return even;
    }
    const std::int64_t blocks = (all + most - 1) / most;
    return (all + blocks - 1) / blocks;
  }

  // Whether the threads had better share the columns: each block of rows fills all panels anew,
  // which a short one does not make up for.
  bool columns_feed(std::int64_t blocks) const {
    if (column_loop_.trip_divisor() % blocks != 0) return false;
    if (row_loop_.range_size() * tile_.num_rows >= blocks * machine_.least_panel_rows) return false;
    return std::ranges::all_of(loads(contraction().src(0)), [&](UOp load) {
      const UOp place = load.src(0);
      return !place.varies_over(row_loop_) || follows_reduction(place);
    });
  }

  std::int64_t columns() const {
    const std::int64_t tiles = column_loop_ ? column_loop_.range_size() : 1;
    return tiles * tile_.num_columns * tile_.lanes;
  }

  // How far a long reduction over rows of memory goes at a time, so that the L1 cache holds a
  // tile's columns of these rows; 0 if it need not go in turns.
  std::int64_t turn_of_rows() const {
    if (tile_.in_reduction || !row_loop_ || row_loop_.is_open()) return 0;
    if (!contraction() || !can_take_turns(k_, contraction())) return 0;
    if (columns() * tile_.num_rows * element_bytes() > machine_.tile_bytes) return 0;
    const std::int64_t size = reduced()[0].range_size();
    const std::int64_t turn = largest_divisor(
        size, machine_.turn_bytes / (tile_.num_columns * tile_.lanes * element_bytes()));
    return turn < machine_.shortest_turn || size / turn < machine_.least_turns ? 0 : turn;
  }

  // From here on the loops of the tile are those of a turn.
  void accumulate_rows() {
    std::vector<UOp*> loops;
    std::vector<UOp> over;
    for (UOp* r : {&column_loop_, &row_loop_, &row_unroll_, &column_unroll_, &lane_}) {
      if (std::ranges::find(k_.loops, *r) == k_.loops.end()) continue;
      loops.push_back(r);
      over.push_back(*r);
    }
    const TurnLoops turn = accumulate(k_, reduced()[0], over, turn_);
    for (std::size_t i = 0; i < loops.size(); i++) *loops[i] = turn.over[i];
  }

  std::vector<UOp> inner(std::initializer_list<UOp> before,
                         std::initializer_list<UOp> after) const {
    std::vector<UOp> result;
    auto add = [&](UOp r) {
      if (r && r.is(Op::Range)) result.push_back(r);
    };
    for (UOp r : before) add(r);
    for (UOp r : reduced()) add(r);
    for (UOp r : after) add(r);
    return result;
  }

  void stage_operands() {
    if (tile_.in_reduction) return;
    const UOp reduce = contraction();
    for (UOp load : reduce ? loads(reduce.src(0)) : std::vector<UOp>{}) {
      const UOp place = load.src(0);
      if (place.varies_over(lane_)) {
        const bool reused = row_loop_ && !place.varies_over(row_loop_) &&
                            row_loop_.range_size() >= machine_.least_reuse;
        if (reused && is_scattered(place))
          stage_if_it_fits(load, inner({}, {column_unroll_, lane_}));
      } else if (block_loop_ && row_unroll_ && place.varies_over(row_unroll_) &&
                 (!follows_reduction(place) || rows_collide(place))) {
        stage_if_it_fits(load, inner({row_loop_}, {row_unroll_}));
      }
    }
  }

  // The elements of one tile do not simply follow each other in memory.
  bool is_scattered(UOp place) const {
    if (place.num_src() > 2 || along(place, lane_) != Along::Contiguous) return true;
    std::int64_t steps = 1;
    for (UOp r : reduced()) {
      const Stride s = stride_over(place.src(1), r);
      if (!s.affine || s.step * element_bytes() >= machine_.far_bytes) steps *= r.range_size();
    }
    return steps >= machine_.many_rows;
  }

  // Each row of the tile is read in order, which needs no copy.
  bool follows_reduction(UOp place) const {
    const std::vector<UOp> ranges = reduced();
    return place.num_src() == 2 && !ranges.empty() &&
           along(place, ranges.back()) == Along::Contiguous;
  }

  // The rows of the tile lie so far apart that they take each other's place in the L1 cache: what
  // is a multiple of `set_bytes` apart shares a set of a few lines, and what else is read needs
  // some.
  bool rows_collide(UOp place) const {
    const Stride s = stride_over(place.src(1), row_unroll_);
    if (!s.affine || s.step == 0) return false;
    const std::int64_t apart = std::abs(s.step) * size_of(place.dtype());
    const std::int64_t sets = MachineModel::set_bytes / std::gcd(apart, MachineModel::set_bytes);
    return tile_.num_rows > sets * machine_.l1_ways / 2;
  }

  void stage_if_it_fits(UOp load, const std::vector<UOp>& inside) {
    if (tile_bytes(load, inside) > machine_.tile_bytes) return;
    try_stage(k_, load, inside, Space::Thread, tile_.lanes);
  }

  void unroll_small_reductions() {
    std::int64_t copies = tile_.num_rows * tile_.num_columns;
    std::vector<UOp> ranges = reduced();
    while (ranges.size() > 1 && !ranges.back().is_open() &&
           ranges.back().range_size() <= machine_.longest_window &&
           copies * ranges.back().range_size() <= machine_.most_unrolled) {
      copies *= ranges.back().range_size();
      bind(k_, ranges.back(), LoopKind::Unroll);
      ranges.pop_back();
    }
  }

  KernelState& k_;
  const MachineModel machine_;
  const Tile tile_;
  std::int64_t turn_ = 0;  // iterations of the reduction in one; 0: it has no turns
  UOp lane_, column_loop_, column_unroll_, row_loop_, row_unroll_, block_loop_;
};

}  // namespace

bool tile_contraction(KernelState& k) {
  if (k.caps().vector_bytes < 16 || work_of(k.sink) < MachineModel::least_work) return false;
  if (k.sink.num_src() > 1) return false;  // tiles are of one result
  UOp reduce = find_contraction(k);
  if (!reduce) return false;
  const std::vector<UOp> kept = closed_ranges(reduce);
  unroll_small_reductions(k, kept);
  for (UOp u : reduces(k.sink)) {
    if (closed_ranges(u) == kept) reduce = u;
  }
  const Tile tile = Search(k, reduce).best();
  if (!tile.lane) return false;
  Tiler(k, tile).run();
  return true;
}

}  // namespace croze
