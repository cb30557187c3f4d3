// merge_lines.cpp -- the lines of a picture as one loop.
//
// Lines of 7 or 14 elements make no full vectors, all lines of the picture together do.  What lies
// beyond the border of a line, or where a line is of which every other element is read, is found by
// dividing then, so this pays where operands are copied to a panel that is read many times: there
// it is found while that is filled, once for all channels.
#include "croze/codegen/choose/merge_lines.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

bool writes_in_one_walk(const KernelState& k, UOp outer, UOp inner) {
  for (UOp store : k.sink.sources()) {
    const UOp index = store.src(0).src(1);
    const Stride a = stride_over(index, outer), b = stride_over(index, inner);
    if (!a.affine || !b.affine || a.step != b.step * inner.range_size()) return false;
  }
  return true;
}

bool reads_along_both(const KernelState& k, UOp outer, UOp inner) {
  return std::ranges::all_of(
      loads(k.sink), [&](UOp load) { return load.varies_over(outer) == load.varies_over(inner); });
}

bool are_lines(const KernelState& k, UOp outer, UOp inner) {
  return is_parallel(outer) && is_parallel(inner) && !outer.is_open() && !inner.is_open() &&
         writes_in_one_walk(k, outer, inner) && reads_along_both(k, outer, inner);
}

// Null if there are none to merge.
UOp merge_one(KernelState& k) {
  for (std::size_t i = k.loops.size(); i-- > 1;) {
    const UOp outer = k.loops[i - 1], inner = k.loops[i];
    if (!are_lines(k, outer, inner)) continue;
    const UOp lines = merge(k, outer, inner);
    simplify(k);
    return lines;
  }
  return UOp();
}

}  // namespace

std::optional<MergedLines> with_merged_lines(const KernelState& k) {
  MergedLines result{k, UOp()};
  while (const UOp lines = merge_one(result.kernel)) result.lines = lines;
  if (!result.lines) return {};
  return result;
}

}  // namespace croze
