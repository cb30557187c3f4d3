// choose.cpp -- which edits a kernel gets.
#include "croze/codegen/choose/choose.h"

#include <algorithm>
#include <optional>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/block_products.h"
#include "croze/codegen/choose/dot_lanes.h"
#include "croze/codegen/choose/interleave_rows.h"
#include "croze/codegen/choose/join_passes.h"
#include "croze/codegen/choose/keep_work.h"
#include "croze/codegen/choose/long_sums.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/choose/normalize.h"
#include "croze/codegen/choose/pictures/slide_windows.h"
#include "croze/codegen/choose/pictures/whole_pictures.h"
#include "croze/codegen/choose/share_rows.h"
#include "croze/codegen/choose/square_tiles.h"
#include "croze/codegen/choose/stream_rows.h"
#include "croze/codegen/choose/tabulate_work.h"
#include "croze/codegen/choose/tiles/contraction.h"
#include "croze/codegen/choose/unroll_branches.h"
#include "croze/codegen/choose/vectorize.h"
#include "croze/codegen/choose/warps/groups.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

// Element visits that hide what calling a task takes.
constexpr std::int64_t least_work_of_task = 1 << 10;

// A multiple that a loop is padded to, at most.
constexpr std::int64_t most_padding = 4096;

// How evenly an open loop feeds the threads: mostly well, but it may turn once only, so a constant
// loop that does better is preferred.
constexpr double open_balance = 0.85;

// Iterations of an open loop in a task.
constexpr std::int64_t most_open_iterations = 64;

// The part of the threads' time that does work when they share `tasks` equal tasks.
double balance(std::int64_t tasks, std::int64_t threads) {
  const std::int64_t rounds = (tasks + threads - 1) / threads;
  return static_cast<double>(tasks) / static_cast<double>(rounds * threads);
}

// How many tasks to make of a loop: a divisor near a few per thread, or one that is larger, where
// the threads share those few unevenly or a slow one would not be made up for.
std::int64_t tasks_of(std::int64_t size, std::int64_t threads) {
  const std::int64_t few = MachineModel::tasks_per_thread * threads;
  const std::int64_t divisor = largest_divisor(size, few);
  if (divisor < threads) return size;
  if (divisor >= MachineModel::blocks_per_thread * threads &&
      balance(divisor, threads) * MachineModel::most_uneven >= 1) {
    return divisor;
  }
  std::int64_t larger = std::min(size, few + 1);
  while (size % larger != 0) larger++;
  return larger <= MachineModel::most_tasks_per_thread * threads ? larger : divisor;
}

// Whether tasks of a loop would each repeat a reduction that stands outside of it.
bool repeats_reductions(const KernelState& k, UOp loop) {
  return std::ranges::any_of(
      reduces(k.sink), [&](UOp u) { return !is_at_full_depth(k, u) && !u.varies_over(loop); });
}

// Whether tasks of a loop would each fill tiles anew that loops around it fill for all of it.
bool repeats_fills(const KernelState& k, UOp loop) {
  const auto end = std::ranges::find(k.loops, loop);
  return std::ranges::any_of(toposort(k.sink), [&](UOp u) {
    return is_write(u) && tile_of(u) && !u.varies_over(loop) &&
           std::any_of(k.loops.begin(), end, [&](UOp r) { return u.varies_over(r); });
  });
}

// The outermost loop that feeds every thread evenly, or else the outermost of all.
UOp loop_for_tasks(const KernelState& k) {
  const std::int64_t threads = k.caps().threads;
  UOp best;
  double best_balance = 0;
  for (UOp r : k.loops) {
    if (!is_parallel(r)) continue;
    if (stores_in(k.sink, r) < k.sink.num_src()) break;
    if (best && (repeats_reductions(k, r) || repeats_fills(k, r))) continue;
    const double even =
        r.is_open() ? open_balance : balance(tasks_of(r.range_size(), threads), threads);
    if (!best || even > best_balance + 0.1) {
      best = r;
      best_balance = even;
    }
  }
  return best;
}

