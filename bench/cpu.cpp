// cpu.cpp -- croze-bench cpu: how fast generated kernels are, as a share of what the processor can
// do.
//
// The machine's own speed is measured in the same run, in turns with the kernels, so that whatever
// else the machine does slows both.  Nothing is searched or tuned beforehand.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/options.h"
#include "base/thread_pool.h"
#include "fma_peak.h"
#include "jit/capture.h"
#include "measure.h"
#include "models/data.h"
#include "openblas.h"
#include "suites.h"
#include "tensor/elementwise.h"
#include "tensor/functional.h"
#include "tensor/linalg.h"
#include "tensor/reduce.h"

namespace croze::bench {
namespace {

using nlohmann::json;

struct CpuOptions {
  std::string suite = "gemm";
  int threads = 0;
  int rounds = 15;
  bool openblas = false;
  bool as_json = false;
};

// Something that is timed: `work` operations or bytes per run.
struct Contender {
  std::string name;
  double work = 0;
  std::function<double()> seconds;  // of one run
  std::vector<double> times = {};
  json facts = json::object();
};

// The mean over so many runs that the clock does not matter.
template <typename F>
double seconds_per_run(F&& run) {
  constexpr double long_enough = 0.02;
  const Stopwatch watch;
  std::int64_t runs = 0;
  do {
    run();
    runs++;
  } while (watch.seconds() < long_enough);
  return watch.seconds() / static_cast<double>(runs);
}

Tensor random_tensor(const Shape& shape, unsigned seed) {
  return Tensor::from_data(random_numbers(shape, seed), shape);
}

// A kernel from tensors to a tensor that keeps its memory, as the parameters of a model do.
template <typename F>
Contender kernel(std::string name, double work, const Tensor& result, F function) {
  auto step = std::make_shared<decltype(capture(function))>(capture(function));
  (*step)();
  Contender c{std::move(name), work, [step] { return seconds_per_run([&] { (*step)(); }); }};
  const RunSummary summary = step->step().summary();
  c.facts["kernels"] = summary.kernels;
  c.facts["shape"] = to_text(result.shape());
  return c;
}

Tensor zeros(const Shape& shape) { return Tensor::zeros(shape).realize(); }

// ---- matrix products --------------------------------------------------------------------------

double matmul_work(std::int64_t n) { return 2.0 * static_cast<double>(n * n * n); }

// A few elements of the product, against sums in double precision.
void check_product(const Tensor& a, const Tensor& b, const Tensor& c) {
  const std::int64_t n = a.size(0);
  const auto left = a.to_vector<float>(), right = b.to_vector<float>(), out = c.to_vector<float>();
  for (std::int64_t i = 0; i < n; i += n / 8 - 1) {
    for (std::int64_t j = 0; j < n; j += n / 8 - 1) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; k++) {
        sum += double{left[static_cast<std::size_t>(i * n + k)]} *
               double{right[static_cast<std::size_t>(k * n + j)]};
      }
      const double got = double{out[static_cast<std::size_t>(i * n + j)]};
      check(std::abs(got - sum) < 1e-3, "matmul {}: element ({}, {}) is {}, not {}", n, i, j, got,
            sum);
    }
  }
}

Contender matmul_contender(std::int64_t n) {
  const Tensor a = random_tensor({n, n}, 1), b = random_tensor({n, n}, 2);
  Tensor c = zeros({n, n});
  Contender result = kernel(fmt::format("matmul {}", n), matmul_work(n), c,
                            [=]() mutable { c.assign(matmul(a, b)); });
  check_product(a, b, c);
  return result;
}

Contender conv_contender() {
  const Tensor x = random_tensor({8, 64, 56, 56}, 3), w = random_tensor({64, 64, 3, 3}, 4);
  Tensor y = zeros({8, 64, 56, 56});
  return kernel("conv 3x3 64->64 56x56 batch 8", 2.0 * 8 * 64 * 56 * 56 * 64 * 9, y,
                [=]() mutable { y.assign(conv2d(x, w, {}, {.padding = 1})); });
}

Contender openblas_contender(std::int64_t n, const OpenBlas& blas) {
  auto a = random_numbers({n, n}, 1), b = random_numbers({n, n}, 2), c = a;
  auto run = [=]() mutable {
    return seconds_per_run([&] { blas.matmul(n, a.data(), b.data(), c.data()); });
  };
  return {fmt::format("openblas matmul {}", n), matmul_work(n), std::move(run)};
}

std::vector<Contender> gemm_suite(const CpuOptions& options, int threads) {
  std::vector<Contender> suite;
  for (std::int64_t n : {1024, 512, 256}) suite.push_back(matmul_contender(n));
  suite.push_back(conv_contender());
  if (!options.openblas) return suite;
  const OpenBlas blas(threads);
  for (std::int64_t n : {1024, 512, 256}) suite.push_back(openblas_contender(n, blas));
  return suite;
}

// ---- memory-bound kernels ---------------------------------------------------------------------

