// unit_axes.cpp -- loops become waves, copies and what a unit has.
#include "croze/codegen/choose/warps/unit_axes.h"

#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {

UOp cut_axis(KernelState& k, UOp range, std::int64_t waves, std::int64_t copies,
             std::int64_t size) {
  const std::int64_t all = waves * copies * size;
  const UOp padded = pad(k, range, all);
  const UOp inner = padded.range_size() == all ? padded : split(k, padded, all).inner;
  const SplitRange by_wave = split(k, inner, copies * size);
  if (by_wave.outer.is(Op::Range)) bind(k, by_wave.outer, LoopKind::Item);
  const SplitRange by_copy = split(k, by_wave.inner, size);
  if (by_copy.outer.is(Op::Range)) bind(k, by_copy.outer, LoopKind::Unroll);
  return by_copy.inner;
}

std::vector<UOp> ranges_of_operand(const KernelState& k, UOp load, std::span<const UOp> steps,
                                   UOp thread) {
  std::vector<UOp> inner;
  const auto add = [&](UOp r) {
    if (load.src(0).varies_over(r)) inner.push_back(r);
  };
  for (UOp r : steps) add(r);
  for (LoopKind kind : {LoopKind::Item, LoopKind::Unroll}) {
    for (UOp r : k.loops) {
      if (r.loop_kind() == kind && r != thread) add(r);
    }
  }
  add(thread);
  for (UOp u : toposort(load.src(0))) {
    if (u.is(Op::Range) && u.loop_kind() == LoopKind::Lane) add(u);
  }
  return inner;
}

}  // namespace croze
