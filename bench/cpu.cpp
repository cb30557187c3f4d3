// cpu.cpp -- croze-bench cpu: how fast generated kernels are, as a share of what the processor can
// do.
//
// The machine's own speed is measured in the same run, in turns with the kernels, so that whatever
// else the machine does slows both.  Nothing is searched or tuned beforehand.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <memory>

#include "command_line/json.h"
#include "corpus/data.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/jit/capture.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/reduce/reduce.h"
#include "measure.h"
#include "openblas.h"
#include "suites.h"
#include "yardstick/yardstick.h"

namespace croze::bench {
namespace {

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
  std::function<void()> run;
  Json facts = Json::object();
  std::vector<double> seconds = {}, cpu_seconds = {};  // per run, of each turn
};

// One turn: so many runs that the clock does not matter.
void take_turn(Contender& c) {
  constexpr double long_enough = 0.02;
  const double cpu_before = cpu_seconds();
  const Stopwatch watch;
  int runs = 0;
  do {
    c.run();
    runs++;
  } while (watch.seconds() < long_enough);
  c.seconds.push_back(watch.seconds() / runs);
  c.cpu_seconds.push_back((cpu_seconds() - cpu_before) / runs);
}

Tensor random_tensor(const Shape& shape, unsigned seed) {
  return Tensor::from_data(corpus::random_numbers(shape, seed), shape);
}

// A kernel from tensors to a tensor that keeps its memory, as the parameters of a model do.
template <typename F>
Contender kernel(std::string name, double work, const Tensor& result, F function) {
  auto step = std::make_shared<decltype(capture(function))>(capture(function));
  (*step)();
  Contender c{std::move(name), work, [step] { (*step)(); }};
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
  auto a = corpus::random_numbers({n, n}, 1), b = corpus::random_numbers({n, n}, 2), c = a;
  return {fmt::format("openblas matmul {}", n), matmul_work(n),
          [=]() mutable { blas.matmul(n, a.data(), b.data(), c.data()); }};
}

std::vector<Contender> gemm_suite(ThreadPool& pool, bool with_openblas) {
  std::vector<Contender> suite;
  suite.push_back({fmt::format("multiply-adds, {} bits", multiply_add_bits()),
                   multiply_add_operations(pool), [&pool] { run_multiply_adds(pool); }});
  for (std::int64_t n : {1024, 512, 256}) suite.push_back(matmul_contender(n));
  suite.push_back(conv_contender());
  if (!with_openblas) return suite;
  const OpenBlas blas(pool.thread_count());
  for (std::int64_t n : {1024, 512, 256}) suite.push_back(openblas_contender(n, blas));
  return suite;
}

// ---- memory-bound kernels ---------------------------------------------------------------------

// Work is the least traffic: every operand read once, the result written once.
std::vector<Contender> memory_suite(ThreadPool& pool) {
  constexpr std::int64_t rows = 8192, columns = 2048;  // 64 MiB, more than caches hold
  const double bytes = 4.0 * rows * columns;
  const Tensor a = random_tensor({rows, columns}, 5), b = random_tensor({rows, columns}, 6);
  Tensor out = zeros({rows, columns}), total = zeros({}), row = zeros({rows});
  auto copy = std::make_shared<CopyRun>();
  std::vector<Contender> suite;
  suite.push_back({"copy", 2.0 * CopyRun::bytes, [copy, &pool] { copy->run(pool); }});
  suite.push_back(kernel("add", 3 * bytes, out, [=]() mutable { out.assign(a + b); }));
  suite.push_back(kernel("sum", bytes, total, [=]() mutable { total.assign(sum(a)); }));
  suite.push_back(kernel("row sum", bytes, row, [=]() mutable { row.assign(sum(a, 1)); }));
  suite.push_back(kernel("softmax", 2 * bytes, out, [=]() mutable { out.assign(softmax(a)); }));
  suite.push_back(
      kernel("layernorm", 2 * bytes, out, [=]() mutable { out.assign(layer_norm(a)); }));
  return suite;
}

// ---- the run ----------------------------------------------------------------------------------

// The first is the yardstick.  Besides the speed there is the speed per second of processor time,
// which other programs on the machine do not lower.
Json compete(std::vector<Contender>& suite, int rounds, int threads) {
  for (int i = 0; i < rounds; i++) {
    for (Contender& c : suite) take_turn(c);
  }
  const auto speed = [](const Contender& c) { return c.work / median(c.seconds); };
  const auto cpu_speed = [&](const Contender& c) {
    return c.work / median(c.cpu_seconds) * threads;
  };
  Json results = Json::array();
  for (const Contender& c : suite) {
    Json result = c.facts;
    result["name"] = c.name;
    result["ms"] = median(c.seconds) * 1e3;
    result["giga_per_second"] = speed(c) * 1e-9;
    result["giga_per_cpu_second"] = cpu_speed(c) * 1e-9;
    result["fraction_of_peak"] = speed(c) / speed(suite[0]);
    result["fraction_of_peak_by_cpu_time"] = cpu_speed(c) / cpu_speed(suite[0]);
    results.push_back(std::move(result));
  }
  return results;
}

void add_openblas_ratios(Json& results) {
  for (Json& ours : results.elements()) {
    for (const Json& theirs : results.elements()) {
      if (theirs["name"].get<std::string>() != "openblas " + ours["name"].get<std::string>())
        continue;
      ours["times_openblas"] =
          ours["giga_per_second"].get<double>() / theirs["giga_per_second"].get<double>();
    }
  }
}

void print_table(const Json& report) {
  fmt::print("{:32} {:>10} {:>10} {:>8} {:>12}\n", "medians", "ms",
             report["unit"].get<std::string>(), "of peak", "by CPU time");
  for (const Json& r : report["results"].elements()) {
    fmt::print("{:32} {:10.3f} {:10.1f} {:7.1f}% {:11.1f}%\n", r["name"].get<std::string>(),
               r["ms"].get<double>(), r["giga_per_second"].get<double>(),
               r["fraction_of_peak"].get<double>() * 100,
               r["fraction_of_peak_by_cpu_time"].get<double>() * 100);
  }
}

void run_cpu(const CpuOptions& options) {
  const Options::Scope scope{{Option::Device, "CPU"}, {Option::Threads, options.threads}};
  ThreadPool pool;
  const bool gemm = options.suite == "gemm";
  std::vector<Contender> suite = gemm ? gemm_suite(pool, options.openblas) : memory_suite(pool);
  Json results = compete(suite, options.rounds, pool.thread_count());
  add_openblas_ratios(results);
  const Json report = {{"suite", "cpu " + options.suite},
                       {"machine", machine()},
                       {"unit", gemm ? "GFLOP/s" : "GB/s"},
                       {"rounds", options.rounds},
                       {"peak", results.elements()[0]["giga_per_second"]},
                       {"results", results}};
  if (options.as_json) {
    fmt::print("{}\n", report.dump());
  } else {
    print_table(report);
  }
}

}  // namespace

void add_cpu(const Command& program) {
  auto options = std::make_shared<CpuOptions>();
  const Command command =
      program.subcommand("cpu", "Speed of kernels on the CPU, against its peak");
  command.option("--suite", options->suite, "gemm or memory").one_of({"gemm", "memory"});
  command.option("--threads", options->threads, "0: one for each core").not_negative();
  command.option("--rounds", options->rounds, "Turns of each; medians are reported").positive();
  command.flag("--openblas", options->openblas, "Measure OpenBLAS too");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_cpu(*options); });
}

}  // namespace croze::bench