// Work is the least traffic: every operand read once, the result written once.
std::vector<Contender> memory_suite() {
  constexpr std::int64_t rows = 8192, columns = 2048;  // 64 MiB, more than caches hold
  const double bytes = 4.0 * rows * columns;
  const Tensor a = random_tensor({rows, columns}, 5), b = random_tensor({rows, columns}, 6);
  Tensor out = zeros({rows, columns}), total = zeros({}), row = zeros({rows});
  std::vector<Contender> suite;
  suite.push_back(kernel("add", 3 * bytes, out, [=]() mutable { out.assign(a + b); }));
  suite.push_back(kernel("sum", bytes, total, [=]() mutable { total.assign(sum(a)); }));
  suite.push_back(kernel("row sum", bytes, row, [=]() mutable { row.assign(sum(a, 1)); }));
  suite.push_back(kernel("softmax", 2 * bytes, out, [=]() mutable { out.assign(softmax(a)); }));
  suite.push_back(
      kernel("layernorm", 2 * bytes, out, [=]() mutable { out.assign(layer_norm(a)); }));
  return suite;
}

// ---- the run ----------------------------------------------------------------------------------

// `peak` returns operations or bytes per second; it takes its turn in each round.
json compete(std::vector<Contender>& suite, const std::function<double()>& peak, int rounds) {
  std::vector<double> peaks;
  for (int i = 0; i < rounds; i++) {
    peaks.push_back(peak());
    for (Contender& c : suite) c.times.push_back(c.seconds());
  }
  const double most = median(peaks);
  json results = json::array();
  for (const Contender& c : suite) {
    const double seconds = median(c.times);
    json result = c.facts;
    result["name"] = c.name;
    result["ms"] = seconds * 1e3;
    result["giga_per_second"] = c.work / seconds * 1e-9;
    result["best_giga_per_second"] = c.work / *std::ranges::min_element(c.times) * 1e-9;
    result["fraction_of_peak"] = c.work / seconds / most;
    results.push_back(std::move(result));
  }
  return {{"peak_giga_per_second", most * 1e-9},
          {"best_peak_giga_per_second", *std::ranges::max_element(peaks) * 1e-9},
          {"results", results}};
}

void add_openblas_ratios(json& results) {
  for (json& ours : results) {
    for (const json& theirs : results) {
      if (theirs["name"] != "openblas " + ours["name"].get<std::string>()) continue;
      ours["times_openblas"] =
          ours["giga_per_second"].get<double>() / theirs["giga_per_second"].get<double>();
    }
  }
}

void print_table(const json& report) {
  const std::string unit = report["unit"];
  fmt::print("{:32} {:>10} {:>10} {:>8}\n", "medians", "ms", unit, "of peak");
  fmt::print("{:32} {:10} {:10.1f}\n", report["peak"].get<std::string>(), "",
             report["peak_giga_per_second"].get<double>());
  for (const json& r : report["results"]) {
    fmt::print("{:32} {:10.3f} {:10.1f} {:7.1f}%\n", r["name"].get<std::string>(),
               r["ms"].get<double>(), r["giga_per_second"].get<double>(),
               r["fraction_of_peak"].get<double>() * 100);
  }
}

void run_cpu(const CpuOptions& options) {
  const Options::Scope scope{{Option::Device, "CPU"}, {Option::Threads, options.threads}};
  ThreadPool pool;
  const bool gemm = options.suite == "gemm";
  std::vector<Contender> suite = gemm ? gemm_suite(options, pool.thread_count()) : memory_suite();
  std::optional<CopyBandwidth> copy;
  if (!gemm) copy.emplace();
  json report = compete(
      suite, [&] { return gemm ? measure_fma_peak(pool) : copy->measure(pool); }, options.rounds);
  add_openblas_ratios(report["results"]);
  report["suite"] = options.suite;
  report["unit"] = gemm ? "GFLOP/s" : "GB/s";
  report["peak"] =
      gemm ? fmt::format("multiply-adds, {} bits", fma_vector_bits()) : "copy, 128 MiB";
  report["rounds"] = options.rounds;
  report["machine"] = machine();
  if (options.as_json) {
    fmt::print("{}\n", report.dump());
  } else {
    print_table(report);
  }
}

}  // namespace

void add_cpu(CLI::App& app) {
  auto options = std::make_shared<CpuOptions>();
  CLI::App& command = *app.add_subcommand("cpu", "Speed of kernels on the CPU, against its peak");
  command.add_option("--suite", options->suite, "gemm or memory")
      ->check(CLI::IsMember({"gemm", "memory"}));
  command.add_option("--threads", options->threads, "0: one for each core")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--rounds", options->rounds, "Turns of each; medians are reported")
      ->check(CLI::PositiveNumber);
  command.add_flag("--openblas", options->openblas, "Measure OpenBLAS too");
  command.add_flag("--json", options->as_json, "One line of JSON");
  command.callback([options] { run_cpu(*options); });
}

}  // namespace croze::bench
