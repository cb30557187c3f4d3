// measure.cpp -- clocks and medians.
#include "measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "croze/base/error.h"
#include "croze/base/thread_pool.h"
#include "croze/base/version.h"
#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "yardstick/yardstick.h"

namespace croze::bench {
double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

std::int64_t rss_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;  // the second number
  return pages * sysconf(_SC_PAGESIZE);
}

std::vector<double> interleaved(const std::vector<std::function<void()>>& functions,
                                double seconds) {
  constexpr std::size_t least_calls = 5;
  std::vector<std::vector<double>> times(functions.size());
  const Stopwatch all;
  while (times[0].size() < least_calls || all.seconds() < seconds) {
    for (std::size_t i = 0; i < functions.size(); i++) {
      const Stopwatch one;
      functions[i]();
      times[i].push_back(one.seconds());
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& t : times) medians.push_back(median(t));
  return medians;
}

double median(std::vector<double> values) {
  ensure(!values.empty(), "the median of nothing");
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Json median(const std::vector<Json>& runs) {
  Json result = runs.at(0);
  for (const std::string& name : runs.at(0).names()) {
    if (!result[name].is_float()) continue;
    std::vector<double> values;
    for (const Json& run : runs) values.push_back(run[name].get<double>());
    result[name] = median(std::move(values));
  }
  return result;
}

Json limited(const std::string& name, double value, const char* unit, double limit, Limit kind) {
  const bool is_most = kind == Limit::Most;
  return {{"name", name},
          {"value", value},
          {"unit", unit},
          {"limit", limit},
          {"limit_is", is_most ? "most" : "least"},
          {"holds", is_most ? value <= limit : value >= limit}};
}

void print_limited(const Json& rows) {
  for (const Json& r : rows.elements()) {
    fmt::print("{:44} {:10.4g} {:14} at {:5} {:5.3g}  {}\n", r["name"].get<std::string>(),
               r["value"].get<double>(), r["unit"].get<std::string>(),
               r["limit_is"].get<std::string>(), r["limit"].get<double>(),
               r["holds"].get<bool>() ? "" : "does not hold");
  }
}

void launch(const PreparedRun& prepared, Graph& results) {
  for (UOp value : run(prepared, inputs_of(prepared), results)) {
    if (value) release_buffer(value.buffer_id());
  }
}

double gain_of_processor(int threads) {
  ThreadPool one(1), all(threads);
  const std::vector<double> seconds =
      interleaved({[&] { run_multiply_adds(one); }, [&] { run_multiply_adds(all); }}, 0.5);
  return multiply_add_operations(all) / seconds[1] * seconds[0] / multiply_add_operations(one);
}

Json machine() {
  double load = 0;
  getloadavg(&load, 1);
  return {{"croze", version()},
          {"device", device(default_device()).description()},
          {"threads", default_thread_count()},
          {"load_average", load}};
}

void finish_suite(const std::string& name, const Json& rows, bool as_json, const Json& others) {
  const bool holds =
      std::ranges::all_of(rows.elements(), [](const Json& r) { return r["holds"].get<bool>(); });
  if (as_json) {
    Json all{{"suite", name}, {"machine", machine()}, {"results", rows}, {"holds", holds}};
    for (const std::string& member : others.names()) all[member] = others[member];
    fmt::print("{}\n", all.dump());
  }
  std::fflush(stdout);
  check(holds, "a limit does not hold");
}

}  // namespace croze::bench
