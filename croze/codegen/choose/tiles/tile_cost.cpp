// tile_cost.cpp -- multiply-adds against loads.
//
// A vector of columns is loaded from the cache in which it stays from one tile of rows to the next.
// Columns that are scattered, or lie in lines far apart, are copied to a panel once for all tiles
// of rows of a block; rows are fetched for each tile of columns that does not find them in a cache.
// Between turns sums wait in a cache.
#include "croze/codegen/choose/tiles/tile_cost.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "croze/codegen/choose/access.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Sums may wait in a tile between turns: of the only reduction of the kernel, whose terms hold no
// loops and nothing that the kernel stores.
bool sums_can_wait(const KernelState& k, UOp reduce) {
  if (reduces(k.sink).size() > 1 || loads_what_it_stores(k.sink)) return false;
  return std::ranges::none_of(closed_ranges(reduce), &UOp::is_open);
}

std::vector<UOp> without(std::vector<UOp> ranges, UOp range) {
  if (range) std::erase(ranges, range);
  return ranges;
}

}  // namespace

Contraction::Contraction(const KernelState& k, UOp reduce, UnitTerms terms)
    : by_unit(terms),
      unit(terms.unit > 0 ? k.caps().matrix_units[static_cast<std::size_t>(terms.unit - 1)]
                          : nullptr),
      reduced(without(closed_ranges(reduce), terms.depth)),
      loads(croze::loads(reduce.src(0))),
      can_take_turns(sums_can_wait(k, reduce)),
      can_overlap(!loads_what_it_stores(k.sink) && !k.caps().packs_words),
      stored(k.sink.src(0).src(0)),
      inner_turns(iterations(std::span(reduced).subspan(1))),
      turns(static_cast<double>(iterations(reduced))),
      machine(k.caps()),
      full(full_lanes(k.sink, k.caps())) {
  std::copy_if(k.loops.begin(), k.loops.end(), std::back_inserter(loops), is_parallel);
  if (unit) return;  // it widens them itself
  std::ranges::copy_if(toposort(reduce.src(0)), std::back_inserter(computed), [&](UOp u) {
    return u != reduce.src(0) && is_elementwise(u.op()) && u.dtype() != DType::Index &&
           u.dtype() != DType::Bool;
  });
}

bool Contraction::suits_unit(const RegisterTile& t) const {
  if (!unit) return true;
  if (makes_tiles() && !t.rows) return false;
  return t.lanes == unit->columns && std::ranges::all_of(loads, [&](UOp l) {
           const bool is_b = l.varies_over(t.lane);
           const UOp others = is_b ? t.rows : t.columns;
           const bool has_rows = is_b || !makes_tiles() || l.varies_over(t.rows);
           return l.dtype() == (is_b ? unit->b : unit->a) && has_rows &&
                  !(others && l.varies_over(others));
         });
}

bool Contraction::fits_registers(std::int64_t rows, std::int64_t columns,
                                 std::int64_t temporaries) const {
  return makes_tiles() ? MachineModel::fits_tile_registers(rows / rows_at_once(), columns)
                       : machine.fits_registers(rows, columns, temporaries);
}

std::size_t loops_that_turn(std::span<const UOp> reduced, std::int64_t multiply_adds) {
  std::size_t turning = reduced.size();
  while (turning > 1) {
    const UOp last = reduced[turning - 1];
    if (last.is_open() || last.range_size() > MachineModel::longest_window) break;
    multiply_adds *= last.range_size();
    if (multiply_adds > MachineModel::most_unrolled) break;
    turning--;
  }
  return turning;
}

std::span<const UOp> TileCost::loops_that_turn(const RegisterTile& t) const {
  return std::span(c_.reduced)
      .first(croze::loops_that_turn(c_.reduced, t.num_rows * t.num_columns));
}

std::vector<RegisterTile> TileCost::ways(RegisterTile t) const {
  const std::int64_t near = near_turn(t);
  const std::optional<std::int64_t> streaming = streaming_turn(t);
  std::vector<RegisterTile> result{t};
  if (near > 0) {
    t.turn = near;
    result.push_back(t);
  }
  if (streaming) {
    t.turn = *streaming;
    t.streams_rows = true;
    result.push_back(t);
  }
  return result;
}

