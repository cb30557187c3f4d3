// measure.h -- clocks, medians, and what the numbers were measured on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "command_line/process.h"
#include "croze/graph/graph.h"
#include "croze/run/execute.h"

namespace croze::bench {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double ms() const { return seconds() * 1e3; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// User and system time of this process so far, all threads.
double cpu_seconds();
// Memory of this process now.
std::int64_t rss_bytes();

double median(std::vector<double> values);
// One object with the median of each number of these, which have the same members; what is no
// number is taken from the first.
Json median(const std::vector<Json>& runs);

// Seconds that one call of each function takes, the median: they are called in turns, until
// `seconds` are over and each has been called five times.
std::vector<double> interleaved(const std::vector<std::function<void()>>& functions,
                                double seconds);

// One run over the inputs that were prepared. The results are let go of, as those of a step in a
// loop are when the next one begins: memory that piles up would be faulted in anew each time.
// `results` gets their nodes; one graph serves all launches, since making one takes microseconds.
void launch(const PreparedRun& prepared, Graph& results);

// How many times the multiply-adds of one thread so many threads do in the same time.
double gain_of_processor(int threads);

// Processor, threads, version, and how busy the machine was: without them a number means nothing.
Json machine();

// A row whose value has a limit.
enum class Limit { Least, Most };
Json limited(const std::string& name, double value, const char* unit, double limit, Limit kind);
void print_limited(const Json& rows);

// The end of a suite: with `as_json` the one line, of rows that each say whether their limit holds,
// and what else was measured. Throws Error if a limit does not hold.
void finish_suite(const std::string& name, const Json& rows, bool as_json,
                  const Json& others = Json::object());

}  // namespace croze::bench
