// step.cpp -- croze-bench step: prepared steps (croze/prepared/).
//
// Overhead: a step of a thousand kernels that compute one number each.  The time of a run by the
// number of its calls is all that a call costs, the addition in it included, so the overhead is
// less.  Asked of the system: what runs allocate, lock and call is counted (support/call_counts.h).
// Threads: each runs an instance of its own, and what they gain is held against what multiply-adds
// of so many threads gain.  Start: a process that loads a saved BlazeFace and runs it once says
// when it had the result; the clock was read before it was started.  Checkpointing: checkpoint.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "checkpoint.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/io/onnx/captured.h"
#include "croze/nn/nn.h"
#include "croze/prepared/prepared_step.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "measure.h"
#include "suites.h"
#include "support/call_counts.h"
#include "yardstick/yardstick.h"

namespace croze::bench {
namespace {

namespace fs = std::filesystem;

constexpr double most_us_a_call = 0.3;
constexpr double most_ms_to_first_result = 15, most_ms_to_load = 5;
// Of what the processor gains by as many threads: two of them may be one core.
constexpr double least_part_of_gain = 0.7;

struct StepOptions {
  bool as_json = false;
  std::string model = CROZE_BENCH_MODELS "/face_detection_front_128x128_barracuda.onnx";
  std::string first_result_of;
  double seconds = 1;
  int rounds = 11;
};

// ---- overhead ---------------------------------------------------------------------------------

// x + w0 + w1 + ..., each addition a kernel.
PreparedStep tiny_kernels() {
  constexpr int count = 1000;
  const Options::Scope unfused{{Option::Fusion, false}};
  std::vector<Tensor> terms;
  for (int i = 0; i < count; i++) terms.push_back(Tensor::full({1}, 0.5 + i).realize());
  auto step = capture([&](const Tensor& x) {
    Tensor sum = x;
    for (const Tensor& t : terms) sum = (sum + t).abs();
    return sum;
  });
  step(Tensor::ones({1}).realize());
  PreparedStep prepared = prepare(step);
  check(prepared.sizes().calls >= count, "a step of {} additions has {} calls", count,
        prepared.sizes().calls);
  return prepared;
}

double us_a_call(const PreparedStep& step, double seconds) {
  StepInstance instance = step.instance();
  const std::vector<double> run = interleaved({[&] { instance.run(); }}, seconds);
  return run[0] * 1e6 / static_cast<double>(step.sizes().calls);
}

// ---- what is asked of the system ----------------------------------------------------------------

void add_counts(Json& rows, const std::string& name, const PreparedStep& step) {
  StepInstance instance = step.instance();
  const test::CallCounts counts = test::count_calls([&] { instance.run(); });
  const int system_calls = test::count_system_calls([&] { instance.run(); });
  check(system_calls >= 0, "the system does not let a process stop its system calls");
  const auto add = [&](const char* what, std::int64_t count) {
    rows.push_back(
        limited(name + ": " + what + " of a run", static_cast<double>(count), "", 0, Limit::Most));
  };
  if (test::can_count_calls()) {
    add("allocations", counts.allocations);
    add("locks", counts.locks);
  }
  add("system calls", system_calls);
}

// ---- threads ----------------------------------------------------------------------------------

struct ConvolutionalNet {
  nn::Conv2d first{1, 16, 3}, second{16, 16, 3};
  Tensor operator()(const Tensor& x) const { return relu(second(relu(first(x)))); }
};

struct Throughput {
  double runs_per_second = 0;
  std::int64_t locks = 0;
};

Throughput throughput_of(const PreparedStep& step, int count, double seconds) {
  std::vector<StepInstance> instances;
  for (int i = 0; i < count; i++) instances.push_back(step.instance());
  std::atomic<std::int64_t> runs = 0, locks = 0;
  const Stopwatch watch;
  std::vector<std::thread> threads;
  for (StepInstance& instance : instances) {
    threads.emplace_back([&] {
      std::int64_t own = 0;
      const test::CallCounts counts = test::count_calls([&] {
        for (; watch.seconds() < seconds; own++) instance.run();
      });
      runs += own;
      locks += counts.locks;
    });
  }
  for (std::thread& t : threads) t.join();
  return {static_cast<double>(runs) / watch.seconds(), locks};
}

void add_threads_of_step(Json& rows, double seconds) {
  constexpr int rounds = 5;
  const ConvolutionalNet net;
  auto step = capture([&](const Tensor& x) { return net(x); });
  step(Tensor::ones({1, 1, 32, 32}).realize());
  const PreparedStep prepared = prepare(step);
  for (int threads : {2, 8}) {
    // Side by side, because other programs take and give back cores.
    std::vector<double> gains, possible, runs;
    std::int64_t locks = 0;
    for (int i = 0; i < rounds; i++) {
      const Throughput one = throughput_of(prepared, 1, seconds / rounds);
      const Throughput all = throughput_of(prepared, threads, seconds / rounds);
      gains.push_back(all.runs_per_second / one.runs_per_second);
      possible.push_back(gain_of_processor(threads));
      runs.push_back(all.runs_per_second);
      locks += one.locks + all.locks;
    }
    Json gain = limited(fmt::format("{} threads: throughput", threads), median(gains),
                        "x one thread", least_part_of_gain * median(possible), Limit::Least);
    gain["gain_of_processor"] = median(possible);
    gain["runs_per_second"] = median(runs);
    rows.push_back(std::move(gain));
    rows.push_back(limited(fmt::format("{} threads: locks", threads), static_cast<double>(locks),
                           "", 0, Limit::Most));
  }
}

// ---- from the start of a process ----------------------------------------------------------------

// Of the clock that all processes read.
double now_ms() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

bool has_loaded(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != line.npos) return true;
  }
  return false;
}

