// contraction.cpp -- register and cache tiles for reductions that use each loaded element many
// times: the best of tile_search.h, on lines of a picture as they are or as one, by itself or by a
// matrix unit.
#include "croze/codegen/choose/tiles/contraction.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/pictures/merge_lines.h"
#include "croze/codegen/choose/tiles/find_contraction.h"
#include "croze/codegen/choose/tiles/tile_cost.h"
#include "croze/codegen/choose/tiles/tile_search.h"
#include "croze/codegen/choose/tiles/tiler.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/edits/contract.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// A tile of a kernel that has been changed for it.
struct TiledKernel {
  KernelState kernel;
  RegisterTile tile;
};

// Others are for sums that end with a part of a tile (block_products.h).
bool fills_tiles(const MatrixUnit& unit) {
  return unit.rows == 1 || unit.depth * size_of(unit.a) == MachineModel::tile_row_bytes;
}

// The tile of each matrix unit, for which the terms that it takes at once are a loop.
void add_by_units(const KernelState& k, const std::vector<UOp>& reduced, UOp lane,
                  std::vector<TiledKernel>& tiles) {
  const UOp reduce = reduction_over(k, reduced);
  for (std::size_t unit = 0; unit < k.caps().matrix_units.size(); unit++) {
    const MatrixUnit& u = *k.caps().matrix_units[unit];
    if (u.threads > 1 || !fills_tiles(u) || !multiplies_for(reduce, u)) continue;
    for (UOp r : reduced) {
      if (r.is_open() || r.range_size() < u.depth) continue;
      KernelState terms = k;
      const UOp depth = split(terms, pad(terms, r, u.depth), u.depth).inner;
      const std::vector<UOp> all = reduces(terms.sink);
      const auto split_reduce = std::ranges::find_if(all, [&](UOp x) { return closes(x, depth); });
      if (closed_ranges(*split_reduce).size() == 1) continue;  // no loop is left for the tile
      RegisterTile tile =
          best_tile(terms, *split_reduce, lane, {static_cast<std::int64_t>(unit) + 1, depth});
      tile.cost /= TileCost::used_part(r, u.depth);
      if (tile.lane) tiles.push_back({std::move(terms), tile});
    }
  }
}

}  // namespace

bool tile_contraction(KernelState& k) {
  if (k.caps().vector_bytes < 16 || work_of(k.sink) < MachineModel::least_work) return false;
  if (k.sink.num_src() > 1) return false;  // tiles are of one result
  const UOp reduce = find_contraction(k);
  if (!reduce) return false;
  const std::vector<UOp> kept = closed_ranges(reduce);
  unroll_small_reductions(k, kept);
  TiledKernel best{k, best_tile(k, reduction_over(k, kept))};
  std::vector<TiledKernel> by_units;
  add_by_units(k, kept, {}, by_units);
  if (auto merged = with_merged_lines(k)) {
    KernelState& lined = merged->kernel;
    add_by_units(lined, kept, merged->lines, by_units);
    const RegisterTile along_lines = best_tile(lined, reduction_over(lined, kept), merged->lines);
    if (along_lines.cost < best.tile.cost) best = {std::move(lined), along_lines};
  }
  std::ranges::stable_sort(by_units, {}, [](const TiledKernel& t) { return t.tile.cost; });
  for (TiledKernel& t : by_units) {
    if (t.tile.cost >= best.tile.cost) break;
    if (!apply_tile(t.kernel, t.tile)) continue;
    k = std::move(t.kernel);
    return true;
  }
  if (!best.tile.lane) return false;
  k = std::move(best.kernel);
  apply_tile(k, best.tile);
  return true;
}

}  // namespace croze
