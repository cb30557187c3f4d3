// choose.cpp -- which edits a kernel gets.
#include "codegen/choose/choose.h"

#include <algorithm>

#include "codegen/choose/access.h"
#include "codegen/choose/contraction.h"
#include "codegen/choose/groups.h"
#include "codegen/choose/normalize.h"
#include "codegen/choose/vectorize.h"

namespace croze {
namespace {

// A kernel below this many element visits is done before another thread has woken up.
constexpr std::int64_t least_parallel_work = 1 << 15;

bool is_free(UOp r) { return r.loop_kind() == LoopKind::Parallel; }

// Independent loops around those whose iterations must stay in order.
void parallel_loops_first(KernelState& k) {
  std::vector<UOp> order = k.loops;
  std::stable_partition(order.begin(), order.end(),
                        [](UOp r) { return r.loop_kind() != LoopKind::Serial; });
  reorder(k, order);
}

// How many tasks to make of a loop: a divisor near a few per thread.
std::int64_t tasks_of(std::int64_t size, std::int64_t threads) {
  const std::int64_t divisor = largest_divisor(size, 8 * threads);
  return divisor >= threads ? divisor : size;
}

// The outermost loop that can feed every thread becomes tasks.
void bind_tasks(KernelState& k, const Caps& caps) {
  if (caps.threads <= 1 || work_of(k.sink) < least_parallel_work) return;
  const bool hoists = std::any_of(k.loops.begin(), k.loops.end(), [&](UOp r) {
    return std::ranges::any_of(reduces(k.sink), [&](UOp u) { return !u.varies_over(r); });
  });
  for (UOp r : std::vector<UOp>(k.loops)) {
    if (!is_free(r)) continue;
    if (r.range_size() < caps.threads && !hoists) continue;
    const std::int64_t tasks = tasks_of(r.range_size(), caps.threads);
    const SplitRange parts = split(k, r, r.range_size() / tasks);
    if (!parts.outer.is(Op::Range)) return;
    const UOp task = bind(k, parts.outer, LoopKind::Thread);
    std::vector<UOp> order = k.loops;
    std::stable_partition(order.begin(), order.end(), [&](UOp x) { return x == task; });
    reorder(k, order);
    return;
  }
}

}  // namespace

void choose_edits(KernelState& k, const Caps& caps) {
  normalize_loops(k);
  parallel_loops_first(k);
  if (caps.has_groups) {
    choose_groups(k, caps);
    return;
  }
  if (!tile_contraction(k, caps)) vectorize(k, caps);
  bind_tasks(k, caps);
}

}  // namespace croze
