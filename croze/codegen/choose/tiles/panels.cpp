// panels.cpp -- columns are copied where their lines are far apart or have gaps.
#include "croze/codegen/choose/tiles/panels.h"

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/index/index_form.h"

namespace croze {

std::int64_t least_uses_of_panel(UOp place, UOp lane, std::span<const UOp> reduced) {
  if (place.num_src() > 2 || along(place, lane) != Along::Contiguous)
    return MachineModel::least_reuse;
  std::int64_t steps = 1;
  bool collide = false;  // all in the same few sets of the L1 cache
  for (UOp r : reduced) {
    const Stride s = stride_over(place.src(1), r);
    const std::int64_t apart = s.step * size_of(place.dtype());
    if (s.affine && apart < MachineModel::far_bytes) continue;
    steps *= r.range_size();
    collide = collide || !s.affine || apart % MachineModel::set_bytes == 0;
  }
  if (steps < MachineModel::many_rows) return INT64_MAX;
  return collide ? MachineModel::least_reuse : MachineModel::least_copy_reuse;
}

}  // namespace croze