// Whether each task fills a tile with what other tasks fill theirs with.
bool repeats_outer_fills(const KernelState& k, UOp loop) {
  return std::ranges::any_of(
      toposort(k.sink), [&](UOp u) { return is_write(u) && tile_of(u) && !u.varies_over(loop); });
}

// The fewest tasks that the threads share evenly; nothing if there are none.
std::optional<std::int64_t> fewest_tasks(std::int64_t size, std::int64_t threads) {
  for (std::int64_t tasks = threads; tasks <= MachineModel::tasks_per_thread * threads; tasks++) {
    if (size % tasks == 0 && balance(tasks, threads) * MachineModel::most_uneven >= 1) return tasks;
  }
  return {};
}

// Iterations of a task.
std::int64_t iterations_of_task(const KernelState& k, UOp loop) {
  const std::int64_t threads = k.caps().threads;
  if (loop.is_open()) return largest_divisor(loop.trip_divisor(), most_open_iterations);
  if (repeats_outer_fills(k, loop)) {
    if (const auto tasks = fewest_tasks(loop.range_size(), threads))
      return loop.range_size() / *tasks;
  }
  return loop.range_size() / tasks_of(loop.range_size(), threads);
}

// A size without divisors, whose iterations do less than calling a task takes: the last of the
// tasks does less than the others.  1 where that is not so.
std::int64_t iterations_of_padded_task(const KernelState& k, UOp loop) {
  const std::int64_t threads = k.caps().threads;
  if (loop.is_open() || k.caps().has_groups) return 1;
  const std::int64_t size = loop.range_size(), few = MachineModel::tasks_per_thread * threads;
  if (size <= few * few || tasks_of(size, threads) < size) return 1;
  const bool is_short = work_of(k.sink) / size < least_work_of_task;
  return is_short ? std::min((size + few - 1) / few, most_padding) : 1;
}

// Whether what other threads take over saves more time than handing it to them takes.
bool is_worth_threads(const KernelState& k) {
  const MachineModel model(k.caps());
  const auto threads = static_cast<double>(model.threads);
  const double handing = MachineModel::launch +
                         MachineModel::call * static_cast<double>(model.tasks_per_thread) * threads;
  return time_of(k.sink, model) * (1 - 1 / threads) > handing;
}

// One loop becomes tasks of the thread pool, or groups that are what tasks are, outermost.
void bind_tasks(KernelState& k) {
  if (!is_worth_threads(k)) return;
  const UOp loop = loop_for_tasks(k);
  if (!loop) return;
  const std::int64_t padded = iterations_of_padded_task(k, loop);
  const SplitRange parts = padded > 1 ? split(k, pad(k, loop, padded), padded)
                                      : split(k, loop, iterations_of_task(k, loop));
  if (!parts.outer.is(Op::Range)) return;
  const UOp task = bind(k, parts.outer, k.caps().has_groups ? LoopKind::Group : LoopKind::Thread);
  std::vector<UOp> order = k.loops;
  std::stable_partition(order.begin(), order.end(), [&](UOp r) { return r == task; });
  reorder(k, order);
}

}  // namespace

void choose_edits(KernelState& k) {
  normalize_loops(k);
  unroll_branches(k);
  if (k.caps().runs_warps()) {
    choose_groups(k);
    return;
  }
  if (!tile_block_products(k) && !take_dot_lanes(k) && !make_square_tiles(k) && !stream_rows(k) &&
      !tile_contraction(k) && !take_whole_pictures(k) && !slide_windows(k)) {
    join_passes(k);
    interleave_rows(k);
    keep_work(k);
    vectorize(k);
  }
  shorten_sums(k);
  tabulate_work(k);
  share_rows(k);
  bind_tasks(k);
}

}  // namespace croze