std::int64_t TileCost::near_turn(const RegisterTile& t) const {
  if (!c_.can_take_turns || !t.rows || t.rows.is_open() || t.lane.is_open()) return 0;
  if (copies_terms_of_rows(t)) return 0;  // once, not in each turn
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    if (place.varies_over(t.rows) && uses(place, t) < MachineModel::least_reuse) return 0;
  }
  return turn_within(panel_bytes(t), c_.machine.near_bytes);
}

std::int64_t TileCost::turn_within(double bytes_of_one, std::int64_t most) const {
  const auto room = static_cast<double>(most);
  if (bytes_of_one > room) return 0;
  const std::int64_t size = c_.reduced[0].range_size();
  const std::int64_t turn =
      bytes_of_one > 0 ? largest_divisor(size, static_cast<std::int64_t>(room / bytes_of_one))
                       : size;
  return turn == size || turn * c_.inner_turns < MachineModel::shortest_turn ? 0 : turn;
}

double TileCost::panel_bytes(const RegisterTile& t) const {
  double bytes = 0;
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    if (are_columns(place, t))
      bytes += static_cast<double>(copies(place.src(1), t) * t.lanes * c_.bytes_of(place));
  }
  return bytes * static_cast<double>(c_.inner_turns);
}

std::optional<std::int64_t> TileCost::streaming_turn(const RegisterTile& t) const {
  if (!t.rows || t.rows.is_open() || t.lane.is_open() || t.columns.is_open()) return {};
  if (std::ranges::any_of(c_.reduced, &UOp::is_open) || !has_streaming_rows(t)) return {};
  const double bytes = panel_bytes(t);
  const auto all = static_cast<double>(c_.reduced[0].range_size());
  if (bytes * all <= static_cast<double>(c_.machine.tile_bytes)) return 0;
  if (!c_.can_take_turns || row_tiles(t) > c_.machine.sums_bytes / bytes_of_sums(t)) return {};
  const std::int64_t turn = turn_within(bytes, c_.machine.tile_bytes / 2);
  return turn > 0 ? std::optional(turn) : std::nullopt;
}

double TileCost::unevenness(const RegisterTile& t) const {
  return c_.machine.unevenness(column_tiles(t) * other_iterations(t));
}

bool TileCost::fetches_rows(const RegisterTile& t) const {
  return t.streams_rows && loops_that_turn(t).back().range_size() > MachineModel::longest_window;
}

bool TileCost::has_streaming_rows(const RegisterTile& t) const {
  double bytes = 0;
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    if (!place.varies_over(t.rows)) continue;
    if (place.varies_over(t.lane) || place.varies_over(t.columns) || !follows_reduction(place) ||
        copies_terms_of_rows(t))
      return false;
    bytes += all_bytes(l);
  }
  return bytes > static_cast<double>(c_.machine.tile_bytes);
}

double TileCost::all_bytes(UOp load) const {
  const UOp buffer = load.src(0).src(0);
  const auto element = static_cast<double>(size_of(load.dtype()));
  const double bytes = bytes_over(load, c_.loops) * bytes_over(load, c_.reduced) / element *
                       static_cast<double>(c_.terms());
  if (!buffer.is(Op::Param)) return bytes;
  // Windows that overlap read no more than there is.
  return std::min(bytes, element * static_cast<double>(buffer.buffer_elements()));
}

std::int64_t TileCost::row_tiles(const RegisterTile& t) {
  return t.rows ? (t.rows.range_size() + t.num_rows - 1) / t.num_rows : 1;
}

double TileCost::column_tiles(const RegisterTile& t) {
  const auto tiles = [](UOp loop, std::int64_t in_tile) {
    return static_cast<double>((loop.range_size() + in_tile - 1) / in_tile);
  };
  if (t.columns == t.lane) return tiles(t.lane, t.lanes * t.num_columns);
  return tiles(t.lane, t.lanes) * tiles(t.columns, t.num_columns);
}

std::int64_t TileCost::bytes_of_sums(const RegisterTile& t) const {
  return t.num_rows * t.num_columns * t.lanes * (c_.machine.vector_bytes / c_.full);
}

double TileCost::multiplying(const RegisterTile& t) const {
  const auto sums = static_cast<double>(t.num_rows * t.num_columns);
  if (c_.makes_tiles()) {
    const auto least = static_cast<double>(MachineModel::tiles_in_flight * c_.rows_at_once());
    return std::max(sums, least) * c_.machine.unit_row();
  }
  return (std::max(sums, c_.machine.in_flight()) + operand_work(t) + shifting(t)) *
         c_.machine.multiply_add(t.lanes, c_.full);
}

