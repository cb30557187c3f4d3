// tiler.cpp -- the loops of a contraction, cut for a register tile and the caches.
//
// Around the register tile stand blocks, each made for a cache (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008):
//
//     for blocks of rows:               rows of a block, in a turn: the L2 cache
//       for blocks of columns:          sums of a block: fetched and put back in each turn
//         for turns:                    columns of a tile, in a turn: the L1 cache
//           for columns in block:
//             for rows in block:
//               tile
//
// A reduction that is short enough has no turns, and then sums need not wait and columns no blocks.
// Where rows can be streamed from beyond the caches there are no blocks of them either: each panel
// of columns, longer then, stays in the L2 cache and meets all rows.  And where the reduction is so
// short that most of the time goes to the result, its rows are written one after the other
// (result_order.h).
// An operand whose elements for one tile lie far apart is staged: columns as a panel inside of
// their loop, which every tile of rows reuses, rows as a block outside of it, which every panel
// does.
#include "croze/codegen/choose/tiles/tiler.h"

#include <algorithm>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/tiles/block_size.h"
#include "croze/codegen/choose/tiles/panels.h"
#include "croze/codegen/choose/tiles/result_order.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/stage.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

class Tiler {
 public:
  Tiler(KernelState& k, const RegisterTile& tile) : k_(k), machine_(k.caps()), tile_(tile) {}

  // False, and the kernel is of no use, where the unit of the tile does not take what it is given.
  bool run() {
    cut_registers();
    if (unit() && !contract_terms()) return false;
    column_tiles_ = column_tiles();
    turn_ = row_loop_ ? tile_.turn : 0;
    block_rows();
    if (turn_ > 0) choose_loops_of_turn();
    along_result_ = cut_along_result();
    arrange();
    if (turn_ > 0) take_turns();
    stage_operands();
    if (unit() && !are_terms_together()) return false;
    unroll_small_reductions();
    unroll_turns();
    return true;
  }

 private:
  bool contract_terms() {
    const Edit edit{.kind = EditKind::Contract,
                    .ranges = {lane_.range_id(), tile_.by_unit.depth.range_id()},
                    .size = tile_.by_unit.unit};
    if (!is_legal(k_, edit)) return false;
    const UOp innermost =
        contract(k_, lane_, std::span(&tile_.by_unit.depth, 1), tile_.by_unit.unit);
    const std::vector<UOp> all = reduces(k_.sink);
    depths_ = depths_of(*std::ranges::find_if(all, [&](UOp u) { return closes(u, innermost); }));
    return static_cast<bool>(contraction());
  }

  // Whether what an instruction takes of an operand is one vector in memory.
  bool are_terms_together() const {
    const std::vector<UOp> all = reduces(k_.sink);
    const auto reduce = std::ranges::find_if(all, [&](UOp u) { return closes(u, depths_[0]); });
    ContractionPlan plan;
    if (reduce == all.end() ||
        !plan_contraction(k_.sink, *reduce, lane_, depths_, *unit(), &plan).empty())
      return false;
    return is_in_one_piece(plan.a, a_loops()) && is_in_one_piece(plan.b, b_loops());
  }
  // The loops of what it takes of an operand, outermost first.
  std::vector<UOp> a_loops() const {
    std::vector<UOp> loops = depths_;
    if (unit_rows_) loops.insert(loops.begin(), unit_rows_);
    return loops;
  }
  std::vector<UOp> b_loops() const {
    std::vector<UOp> loops = depths_;
    loops.insert(loops.end() - 1, lane_);
    return loops;
  }

  // That multiplies; null if none does.
  const MatrixUnit* unit() const {
    const std::int64_t number = tile_.by_unit.unit;
    return number > 0 ? k_.caps().matrix_units[static_cast<std::size_t>(number - 1)] : nullptr;
  }

