// result_order.cpp -- what is written in pieces of many rows against what is fetched from the L2
// cache.
#include "croze/codegen/choose/tiles/result_order.h"

#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/edits/stage.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

std::int64_t size_of_loop(UOp loop) { return loop ? loop.range_size() : 1; }

// Whether lanes are written side by side, and rows each to a page of its own.
bool are_rows_far(UOp place, const TileLoops& loops) {
  if (along(place, loops.lane) != Along::Contiguous) return false;
  const Stride row = stride_over(place.src(1), loops.row_unroll);
  return row.affine && row.step * size_of(place.dtype()) >= MachineModel::set_bytes;
}

// Rows that a panel of columns is written to: where its vectors are those of several lines each of
// these has rows of its own.
std::int64_t rows_of_panel(UOp place, const TileLoops& loops) {
  const std::int64_t rows = size_of_loop(loops.row_loop) * size_of_loop(loops.row_unroll);
  if (!loops.column_unroll) return rows;
  const Stride line = stride_over(place.src(1), loops.column_unroll);
  const bool are_side_by_side = line.affine && line.step == loops.lane.range_size();
  return are_side_by_side ? rows : rows * size_of_loop(loops.column_unroll);
}

// Of the columns of all tiles.
std::int64_t bytes_of_columns(UOp reduce, std::span<const UOp> reduced, const TileLoops& loops) {
  std::vector<UOp> over(reduced.begin(), reduced.end());
  for (UOp r : {loops.column_loop, loops.column_unroll, loops.lane}) {
    if (r) over.push_back(r);
  }
  std::int64_t bytes = 0;
  for (UOp load : loads(reduce.src(0))) {
    if (load.src(0).varies_over(loops.lane)) bytes += tile_bytes(load, over);
  }
  return bytes;
}

}  // namespace

bool follows_result(const KernelState& k, std::span<const UOp> reduced, const TileLoops& loops,
                    const MachineModel& machine) {
  if (!loops.column_loop || !loops.row_loop || !loops.row_unroll) return false;
  const UOp place = k.sink.src(0).src(0);
  if (rows_of_panel(place, loops) < MachineModel::many_rows || !are_rows_far(place, loops))
    return false;
  const std::int64_t bytes = iterations(k.loops) * size_of(place.dtype());
  if (static_cast<double>(bytes) <= machine.cache_bytes) return false;
  // For each vector of columns.
  const double storing =
      MachineModel::store_far_line * static_cast<double>(size_of_loop(loops.row_unroll));
  const double fetching =
      (MachineModel::far_load - MachineModel::load) * static_cast<double>(iterations(reduced));
  return fetching < storing;
}

std::int64_t columns_along_result(UOp reduce, std::span<const UOp> reduced, const TileLoops& loops,
                                  const MachineModel& machine) {
  const std::int64_t all = loops.column_loop.range_size();
  const std::int64_t bytes = bytes_of_columns(reduce, reduced, loops);
  return bytes <= machine.tile_bytes ? all : machine.tile_bytes / ((bytes + all - 1) / all);
}

}  // namespace croze
