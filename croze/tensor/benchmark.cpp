// benchmark.cpp -- the clock around fresh work.
#include "croze/tensor/benchmark.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "croze/run/devices.h"
#include "croze/run/queue_scope.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze::detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void forget_results() {
  GraphLock lock;
  Registry::instance().forget_values();
}

double seconds_of(function_ref<std::vector<Tensor>()> work, Location at) {
  forget_results();
  const Clock::time_point start = Clock::now();
  const std::vector<Tensor> results = work();
  realize(results, at);
  std::set<int> devices{default_device()};
  for (const Tensor& t : results) devices.insert(std::max(t.device_index(), 0));
  if (Queue* const queue = QueueScope::current()) queue->synchronize();
  for (int d : devices) device(d).synchronize();
  return seconds_since(start);
}

}  // namespace

Timing time_runs(function_ref<std::vector<Tensor>()> work, const BenchmarkOptions& options,
                 Location at) {
  check(options.warm_up >= 0 && options.runs > 0, at, "benchmark: {} runs after {} to warm up",
        options.runs, options.warm_up);
  for (std::int64_t i = 0; i < options.warm_up; i++) seconds_of(work, at);
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (static_cast<std::int64_t>(seconds.size()) < options.runs ||
         seconds_since(start) < options.seconds) {
    seconds.push_back(seconds_of(work, at));
  }
  std::ranges::sort(seconds);
  const auto quantile = [&](double q) {
    return seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size() - 1) + 0.5)];
  };
  return {.median = quantile(0.5),
          .lower = quantile(0.25),
          .upper = quantile(0.75),
          .least = seconds.front(),
          .greatest = seconds.back(),
          .runs = static_cast<std::int64_t>(seconds.size())};
}

}  // namespace croze::detail
