// phases.cpp -- a nest for each remainder of a position.
#include "croze/schedule/sums/phases.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Nests that become of one, along each of its loops.
constexpr std::int64_t most_phases = 4;

// Positions of a phase, and terms of all sums of a nest, from which on nests of its phases pay.
constexpr std::int64_t least_positions = 4, least_visits = 1 << 12;

struct Phases {
  UOp range;  // an output loop
  std::int64_t modulus;
};

bool is_comparison_of_indices(UOp u) {
  const bool compares = u.is(Op::Lt) || u.is(Op::Le) || u.is(Op::Eq);
  return compares && u.src(0).dtype() == DType::Index;
}

// The output loop of which `remainder` tells the phase; null if it tells that of anything else.
UOp loop_of_remainder(UOp remainder, const std::vector<UOp>& loops) {
  const std::int64_t modulus = remainder.src(1).is_const() ? remainder.src(1).const_int() : 0;
  if (modulus < 2 || modulus > most_phases) return UOp();
  UOp found;
  for (UOp r : loops) {
    if (!remainder.varies_over(r)) continue;
    const Stride stride = stride_over(remainder.src(0), r);
    if (found || !stride.affine || std::abs(stride.step) != 1) return UOp();
    found = r;
  }
  const bool is_long = found && is_parallel(found) && !found.is_open() &&
                       found.range_size() >= least_positions * modulus;
  return is_long ? found : UOp();
}

// What decides, together with a loop of the sum, which terms there are.
std::optional<Phases> phases_of(UOp sum, const std::vector<UOp>& loops) {
  if (iterations(closed_ranges(sum)) * iterations(loops) < least_visits) return {};
  for (UOp condition : toposort(sum.src(0))) {
    if (!is_comparison_of_indices(condition)) continue;
    const auto varies = [&](UOp r) { return condition.varies_over(r); };
    if (std::ranges::none_of(closed_ranges(sum), varies)) continue;
    for (UOp u : toposort(condition)) {
      if (!u.is(Op::Mod)) continue;
      if (const UOp loop = loop_of_remainder(u, loops)) return Phases{loop, u.src(1).const_int()};
    }
  }
  return {};
}

std::int64_t next_range_of(UOp nest) {
  std::int64_t next = 0;
  for (UOp u : toposort(nest)) {
    if (u.is(Op::Range)) next = std::max(next, u.range_id() + 1);
  }
  return next;
}

// The nest over the positions q * modulus + remainder of a loop.
UOp phase_of(UOp nest, const Phases& phases, std::int64_t remainder) {
  Graph& graph = nest.graph();
  const UOp store = nest.src(0), r = phases.range;
  const std::int64_t count = (r.range_size() - remainder + phases.modulus - 1) / phases.modulus;
  const UOp q = graph.range(next_range_of(nest), count, r.loop_kind());
  const std::pair<UOp, UOp> moved[] = {{r, q * phases.modulus + remainder}};
  SmallVector<UOp, 8> ranges;
  for (int i = store.first_closed(); i < store.num_src(); i++) {
    ranges.push_back(store.src(i) == r ? q : store.src(i));
  }
  const UOp part =
      graph.store(substitute(store.src(0), moved), substitute(store.src(1), moved), ranges);
  return graph.sink(std::span(&part, 1));
}

// The nest, or those of its phases along each of its loops.
std::vector<UOp> phases_of_nest(UOp nest) {
  std::vector<UOp> done, pending{nest};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    std::optional<Phases> phases;
    for (UOp x : toposort(u)) {
      if (x.is(Op::Reduce) && x.reduce_op() == Op::Add && !phases) {
        phases = phases_of(x, closed_ranges(u.src(0)));
      }
    }
    if (!phases) {
      done.push_back(u);
      continue;
    }
    for (std::int64_t i = phases->modulus; i-- > 0;) pending.push_back(phase_of(u, *phases, i));
  }
  return done;
}

}  // namespace

void split_phases(std::vector<PendingStep>& steps, const ScheduleContext& context) {
  std::vector<PendingStep> parts;
  for (PendingStep& step : steps) {
    const bool may_split = step.sequence < 0 && step.nests.size() == 1 &&
                           step.nests[0].num_src() == 1 && context.caps(step.device).joins_nests;
    if (!may_split) continue;
    const std::vector<UOp> phases = phases_of_nest(step.nests[0]);
    for (std::size_t i = 1; i < phases.size(); i++) {
      parts.push_back(step);
      parts.back().nests = {phases[i]};
    }
    step.nests = {phases[0]};
  }
  std::ranges::move(parts, std::back_inserter(steps));
}

}  // namespace croze
