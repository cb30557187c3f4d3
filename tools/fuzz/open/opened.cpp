// opened.cpp -- Variables in the place of sizes.
#include "fuzz/open/opened.h"

#include <map>
#include <utility>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "fuzz/chance.h"

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;

constexpr int percent_open = 60;

// A trip count for loops of this size, which is the most that it can be: n, or n times what divides
// it, or the lesser of n and a number.
UOp trip_of(i64 size, ScheduleStep& step, Graph& graph, Chance& chance) {
  const i64 factor = size % 4 == 0 && chance.percent(30) ? 4 : 1, value = size / factor;
  const auto slot = std::ssize(step.variables) + std::ssize(step.own_variables);
  const i64 lo = chance.below(value), more = chance.percent(25) ? 1 + chance.below(5) : 0;
  step.own_variables.push_back(value + chance.below(more + 1));
  const UOp n = graph.variable(slot, lo, value + more);
  return min(n, graph.index(value)) * factor;
}

void open_step(ScheduleStep& step, Chance& chance) {
  auto kernel = std::make_shared<Kernel>();
  kernel->graph = std::make_shared<Graph>();
  Graph& graph = *kernel->graph;
  const UOp sink = graph.import(step.kernel->sink);
  std::map<i64, UOp> trips;  // by size; null: stays a constant
  std::vector<std::pair<UOp, UOp>> opened;
  for (UOp u : toposort(sink)) {
    if (!u.is(Op::Range) || u.range_size() < 2) continue;
    const auto [trip, is_new] = trips.try_emplace(u.range_size());
    if (is_new && chance.percent(percent_open)) {
      trip->second = trip_of(u.range_size(), step, graph, chance);
    }
    if (!trip->second) continue;
    opened.emplace_back(u, graph.range(u.range_id(), trip->second, u.loop_kind()));
  }
  kernel->sink = substitute(sink, opened);
  step.kernel = std::move(kernel);
}

}  // namespace

void open_sizes(Schedule& schedule, std::uint64_t seed) {
  Chance chance(seed);
  for (ScheduleStep& step : schedule.steps) {
    if (step.kernel && step.sequence < 0) open_step(step, chance);
  }
}

}  // namespace croze::fuzz
