// find_contraction.cpp -- reductions over what several loops read alike.
#include "croze/codegen/choose/tiles/find_contraction.h"

#include <algorithm>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

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

}  // namespace

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

UOp reduction_over(const KernelState& k, const std::vector<UOp>& ranges) {
  UOp found;
  for (UOp u : reduces(k.sink)) {
    if (closed_ranges(u) == ranges) found = u;
  }
  return found;
}

}  // namespace croze