double TileCost::loading(const RegisterTile& t) const {
  double load = 0;
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    std::int64_t vectors = copies(place.src(1), t);
    if (are_columns(place, t)) vectors *= vectors_of_columns();
    load += static_cast<double>(vectors) * std::max(load_cost(place, t), distance_cost(l, t));
  }
  return load;
}

// What the lanes multiply in a turn, in registers.
std::int64_t TileCost::vectors_of_columns() const {
  return c_.makes_tiles() ? c_.unit->columns * c_.bytes_of_turn() / c_.machine.vector_bytes : 1;
}

double TileCost::cycles(const RegisterTile& t) const {
  const double multiply = multiplying(t), load = loading(t);
  return std::max({multiply, load, streaming_cost(t)}) +
         c_.machine.not_hidden * std::min(multiply, load) + c_.machine.turn +
         store_cost(t) / c_.turns + waiting_cost(t) + copying_cost(t);
}

bool TileCost::is_copied(UOp load, const RegisterTile& t) const {
  return c_.unit || !are_columns_in_lines(load.src(0), t) ||
         uses_in_block(load, t) >= static_cast<double>(MachineModel::least_copy_reuse);
}

double TileCost::copying_cost(const RegisterTile& t) const {
  if (t.in_reduction) return 0;
  const auto lanes = static_cast<double>(t.lanes);
  double cost = 0;
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    const auto count = static_cast<double>(copies(place.src(1), t));
    double each = 0;
    if (can_copy_columns(place, t)) {
      each = copying_a_vector(place, t);
      each += c_.makes_tiles() ? fetching_columns(l, t) : fetching_from_afar(l, lanes, count);
    } else if (are_columns_in_lines(place, t)) {
      each = fetching_from_afar(l, lanes, count);
      if (is_copied(l, t)) each = std::max(each, fetching_cost(l, lanes)) + 2 * MachineModel::load;
    } else if (is_row_copied(place, t)) {
      each = copying_a_row(place);
      if (c_.makes_tiles()) each += fetching_cost(l, 1);
    } else if (do_pieces_of_rows_collide(place, t)) {
      cost += fetching_farther(l, count);  // for each tile of columns
    } else if (!are_columns(place, t) && !t.streams_rows) {
      const double elements = place.varies_over(t.lane) ? lanes : 1;
      each = std::max(fetching_cost(l, elements), fetching_from_afar(l, elements, count));
    }
    cost += each * count / uses_in_block(l, t);
  }
  return cost;
}

bool TileCost::copies_terms_of_rows(const RegisterTile& t) const {
  return c_.unit &&
         std::ranges::any_of(c_.loads, [&](UOp l) { return is_row_copied(l.src(0), t); });
}

// Rows whose steps lie far apart, or the terms that a unit takes at once.
bool TileCost::is_row_copied(UOp place, const RegisterTile& t) const {
  if (!are_rows(place, t)) return false;
  if (c_.makes_tiles()) return true;
  if (c_.unit) return along(place, c_.by_unit.depth) != Along::Contiguous;
  return along(place, t.rows) == Along::Strided && !facts_of(place).follows_last;
}

// Of what a turn takes of it.
double TileCost::copying_a_row(UOp place) const {
  const auto terms = static_cast<double>(c_.terms());
  if (c_.unit && along(place, c_.by_unit.depth) == Along::Contiguous) {
    if (place.num_src() == 2) return MachineModel::copy_element;  // a vector
    const double vectors = terms / static_cast<double>(std::min(c_.terms(), c_.full));
    return vectors * (masked_load(place) + MachineModel::copy_element);
  }
  return (place.num_src() > 2 ? 2 : 1) * MachineModel::copy_element * terms;
}

bool TileCost::are_rows(UOp place, const RegisterTile& t) {
  return t.rows && place.varies_over(t.rows) && !place.varies_over(t.lane);
}

bool TileCost::are_columns_in_lines(UOp place, const RegisterTile& t) const {
  if (!are_columns(place, t) || place.num_src() > 2) return false;
  if (along(place, t.lane) != Along::Contiguous) return false;
  return facts_of(place).far_steps >= c_.machine.many_rows;
}

bool TileCost::are_rows_in_pieces(UOp place, const RegisterTile& t) const {
  if (!are_rows(place, t) || place.num_src() > 2 || along(place, t.rows) != Along::Contiguous)
    return false;
  return !facts_of(place).follows_last && facts_of(place).far_steps >= c_.machine.many_rows;
}

