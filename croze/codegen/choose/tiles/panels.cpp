// panels.cpp -- operands are copied where their lines are far apart or have gaps.
#include "croze/codegen/choose/tiles/panels.h"

#include <algorithm>

#include "croze/codegen/choose/access.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

bool are_steps_far(UOp place, std::span<const UOp> reduced) {
  return far_steps(place, reduced) >= MachineModel::many_rows;
}

}  // namespace

std::int64_t least_uses_of_panel(UOp place, UOp lane, std::span<const UOp> reduced) {
  if (place.num_src() > 2 || along(place, lane) != Along::Contiguous)
    return MachineModel::least_reuse;
  if (!are_steps_far(place, reduced)) return INT64_MAX;
  // All in the same few sets of the L1 cache.
  const bool collide = std::ranges::any_of(reduced, [&](UOp r) {
    const Stride s = stride_over(place.src(1), r);
    const std::int64_t apart = s.step * size_of(place.dtype());
    return !s.affine || (apart >= MachineModel::far_bytes && apart % MachineModel::set_bytes == 0);
  });
  return collide ? MachineModel::least_reuse : MachineModel::least_copy_reuse;
}

std::int64_t least_uses_of_rows(UOp place, std::span<const UOp> reduced,
                                const MachineModel& machine) {
  return are_steps_far(place, reduced) ? MachineModel::least_reuse : machine.least_row_reuse();
}

}  // namespace croze
