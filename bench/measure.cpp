// measure.cpp -- clocks, medians, and a fresh process for what must start cold.
#include "measure.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "croze/base/error.h"
#include "croze/base/thread_pool.h"
#include "croze/base/version.h"
#include "croze/graph/graph.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"

namespace croze::bench {
namespace {

std::string read_to_end(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(descriptor, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

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

std::int64_t peak_rss_bytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<std::int64_t>(use.ru_maxrss) * 1024;
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

void launch(const PreparedRun& prepared, Graph& results) {
  for (UOp value : run(prepared, inputs_of(prepared), results)) {
    if (value) release_buffer(value.buffer_id());
  }
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

std::string run_self(const std::vector<std::string>& arguments) {
  std::string program = "/proc/self/exe";
  std::vector<char*> argv{program.data()};
  std::vector<std::string> copies = arguments;
  for (std::string& a : copies) argv.push_back(a.data());
  argv.push_back(nullptr);

  int ends[2];
  check(pipe(ends) == 0, "pipe: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failure = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output = failure ? "" : read_to_end(ends[0]);
  close(ends[0]);
  check(failure == 0, "cannot start another process: {}", std::strerror(failure));

  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "croze-bench {} failed in a process of its own", fmt::join(arguments, " "));
  return output;
}

}  // namespace croze::bench