bool TileCost::copies_pieces(const RegisterTile& t) const {
  return !c_.unit && column_tiles(t) >= static_cast<double>(MachineModel::least_reuse) &&
         std::ranges::any_of(c_.loads, [&](UOp l) { return are_rows_in_pieces(l.src(0), t); });
}

double TileCost::uses_in_block(UOp load, const RegisterTile& t) const {
  const UOp place = load.src(0);
  const double all = uses(place, t);
  if (!t.rows || t.streams_rows) return all;
  const double rows = rows_of_block(t);
  if (are_columns(place, t)) return std::min(all, rows);
  if (t.turn > 0) return std::min(all, columns_of_block(t));
  const bool is_kept = rows < static_cast<double>(row_tiles(t)) || place.varies_over(t.lane) ||
                       all_bytes(load) <= c_.machine.cache_bytes;
  return is_kept ? all : 1;
}

double TileCost::rows_of_block(const RegisterTile& t) const {
  const auto all = static_cast<double>(row_tiles(t));
  if (t.streams_rows) return all;
  const bool is_short = column_tiles(t) < c_.machine.least_blocked_columns;
  if (t.turn == 0 && is_short && !copies_terms_of_rows(t) && !copies_pieces(t)) return all;
  const double steps = t.turn > 0 ? static_cast<double>(t.turn * c_.inner_turns) : c_.turns;
  const double bytes = steps * static_cast<double>(t.num_rows * c_.bytes_of_turn());
  double rows = std::floor(static_cast<double>(c_.machine.tile_bytes) / bytes);
  const auto wanted = static_cast<double>(c_.machine.wanted_blocks());
  const auto least = static_cast<double>(c_.machine.least_blocked_rows);
  if (!columns_feed(t) && other_iterations(t) < wanted)
    rows = std::min(rows, std::max(least, std::ceil(all / wanted)));
  return rows < least ? all : all / std::ceil(all / rows);
}

double TileCost::columns_of_block(const RegisterTile& t) const {
  if (t.streams_rows) return 1;
  const double room = static_cast<double>(c_.machine.sums_bytes) / rows_of_block(t);
  return std::max(1.0, std::min(column_tiles(t), room / static_cast<double>(bytes_of_sums(t))));
}

double TileCost::other_iterations(const RegisterTile& t) const {
  double count = 1;
  for (UOp r : c_.loops) {
    if (r != t.lane && r != t.columns && r != t.rows) count *= static_cast<double>(r.range_size());
  }
  return count;
}

bool TileCost::columns_feed(const RegisterTile& t) const {
  const std::int64_t blocks = c_.machine.wanted_blocks();
  if (!t.rows || column_tiles(t) < static_cast<double>(blocks)) return false;
  if (unevenness(t) > MachineModel::most_uneven) return false;
  const bool short_blocks = row_tiles(t) * t.num_rows < blocks * c_.machine.least_panel_rows;
  double bytes = 0;  // of rows
  bool in_order = true;
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    if (!place.varies_over(t.rows)) continue;
    bytes += all_bytes(l);
    in_order = in_order && follows_reduction(place);
    if (are_rows_in_pieces(place, t) && !short_blocks) return false;
  }
  bytes *= static_cast<double>(row_tiles(t) * t.num_rows) /
           static_cast<double>(t.rows.range_size());  // tiles that overlap read some twice
  return (in_order && short_blocks) || bytes <= c_.machine.cache_bytes;
}

bool TileCost::follows_reduction(UOp place) const {
  return place.num_src() == 2 && facts_of(place).follows_last;
}

double TileCost::copying_terms(UOp place, const RegisterTile& t) const {
  const auto vectors = static_cast<double>(c_.terms()), lanes = static_cast<double>(t.lanes);
  if (along(place, t.lane) == Along::Contiguous) {
    const double divided = divides(place, t.lane) ? MachineModel::divide_lanes : 0;
    return vectors * ((place.num_src() > 2 ? masked_load(place) : MachineModel::load) + divided +
                      std::log2(lanes) * MachineModel::exchange + MachineModel::load);
  }
  const bool are_words = along(place, c_.by_unit.depth) == Along::Contiguous;
  const auto words = static_cast<double>(c_.bytes_of(place)) / 4;
  return lanes * MachineModel::copy_element * (are_words ? words : vectors);
}

