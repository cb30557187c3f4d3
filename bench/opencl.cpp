// opencl.cpp -- croze-bench opencl: matrix products on OpenCL, checked against the host, and
// whether their tiles are staged in local memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "command_line/json.h"
#include "corpus/data.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/run/devices.h"
#include "croze/run/execute.h"
#include "croze/tensor/linalg/linalg.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct OpenClOptions {
  std::string suite = "gemm";
  int rounds = 3;
  bool show_source = false;
  bool as_json = false;
};

// The log while it lives: with CROZE_DEBUG=4 it holds the source of every kernel that is compiled.
class SourceLog {
 public:
  SourceLog() {
    set_log_sink(
        [](void* text, std::string_view line) {
          static_cast<std::string*>(text)->append(line).push_back('\n');
        },
        &text_);
  }
  ~SourceLog() { set_log_sink(nullptr, nullptr); }
  SourceLog(const SourceLog&) = delete;
  SourceLog& operator=(const SourceLog&) = delete;

  const std::string& text() const { return text_; }

 private:
  Options::Scope sources_{{Option::Debug, 4}};
  std::string text_;
};

// The largest difference from sums in double precision, over all elements.
double largest_error(std::int64_t n, const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& c) {
  const auto row = static_cast<std::size_t>(n);
  double largest = 0;
  std::vector<double> sums(row);
  for (std::size_t i = 0; i < row; i++) {
    std::ranges::fill(sums, 0);
    for (std::size_t k = 0; k < row; k++) {
      for (std::size_t j = 0; j < row; j++) {
        sums[j] += double{a[i * row + k]} * double{b[k * row + j]};
      }
    }
    for (std::size_t j = 0; j < row; j++) {
      largest = std::max(largest, std::abs(double{c[i * row + j]} - sums[j]));
    }
  }
  return largest;
}

Json measure_matmul(std::int64_t n, const OpenClOptions& options) {
  const auto left = corpus::random_numbers({n, n}, 1), right = corpus::random_numbers({n, n}, 2);
  const Tensor a = Tensor::from_data(left, {n, n}), b = Tensor::from_data(right, {n, n});
  Tensor c;
  std::string source;
  {
    const SourceLog log;
    c = matmul(a, b).realize();
    source = log.text();
  }
  if (options.show_source) fmt::print("{}\n", source);
  std::vector<double> times;
  Device& opencl = device(default_device());
  const std::vector<UOp> roots{matmul(a, b).node()};
  const auto prepared = prepare(roots);
  Graph results;
  for (int i = 0; i < options.rounds; i++) {
    opencl.synchronize();
    const Stopwatch watch;
    launch(*prepared, results);
    opencl.synchronize();
    times.push_back(watch.seconds());
  }
  const double seconds = median(times);
  return {{"name", fmt::format("matmul {}", n)},
          {"kernels", summary_of(*prepared).kernels},
          {"stages_in_local_memory", source.find("__local") != std::string::npos},
          {"largest_error", largest_error(n, left, right, c.to_vector<float>())},
          {"ms", seconds * 1e3},
          {"giga_per_second", 2.0 * static_cast<double>(n * n * n) / seconds * 1e-9}};
}

void run_opencl(const OpenClOptions& options) {
  // No cache, so that the source is generated here and can be looked at.
  const Options::Scope scope{{Option::Device, "OPENCL"}, {Option::Cache, false}};
  Json results = Json::array();
  for (std::int64_t n : {256, 512, 1024}) {
    Json result = measure_matmul(n, options);
    check(result["largest_error"].get<double>() < 1e-3, "{} is wrong by {}",
          result["name"].get<std::string>(), result["largest_error"].get<double>());
    results.push_back(std::move(result));
  }
  if (options.as_json) {
    fmt::print("{}\n", Json{{"suite", "opencl " + options.suite},
                            {"machine", machine()},
                            {"unit", "GFLOP/s"},
                            {"results", results}}
                           .dump());
    return;
  }
  for (const Json& r : results.elements()) {
    fmt::print("{:12} {:9.2f} ms {:8.1f} GFLOP/s   largest error {:.1e}   {} __local\n",
               r["name"].get<std::string>(), r["ms"].get<double>(),
               r["giga_per_second"].get<double>(), r["largest_error"].get<double>(),
               r["stages_in_local_memory"].get<bool>() ? "stages in" : "does not use");
  }
}

}  // namespace

void add_opencl(const Command& program) {
  auto options = std::make_shared<OpenClOptions>();
  const Command command = program.subcommand("opencl", "Matrix products on OpenCL, checked");
  command.option("--suite", options->suite, "gemm").one_of({"gemm"});
  command.option("--rounds", options->rounds, "Runs of each; medians are reported").positive();
  command.flag("--source", options->show_source, "Print the generated kernels");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_opencl(*options); });
}

}  // namespace croze::bench
