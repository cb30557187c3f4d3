// tile_fetching.cpp -- what a tile costs because of where its operands are: in which cache, and
// whether their lines follow each other or share its sets.
#include <algorithm>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/tiles/tile_cost.h"
#include "croze/graph/index/index_form.h"

namespace croze {

double TileCost::distance_cost(UOp load, const RegisterTile& t) const {
  const UOp place = load.src(0);
  if (!are_columns(place, t)) {
    const double bytes = all_bytes(load);
    const bool passes_again = (t.in_reduction || uses(place, t) > 1) &&
                              bytes > static_cast<double>(c_.machine.near_bytes);
    if (c_.makes_tiles()) return c_.machine.far_load;
    if (!place.varies_over(t.lane)) return are_too_many_rows(place, t) ? c_.machine.far_load : 0;
    if (bytes > c_.machine.cache_bytes) return c_.machine.farther_load();
    return passes_again ? c_.machine.far_load : 0;
  }
  const double bytes = bytes_of_columns(place, t);
  const bool is_near = bytes + bytes_beside(t) <= static_cast<double>(c_.machine.near_bytes);
  // Without a copy they displace each other.
  if (!is_copied(load, t)) return is_near ? c_.machine.far_load : c_.machine.farther_load();
  if (is_near) return 0;
  return bytes <= c_.machine.cache_bytes ? c_.machine.far_load : c_.machine.farther_load();
}

double TileCost::bytes_beside(const RegisterTile& t) const {
  if (!t.in_reduction || !t.rows) return 0;
  double bytes = 0;
  for (UOp l : c_.loads) {
    if (l.src(0).varies_over(t.rows)) bytes += bytes_of_columns(l.src(0), t);
  }
  return bytes / 2;  // as much as columns may take fits beside a third of it
}

double TileCost::streaming_cost(const RegisterTile& t) const {
  if (!t.streams_rows) return 0;
  double cost = 0;
  for (UOp l : c_.loads) {
    const UOp place = l.src(0);
    if (place.varies_over(t.rows))
      cost += fetching_cost(l, static_cast<double>(copies(place.src(1), t)));
  }
  return cost;
}

double TileCost::fetching_cost(UOp load, double elements) const {
  return c_.machine.cycles(elements * static_cast<double>(c_.bytes_of(load)) *
                           c_.machine.cycles_per_byte(all_bytes(load)) *
                           static_cast<double>(c_.machine.threads));
}

double TileCost::fetching_from_afar(UOp load, double elements, double groups) const {
  if (all_bytes(load) <= c_.machine.cache_bytes) return 0;
  if (facts_of(load.src(0)).far_steps < MachineModel::many_rows)
    return fetching_farther(load, elements);
  const double line = MachineModel::line_bytes / static_cast<double>(c_.bytes_of(load));
  const double foreseen = std::max(0.0, elements * groups - line);
  const double first = elements * groups - foreseen;
  return (c_.machine.far_line() * first / line + fetching_farther(load, foreseen)) / groups;
}

double TileCost::fetching_farther(UOp load, double elements) const {
  return elements * static_cast<double>(c_.bytes_of(load)) /
         static_cast<double>(c_.machine.vector_bytes) * c_.machine.farther_load();
}

// Lines are fetched whole, however little of them the columns of a tile are.
double TileCost::fetching_columns(UOp load, const RegisterTile& t) const {
  const auto lanes = static_cast<double>(t.lanes);
  const double row = lanes * static_cast<double>(t.num_columns * size_of(load.dtype()));
  const bool in_lines = along(load.src(0), t.lane) == Along::Contiguous;
  return fetching_cost(load,
                       lanes * (in_lines ? std::max(1.0, MachineModel::line_bytes / row) : 1));
}

bool TileCost::do_rows_collide(UOp place, const RegisterTile& t) const {
  if (!are_rows(place, t)) return false;
  const Stride rows = stride_over(place.src(1), t.rows);
  return rows.affine && rows.step * size_of(place.dtype()) % MachineModel::set_bytes == 0;
}

bool TileCost::are_too_many_rows(UOp place, const RegisterTile& t) const {
  return t.num_rows > MachineModel::lines_of_set && follows_reduction(place) &&
         (fetches_rows(t) || do_rows_collide(place, t));
}

bool TileCost::do_pieces_of_rows_collide(UOp place, const RegisterTile& t) const {
  if (t.turn == 0 || t.streams_rows || !follows_reduction(place) || !do_rows_collide(place, t))
    return false;
  const double piece = static_cast<double>(t.turn * c_.inner_turns * c_.bytes_of(place));
  const double of_sets = std::min(1.0, piece / MachineModel::set_bytes);
  return rows_of_block(t) * static_cast<double>(t.num_rows) * piece >
         of_sets * static_cast<double>(c_.machine.tile_bytes);
}

}  // namespace croze