double TileCost::copying_a_vector(UOp place, const RegisterTile& t) const {
  if (c_.unit) return copying_terms(place, t);
  const double gates = place.num_src() > 2 ? 2 : 1;
  const bool divided = divides(place, t.lane);
  // Once for all of the reduction: the loops of the copy see to that.
  const double dividing = divided ? MachineModel::divide_lanes / c_.turns : 0;
  if (along(place, t.lane) == Along::Contiguous) return gates * masked_load(place) + dividing;
  if (are_every_other(place, t))
    return gates * (2 * masked_load(place) + MachineModel::every_other) + dividing;
  const auto lanes = static_cast<double>(t.lanes);
  if (divided) {
    const double mask = place.num_src() > 2 ? c_.machine.make_mask() : 0;
    return lanes * MachineModel::load_lane + mask + dividing;
  }
  const UOp last = c_.reduced.back();  // long enough for squares of vectors
  const bool turned = along(place, last) == Along::Contiguous && last.range_size() >= t.lanes;
  return gates * lanes * (turned ? MachineModel::turn_element : MachineModel::copy_element);
}

bool TileCost::are_every_other(UOp place, const RegisterTile& t) {
  const Stride s = stride_over(place.src(1), t.lane);
  return s.affine && s.step == 2;
}

TileCost::PlaceFacts& TileCost::facts_of(UOp place) const {
  const auto known = std::ranges::find(facts_, place, &PlaceFacts::place);
  if (known != facts_.end()) return *known;
  PlaceFacts& facts = facts_.emplace_back();
  facts.place = place;
  for (UOp u : toposort(place)) {
    if (u.is(Op::IDiv) || u.is(Op::Mod)) facts.divided = facts.divided | u.ranges();
  }
  facts.far_steps = far_steps(place, c_.reduced);
  facts.follows_last = !c_.reduced.empty() && follows(place, c_.reduced.back());
  return facts;
}

Along TileCost::along(UOp place, UOp range) const {
  auto& by_loop = facts_of(place).along;
  const auto known = std::ranges::find(by_loop, range, &std::pair<UOp, Along>::first);
  if (known != by_loop.end()) return known->second;
  return by_loop.emplace_back(range, croze::along(place, range)).second;
}

bool TileCost::divides(UOp place, UOp lane) const {
  return facts_of(place).divided.contains(lane.range_id());
}

double TileCost::uses(UOp place, const RegisterTile& t) const {
  double tiles = 1;
  for (UOp r : c_.loops) {
    if (place.varies_over(r) || (r != t.rows && are_columns(place, t))) continue;
    std::int64_t in_tile = r == t.lane ? t.lanes : 1;
    if (r == t.columns) in_tile *= t.num_columns;
    if (r == t.rows) in_tile *= t.num_rows;
    tiles *= std::max(1.0, static_cast<double>(r.range_size()) / static_cast<double>(in_tile));
  }
  return tiles;
}

bool TileCost::can_copy_columns(UOp place, const RegisterTile& t) const {
  if (c_.unit) return are_columns(place, t);
  const Along lanes = along(place, t.lane);
  const bool scattered =
      lanes == Along::Strided || (lanes == Along::Contiguous && place.num_src() > 2);
  if (!scattered || t.in_reduction) return false;
  if (!t.rows || place.src(1).varies_over(t.rows)) return false;
  if (std::ranges::any_of(c_.reduced, &UOp::is_open)) return false;  // the tile may not fit
  if (bytes_of_columns(place, t) > static_cast<double>(c_.machine.tile_bytes)) return false;
  return t.rows.range_size() / t.num_rows >= c_.machine.least_reuse;
}

double TileCost::waiting_cost(const RegisterTile& t) const {
  if (t.turn == 0) return 0;
  const double bytes =
      rows_of_block(t) * columns_of_block(t) * static_cast<double>(bytes_of_sums(t));
  const bool are_near = bytes <= static_cast<double>(c_.machine.sums_bytes) / 2;
  const double each =
      are_near ? 3 * c_.machine.far_load : 2 * c_.machine.farther_load() + c_.machine.far_load;
  return each * static_cast<double>(t.num_rows * t.num_columns) /
         static_cast<double>(t.turn * c_.inner_turns);
}