Json first_result_of(const std::string& file) {
  const double begin = now_ms();
  const PreparedStep step = load_step(file);
  const double loaded = now_ms();
  StepInstance instance = step.instance();
  instance.run();
  const double done = now_ms();
  return {{"done_ms", done}, {"load_ms", loaded - begin}, {"llvm", has_loaded("libLLVM")}};
}

void add_start(Json& rows, const PreparedStep& step, int rounds) {
  const fs::path file = fs::temp_directory_path() / fmt::format("croze-bench-{}.step", getpid());
  step.save(file.string());
  std::vector<double> to_first_result, to_load;
  std::int64_t with_llvm = 0;
  for (int i = 0; i < rounds; i++) {
    const double start = now_ms();
    const Json child = Json::parse(run_self({"step", "--first-result-of", file.string()}));
    to_first_result.push_back(child["done_ms"].get<double>() - start);
    to_load.push_back(child["load_ms"].get<double>());
    with_llvm += child["llvm"].get<bool>();
  }
  fs::remove(file);
  rows.push_back(limited("BlazeFace: process start to first result", median(to_first_result), "ms",
                         most_ms_to_first_result, Limit::Most));
  rows.push_back(
      limited("BlazeFace: loading", median(to_load), "ms", most_ms_to_load, Limit::Most));
  rows.push_back(limited("BlazeFace: processes that loaded LLVM", static_cast<double>(with_llvm),
                         "", 0, Limit::Most));
}

std::optional<PreparedStep> blaze_face(const std::string& path) {
  if (!fs::exists(path)) return std::nullopt;
  return prepare(capture_model(onnx::Model(path)).step);
}

// ---- the suite --------------------------------------------------------------------------------

void run_step(const StepOptions& options) {
  if (!options.first_result_of.empty()) {
    fmt::print("{}\n", first_result_of(options.first_result_of).dump());
    return;
  }
  Json rows = Json::array(), others = Json::object();
  const PreparedStep tiny = tiny_kernels();
  rows.push_back(limited("tiny kernels: a call", us_a_call(tiny, options.seconds), "us",
                         most_us_a_call, Limit::Most));
  add_counts(rows, "tiny kernels", tiny);
  add_threads_of_step(rows, options.seconds);
  if (const std::optional<PreparedStep> faces = blaze_face(options.model)) {
    add_counts(rows, "BlazeFace", *faces);
    add_start(rows, *faces, options.rounds);
    StepInstance instance = faces->instance();
    others["blaze_face_ms"] = interleaved({[&] { instance.run(); }}, options.seconds)[0] * 1e3;
  } else {
    others["skipped"] = "BlazeFace: there is no " + options.model + " (tests/models/fetch.sh)";
    if (!options.as_json) fmt::print("skipped: {}\n", others["skipped"].get<std::string>());
  }
  const Json checkpointed = checkpoint_rows(options.seconds);
  for (const Json& row : checkpointed.elements()) rows.push_back(row);
  if (!options.as_json) print_limited(rows);
  finish_suite("step", rows, options.as_json, others);
}

}  // namespace

void add_step(const Command& program) {
  auto options = std::make_shared<StepOptions>();
  const Command command = program.subcommand("step", "Prepared steps: overhead, threads, start");
  command.option("--model", options->model, "File of BlazeFace, as tests/models/fetch.sh puts it");
  command.option("--seconds", options->seconds, "For each measurement");
  command.option("--rounds", options->rounds, "Processes that are started");
  command.flag("--json", options->as_json, "One line of JSON");
  command.option("--first-result-of", options->first_result_of, "").hidden();
  command.action([options] { run_step(*options); });
}

}  // namespace croze::bench
