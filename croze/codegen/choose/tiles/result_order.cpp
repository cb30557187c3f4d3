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

bool follows_result(const KernelState& k, UOp reduce, std::span<const UOp> reduced,
                    const TileLoops& loops, const MachineModel& machine) {
  if (!loops.column_loop || !loops.row_loop || !loops.row_unroll) return false;
  const UOp place = k.sink.src(0).src(0);
  const std::int64_t rows = loops.row_loop.range_size() * size_of_loop(loops.row_unroll);
  if (rows <= MachineModel::many_rows || !are_rows_far(place, loops)) return false;
  const std::int64_t bytes = iterations(k.loops) * size_of(place.dtype());
  if (static_cast<double>(bytes) <= machine.cache_bytes) return false;
  // For each vector of columns.
  const double storing =
      MachineModel::store_far_line * static_cast<double>(size_of_loop(loops.row_unroll));
  const double fetching =
      (MachineModel::far_load - MachineModel::load) * static_cast<double>(iterations(reduced));
  return fetching < storing && bytes_of_columns(reduce, reduced, loops) <= machine.tile_bytes;
}

}  // namespace croze
