// keep_work.cpp -- which values two loops share, and whether a tile of them pays.
#include "croze/codegen/choose/keep_work.h"

#include <algorithm>
#include <array>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/keep.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Whether the value takes transcendental ops for each iteration, on vectors from memory in order.
// A tile costs a store and two loads, less than any of them.
bool pays(UOp value, UOp range) {
  bool dear = false;
  for (UOp u : toposort(value)) {
    if (!u.varies_over(range)) continue;
    dear = dear || has_trait(u.op(), trait_transcendental);
    if (u.is(Op::Index) && along(u, range) != Along::Contiguous) return false;
  }
  return dear;
}

// Whether anything over the loop takes as much, before pairs of loops are compared, which takes
// long where there are many.
bool has_dear_values(UOp sink, UOp range) {
  return std::ranges::any_of(toposort(sink), [&](UOp u) {
    return has_trait(u.op(), trait_transcendental) && u.varies_over(range);
  });
}

// What the values of a row are made of.
std::int64_t bytes_read(const std::vector<SharedValue>& values, UOp first) {
  double bytes = 0;
  for (const SharedValue& v : values) {
    for (UOp load : loads(v.over_first)) {
      if (load.src(0).varies_over(first)) bytes += bytes_over(load, std::array{first});
    }
  }
  return static_cast<std::int64_t>(bytes);
}

bool keep_one(KernelState& k, std::int64_t lanes, const MachineModel& model) {
  const std::vector<UOp> all = Legality(k).ranges();
  for (UOp first : all) {
    if (first.loop_kind() != LoopKind::Reduce || first.range_size() < 2 * lanes) continue;
    if (!has_dear_values(k.sink, first)) continue;
    for (UOp second : all) {
      const bool innermost = !k.loops.empty() && second == k.loops.back();
      if (second == first || (second.loop_kind() != LoopKind::Reduce && !innermost)) continue;
      const Edit edit{
          .kind = EditKind::Keep, .ranges = {first.range_id(), second.range_id()}, .size = lanes};
      if (first.range_size() != second.range_size() || !is_legal(k, edit)) continue;
      const std::vector<SharedValue> values = shared_values(k.sink, first, second, k.loops);
      const std::int64_t bytes = kept_bytes(values, first.range_size()) + bytes_read(values, first);
      if (bytes > model.tile_bytes) continue;
      const auto all_pay = [&](const SharedValue& v) { return pays(v.over_first, first); };
      if (!std::ranges::all_of(values, all_pay)) continue;
      keep(k, first, second, lanes);
      return true;
    }
  }
  return false;
}

}  // namespace

void keep_work(KernelState& k) {
  const MachineModel model(k.caps());
  const std::int64_t lanes = full_lanes(k.sink, k.caps());
  if (lanes == 1) return;
  while (keep_one(k, lanes, model)) {
  }
}

}  // namespace croze