  void cut_registers() {
    if (tile_.in_reduction) {
      cut_reduction_lanes();
    } else if (tile_.columns != tile_.lane) {
      const SplitRange parts = tile_.overlaps
                                   ? split_overlapping(k_, tile_.lane, tile_.lanes)
                                   : split(k_, pad(k_, tile_.lane, tile_.lanes), tile_.lanes);
      lane_ = bind(k_, parts.inner, LoopKind::Lane);
      if (parts.outer.is(Op::Range)) column_loop_ = parts.outer;
      UOp others;  // extends the columns
      cut(tile_.columns, tile_.num_columns, others, column_unroll_);
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
  // Rows that a unit makes at once are copies of the code of their own.
  void cut(UOp range, std::int64_t count, UOp& loop, UOp& unrolled) {
    SplitRange parts = can_cut(range, count) ? split(k_, pad(k_, range, count), count)
                                             : split_overlapping(k_, range, count);
    if (parts.outer.is(Op::Range)) loop = parts.outer;
    if (unit() && unit()->rows > 1 && range == tile_.rows) {
      parts = split(k_, parts.inner, unit()->rows);
      unit_rows_ = bind(k_, parts.inner, LoopKind::Unroll);
      parts.inner = parts.outer;
    }
    if (parts.inner.is(Op::Range)) unrolled = bind(k_, parts.inner, LoopKind::Unroll);
  }

  bool is_tile_loop(UOp r) const {
    return r == lane_ || r == column_loop_ || r == column_unroll_ || r == row_loop_ ||
           r == row_unroll_ || r == unit_rows_;
  }
  // One that only what differs between the rows of a tile varies over; null if it has one row.
  UOp row_in_tile() const { return unit_rows_ ? unit_rows_ : row_unroll_; }

  // Other loops, blocks, columns, rows, and the unrolled ones last.  Other loops that only rows
  // vary over are as good as loops over rows: inside of the columns they share a panel, but not
  // inside of columns whose sums wait, which would be summed up for each of them.  And those that
  // only columns vary over are as good as loops over columns: inside of a block they share its
  // rows.
  void arrange() {
    std::vector<UOp> order, shared, along;
    const bool shares = turn_ == 0 && contraction() && are_rows_near();
    for (UOp r : k_.loops) {
      if (is_tile_loop(r) || r == block_loop_ || r == column_block_ || is_in_turn(r)) continue;
      const bool shares_block = has_block() && turn_ == 0 && extends_columns(r);
      (shares && shares_columns(r) ? shared : shares_block ? along : order).push_back(r);
    }
    auto add = [&](UOp r) {
      if (r && std::find(k_.loops.begin(), k_.loops.end(), r) != k_.loops.end()) order.push_back(r);
    };
    add(block_loop_);
    add(column_block_);
    for (UOp r : in_turn_) add(r);
    order.insert(order.end(), along.begin(), along.end());
    if (along_result_) {
      order.insert(order.end(), shared.begin(), shared.end());
      for (UOp r : {row_loop_, column_loop_}) add(r);
    } else {
      add(column_loop_);
      order.insert(order.end(), shared.begin(), shared.end());
      add(row_loop_);
    }
    for (UOp r : {row_unroll_, column_unroll_, unit_rows_, lane_}) add(r);
    reorder(k_, order);
  }

  bool is_in_turn(UOp loop) const { return std::ranges::find(in_turn_, loop) != in_turn_.end(); }

  // Whether tiles go along the rows of the result.  Columns of which the L2 cache does not hold all
  // are cut in blocks for it.
  bool cut_along_result() {
    if (turn_ > 0 || block_loop_ || tile_.in_reduction || unit() || !contraction()) return false;
    const TileLoops loops{lane_, column_unroll_, row_unroll_, column_loop_, row_loop_};
    if (!follows_result(k_, reduced(), loops, machine_)) return false;
    const std::int64_t columns = columns_along_result(contraction(), reduced(), loops, machine_);
    const std::int64_t all = column_loop_.range_size();
    if (columns == 0) return false;
    const bool in_blocks = columns < all || other_tasks() < machine_.threads;
    if (in_blocks && column_loop_.is_open()) return false;
    if (in_blocks && all / columns < machine_.wanted_blocks()) return false;
    if (in_blocks)
      column_block_ = cut_block(column_loop_, tiles_of_block(k_, column_loop_, columns));
    return true;
  }

  // Whether the columns vary over a loop and the rows do not, as over the lines of a picture.
  bool extends_columns(UOp loop) const {
    const UOp row = row_in_tile();
    if (!is_parallel(loop) || loop.is_open() || !row || tile_.in_reduction) return false;
    bool extends = false;
    for (UOp load : loads(contraction().src(0))) {
      const UOp place = load.src(0);
      if (!place.varies_over(loop)) continue;
      if (place.varies_over(row)) return false;
      extends = extends || place.varies_over(lane_);
    }
    return extends;
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
    std::vector<UOp> all = k_.loops;
    for (UOp r : reduced()) all.push_back(r);
    double bytes = 0;
    for (UOp load : loads(contraction().src(0))) {
      if (!load.src(0).varies_over(lane_)) bytes += bytes_over(load, all);
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

  // But for the terms that a unit takes at once.
  std::vector<UOp> reduced() const {
    const UOp u = contraction();
    std::vector<UOp> ranges = u ? closed_ranges(u) : std::vector<UOp>{};
    std::erase_if(ranges, [](UOp r) { return r.loop_kind() == LoopKind::Depth; });
    return ranges;
  }

  std::int64_t element_bytes() const { return widest_bytes(k_.sink); }

  // Iterations of the reduction in a turn.
  std::int64_t turn_length() const {
    const std::vector<UOp> ranges = reduced();
    return turn_ > 0 ? turn_ * iterations(std::span(ranges).subspan(1)) : iterations(ranges);
  }

  std::int64_t column_tiles() const {
    if (tile_.in_reduction || !contraction()) return 1;
    std::int64_t tiles = column_loop_ ? column_loop_.range_size() : 1;
    for (UOp r : k_.loops) {
      if (!is_tile_loop(r) && extends_columns(r)) tiles *= r.range_size();
    }
    return tiles;
  }

  // Bytes that the sums of one register tile take where they wait.
  std::int64_t bytes_of_sums() const {
    return tile_.num_rows * tile_.num_columns * tile_.lanes * element_bytes();
  }

  // A block of rows: half of the L2 cache holds what a turn reads of it.
  void block_rows() {
    if (!row_loop_ || tile_.in_reduction || tile_.streams_rows || !contraction()) return;
    // Of a unit the copy may not fit else, and without blocks there is none of what lies in pieces.
    const bool must_block = (unit() && copies_rows()) || has_rows_in_pieces();
    if (turn_ == 0 && column_tiles_ < machine_.least_blocked_columns && !must_block) {
      if (rows_feed())
        block_loop_ = cut_block(row_loop_, row_loop_.range_size() / machine_.threads);
      return;
    }
    const std::int64_t bytes = unit() ? unit()->depth * size_of(unit()->a) : element_bytes();
    const std::int64_t row_tile = turn_length() * tile_.num_rows * bytes;
    const std::int64_t blocks = machine_.wanted_blocks();
    const std::int64_t others = other_tasks();
    const bool others_feed =
        tile_.columns_feed ||
        (others >= blocks &&
         machine_.unevenness(static_cast<double>(others)) <= MachineModel::most_uneven);
    // Leave each thread some blocks.
    const std::int64_t most =
        others_feed
            ? row_loop_.range_size()
            : std::max(machine_.least_blocked_rows, (row_loop_.range_size() + blocks - 1) / blocks);
    const std::int64_t rows = tiles_of_block(
        k_, row_loop_, std::clamp<std::int64_t>(machine_.tile_bytes / row_tile, 1, most));
    const bool all = rows >= row_loop_.range_size();
    copies_all_rows_ = all && !unit() && turn_ == 0 && others_feed && has_rows_apart();
    if (rows < machine_.least_blocked_rows || all) return;
    block_loop_ = cut_block(row_loop_, rows);
  }

  // Whether the threads had better share the rows: of the columns they would have uneven shares,
  // and that each fills all panels by itself is little beside what it multiplies.
  bool rows_feed() const {
    const std::int64_t tasks = other_tasks() * (column_loop_ ? column_loop_.range_size() : 1);
    const std::int64_t tiles = row_loop_.range_size(), share = tiles / machine_.threads;
    const bool is_uneven =
        tasks > 1 && machine_.unevenness(static_cast<double>(tasks)) > MachineModel::most_uneven;
    if (unit() || !is_uneven || tiles % machine_.threads != 0) return false;
    if (share * tile_.num_rows < machine_.least_fed_rows) return false;
    if (row_loop_.trip_divisor() % share != 0) return false;  // open: the shares may not be whole
    const std::vector<UOp> all = loads(contraction().src(0));
    return std::ranges::any_of(all, [&](UOp l) { return fills_panel(l.src(0)); }) &&
           std::ranges::none_of(all, [&](UOp l) {
             return l.src(0).varies_over(lane_) && along(l.src(0), lane_) != Along::Contiguous;
           });
  }
  // Whether columns are copied for all tiles of rows.
  bool fills_panel(UOp place) const {
    const bool is_shared = row_loop_ && !place.varies_over(row_loop_);
    return place.varies_over(lane_) &&
           (is_shared ? row_loop_.range_size() : 1) >= least_uses_of_panel(place, lane_, reduced());
  }

  bool has_block() const { return block_loop_ || copies_all_rows_; }
  // Whether rows lie side by side, those of each step of the reduction far from the others, and
  // enough tiles read them that a copy pays.
  bool has_rows_in_pieces() const {
    return !unit() && row_unroll_ && column_tiles_ >= MachineModel::least_reuse &&
           std::ranges::any_of(loads(contraction().src(0)), [&](UOp load) {
             const UOp place = load.src(0);
             return !place.varies_over(lane_) && place.num_src() == 2 &&
                    along(place, row_unroll_) == Along::Contiguous && !follows_reduction(place) &&
                    far_steps(place, reduced()) >= MachineModel::many_rows;
           });
  }
  // Whether rows lie neither side by side nor in the order of the reduction.
  bool has_rows_apart() const {
    return row_unroll_ && std::ranges::any_of(loads(contraction().src(0)), [&](UOp load) {
             const UOp place = load.src(0);
             return !place.varies_over(lane_) && along(place, row_unroll_) == Along::Strided &&
                    !follows_reduction(place);
           });
  }

  // Whether what a unit takes at once does not lie side by side in rows.
  bool has_terms_apart(UOp place) const {
    return place.num_src() > 2 || unit_rows_ || along(place, depths_.back()) != Along::Contiguous;
  }
  bool copies_rows() const {
    return std::ranges::any_of(loads(contraction().src(0)), [&](UOp load) {
      return !load.varies_over(lane_) && has_terms_apart(load.src(0));
    });
  }

  // Cuts a loop in blocks of so many iterations; the loop becomes that of a block.  Returns the one
  // over the blocks.
  UOp cut_block(UOp& loop, std::int64_t size) {
    const SplitRange parts =
        can_cut(loop, size) ? split(k_, loop, size) : split_overlapping(k_, loop, size);
    loop = parts.inner;
    return parts.outer;
  }

  // Iterations of the loops that are none of the tile's or the turn's.
  std::int64_t other_tasks() const {
    std::int64_t tasks = 1;
    for (UOp r : k_.loops) {
      if (is_parallel(r) && !is_tile_loop(r) && !is_in_turn(r)) tasks *= r.range_size();
    }
    return tasks;
  }

  // The loops over columns of which all sums wait in the L2 cache between turns: as many as fit.
  // There are no turns without a loop around them that tasks can be made of.
  void choose_loops_of_turn() {
    if (tile_.streams_rows) {
      std::swap(column_block_, column_loop_);
      return;
    }
    const std::int64_t room = machine_.sums_bytes / (row_loop_.range_size() * bytes_of_sums());
    const std::int64_t columns = column_loop_ ? column_loop_.range_size() : 1;
    const std::int64_t most = std::min(room, most_columns_of_block(columns));
    if (most < columns) {
      if (most > 0) column_block_ = cut_block(column_loop_, tiles_of_block(k_, column_loop_, most));
    } else {
      extend_turn(room / columns);
    }
    const bool feeds =
        block_loop_ || column_block_ || machine_.threads == 1 || other_tasks() >= machine_.threads;
    if (room < 1 || !feeds) turn_ = 0;
  }

  // Other loops over columns, from the innermost on, that have room for their sums.
  void extend_turn(std::int64_t room) {
    for (std::size_t i = k_.loops.size(); i-- > 0;) {
      const UOp r = k_.loops[i];
      if (is_tile_loop(r) || !extends_columns(r)) continue;
      if (r.range_size() > room || other_tasks() / r.range_size() < machine_.wanted_blocks())
        return;
      in_turn_.insert(in_turn_.begin(), r);
      room /= r.range_size();
    }
  }

  // Each thread wants blocks: of columns, where there are too few of rows.
  std::int64_t most_columns_of_block(std::int64_t columns) const {
    const std::int64_t rows = block_loop_ ? block_loop_.range_size() : other_tasks();
    if (rows >= machine_.threads || !column_loop_) return columns;
    return shared_tiles(k_, column_loop_, machine_);
  }

  // From here on the loops of the tile are those of a turn.
  void take_turns() {
    std::vector<UOp*> loops;
    for (UOp& r : in_turn_) loops.push_back(&r);
    for (UOp* r : {&column_loop_, &row_loop_, &row_unroll_, &column_unroll_, &unit_rows_, &lane_}) {
      if (std::ranges::find(k_.loops, *r) != k_.loops.end()) loops.push_back(r);
    }
    std::vector<UOp> over;
    for (UOp* r : loops) over.push_back(*r);
    const auto turn = try_accumulate(k_, reduced()[0], over, turn_);
    for (std::size_t i = 0; turn && i < loops.size(); i++) *loops[i] = turn->over[i];
  }

  std::vector<UOp> inner(std::initializer_list<UOp> before, const std::vector<UOp>& after) const {
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
        if (unit()) {
          stage_if_it_fits(load, inner({}, with(column_unroll_, b_loops())));
        } else if (fills_panel(place)) {
          stage_if_it_fits(load,
                           inner({along_result_ ? column_loop_ : UOp()}, {column_unroll_, lane_}));
        }
      } else if (unit() && has_terms_apart(place)) {
        stage_if_it_fits(load, inner({row_loop_}, with(row_unroll_, a_loops())),
                         copied_at_once(place));
      } else if ((has_block() || turn_ > 0) && row_unroll_ && place.varies_over(row_unroll_)) {
        stage_rows(load);
      }
    }
  }

  static std::vector<UOp> with(UOp first, std::vector<UOp> loops) {
    loops.insert(loops.begin(), first);
    return loops;
  }

  // Rows that are read in order need no copy.  Nor do those that lie side by side, of which a tile
  // reads a piece of a line at each step, unless many do, or some where steps lie far apart. Others
  // are laid out as the tile reads them.
  void stage_rows(UOp load) {
    const UOp place = load.src(0);
    const bool side_by_side =
        along(place, row_unroll_) == Along::Contiguous && place.num_src() == 2;
    const std::int64_t blocks = column_block_ ? column_block_.range_size() : 1;
    const bool reused = column_tiles_ >= blocks * least_uses_of_rows(place, reduced(), machine_);
    if (follows_reduction(place) || (side_by_side && !reused)) return;
    stage_if_it_fits(load, inner({row_loop_}, with(row_unroll_, depths_)));
  }

  // Each row of the tile is read in order, which needs no copy.
  bool follows_reduction(UOp place) const {
    const std::vector<UOp> ranges = reduced();
    return place.num_src() == 2 && !ranges.empty() && follows(place, ranges.back());
  }

  // Elements of rows: as they lie, or as many as their sums.
  std::int64_t copied_at_once(UOp place) const {
    const bool as_it_lies =
        place.num_src() == 2 && along(place, depths_.back()) == Along::Contiguous;
    return as_it_lies ? machine_.vector_bytes / size_of(place.dtype()) : tile_.lanes;
  }

  void stage_if_it_fits(UOp load, const std::vector<UOp>& inside) {
    stage_if_it_fits(load, inside, tile_.lanes);
  }
  void stage_if_it_fits(UOp load, const std::vector<UOp>& inside, std::int64_t lanes) {
    if (tile_bytes(load, inside) > machine_.tile_bytes) return;
    try_stage(k_, load, inside, Space::Thread, lanes);
  }

  void unroll_small_reductions() {
    std::int64_t copies = tile_.num_rows * tile_.num_columns;
    if (unit_rows_) copies /= unit_rows_.range_size();
    std::vector<UOp> ranges = reduced();
    const std::size_t turning = loops_that_turn(ranges, copies);
    for (; ranges.size() > turning; ranges.pop_back()) bind(k_, ranges.back(), LoopKind::Unroll);
  }

  // Some turns of the reduction's innermost loop become one: they count and find their addresses
  // once, and fetch each line of the rows to come once.  Rows of which each turn reads other lines
  // would be too many lines to fetch.  A choice is a jump, before which what all rows are is
  // loaded: where sums take most registers they would have to make room for it.
  void unroll_turns() {
    if (unit() || tile_.in_reduction || !contraction()) return;
    std::int64_t copies = tile_.num_rows * tile_.num_columns;
    const bool chooses = chooses_vectors(contraction().src(0), lane_);
    if (do_turns_read_other_lines() || (chooses && 4 * copies > 3 * machine_.registers)) return;
    for (UOp r : closed_ranges(contraction())) {
      if (r.loop_kind() == LoopKind::Unroll) copies *= r.range_size();
    }
    const UOp last = reduced().back();
    const bool turns_often = last.loop_kind() == LoopKind::Reduce && !last.is_open();
    if (!turns_often || copies >= machine_.most_in_turn) return;
    const std::int64_t turns = largest_divisor(last.range_size(), machine_.most_in_turn / copies);
    if (turns > 1 && turns < last.range_size())
      bind(k_, split(k_, last, turns).inner, LoopKind::Unroll);
  }

  bool do_turns_read_other_lines() const {
    const UOp last = reduced().back();
    return std::ranges::any_of(loads(contraction().src(0)), [&](UOp load) {
      const UOp place = load.src(0);
      return place.src(0).is(Op::Param) && place.varies_over(last) && !place.varies_over(lane_) &&
             !follows(place, last);
    });
  }

  KernelState& k_;
  const MachineModel machine_;
  const RegisterTile tile_;
  std::int64_t column_tiles_ = 1;  // that a tile of rows meets
  std::int64_t turn_ = 0;          // iterations of the reduction in one; 0: it has no turns
  bool copies_all_rows_ = false;   // a block of all rows, without a loop over blocks
  bool along_result_ = false;      // the loop over columns stands in that over rows
  std::vector<UOp> in_turn_;       // other loops that a turn goes over, outermost first
  UOp lane_, column_loop_, column_unroll_, row_loop_, row_unroll_, block_loop_, column_block_;
  // What a unit takes at once: terms, outermost first, and rows, of which the loop is null if it is
  // one.
  std::vector<UOp> depths_;
  UOp unit_rows_;
};

}  // namespace

bool apply_tile(KernelState& k, const RegisterTile& tile) { return Tiler(k, tile).run(); }

}  // namespace croze