std::int64_t TileCost::copies(UOp u, const RegisterTile& t) {
  std::int64_t result = 1;
  if (u.varies_over(t.columns)) result *= t.num_columns;
  if (t.rows && u.varies_over(t.rows)) result *= t.num_rows;
  return result;
}

double TileCost::shifting(const RegisterTile& t) const {
  return c_.unit && !c_.unit->shifted.empty()
             ? MachineModel::shift * static_cast<double>(t.num_rows)
             : 0;
}

double TileCost::operand_work(const RegisterTile& t) const {
  double work = 0;
  for (UOp u : c_.computed) work += static_cast<double>(copies(u, t));
  return work;
}

bool TileCost::are_columns(UOp place, const RegisterTile& t) {
  return place.src(1).varies_over(t.lane) && !(t.rows && place.src(1).varies_over(t.rows));
}

double TileCost::bytes_of_columns(UOp place, const RegisterTile& t) const {
  const std::int64_t vectors = copies(place.src(1), t);
  const std::int64_t elements = t.in_reduction ? vectors : vectors * t.lanes;  // an iteration
  const double iterations = t.turn > 0 ? static_cast<double>(t.turn * c_.inner_turns) : c_.turns;
  return iterations * static_cast<double>(elements * c_.bytes_of(place));
}

double TileCost::store_cost(const RegisterTile& t) const {
  if (t.in_reduction) return 0;
  double each = c_.makes_tiles() ? 1 + 2 * MachineModel::load : 1;  // by way of memory
  if (pads_lanes(c_.stored, t)) each *= c_.machine.masked_store();
  if (along(c_.stored, t.lane) != Along::Contiguous) {
    const std::int64_t apart =
        stride_over(c_.stored.src(1), t.lane).step * size_of(c_.stored.dtype());
    const std::int64_t lines = t.columns == t.lane ? t.lanes * t.num_columns : t.lanes;
    const bool collide =
        apart != 0 && apart % MachineModel::set_bytes == 0 && lines > MachineModel::lines_of_set;
    each = (collide ? MachineModel::store_colliding_lane : MachineModel::store_lane) *
           static_cast<double>(t.lanes);
  }
  return each * static_cast<double>(t.num_rows * t.num_columns);
}

double TileCost::used_part(UOp range, std::int64_t lanes) {
  if (range.is_open()) return MachineModel::used_if_open;
  const std::int64_t vectors = (range.range_size() + lanes - 1) / lanes;
  return static_cast<double>(range.range_size()) / static_cast<double>(vectors * lanes);
}

bool TileCost::pads_lanes(UOp place, const RegisterTile& t) {
  return !t.overlaps && t.lane.trip_divisor() % t.lanes != 0 && place.varies_over(t.lane);
}

bool TileCost::is_gated(UOp place, const RegisterTile& t) {
  const auto pads = [&](UOp r, std::int64_t count) {
    return r && r.is_open() && r.trip_divisor() % count != 0 && place.varies_over(r);
  };
  return place.num_src() > 2 || pads_lanes(place, t) || pads(t.columns, t.num_columns) ||
         pads(t.rows, t.num_rows);
}

double TileCost::masked_load(UOp place, std::span<const UOp> loops) const {
  const auto changes_over = [&](std::span<const UOp> some) {
    return place.num_src() > 2 &&
           std::ranges::any_of(some, [&](UOp r) { return place.src(2).varies_over(r); });
  };
  if (changes_over(loops)) return c_.machine.masked_load() + c_.machine.make_mask();
  return c_.machine.masked_load() + (changes_over(c_.reduced) ? MachineModel::load : 0);
}

double TileCost::load_cost(UOp place, const RegisterTile& t) const {
  const bool gated = is_gated(place, t);
  const std::span<const UOp> loops = loops_that_turn(t);
  switch (along(place, t.lane)) {
    case Along::Still: return gated ? c_.machine.gated_broadcast : c_.machine.broadcast();
    case Along::Contiguous:
      if (!gated || can_copy_columns(place, t)) return c_.machine.load;
      return masked_load(place, loops) + (divides(place, t.lane) ? MachineModel::divide_lanes : 0);
    case Along::Strided: break;
  }
  if (can_copy_columns(place, t)) return c_.machine.load;
  if (are_every_other(place, t))
    return 2 * (gated ? masked_load(place, loops) : c_.machine.load) + MachineModel::every_other;
  return static_cast<double>(t.lanes) *
         (gated ? MachineModel::gated_lane : MachineModel::load_lane);
}

}  // namespace croze
