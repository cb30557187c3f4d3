// gpu.cpp -- croze-bench gpu: what a device with groups computes in what time, beside the CPU.
//
// The same step runs on both in turns; what they compute is compared.  On a device that is the same
// processor behind another programming interface, such as OpenCL in software, the ratio is what its
// kernels cost beside ours; on a real GPU it is what the GPU gains.  With --large the GPU runs
// alone, what would take a CPU minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <regex>

#include "command_line/json.h"
#include "cpu/case.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"
#include "gpu_large.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct GpuOptions {
  std::string device = "OPENCL";
  std::string cases;
  double seconds = 0.5;
  bool is_large = false, is_small = false;
  bool as_json = false;
};

// A case, and how many times the CPU's time it may take; 0: as many as it likes.
struct Row {
  Case what;
  double most_times_cpu = 0;
};

constexpr double product_limit = 2.5, memory_limit = 1.5;

// What an awkward size may take beside a size near it, for each multiply-add.
constexpr double odd_limit = 1.5;

std::string product_name(std::int64_t m, std::int64_t k, std::int64_t n) {
  return fmt::format("matmul {}x{}x{}", m, k, n);
}

Row product(std::int64_t m, std::int64_t k, std::int64_t n) {
  Case c{.name = product_name(m, k, n), .inputs = {{{m, k}}, {{k, n}}}};
  c.work = 2.0 * static_cast<double>(m * k * n);
  c.prepare = steps_of([](In in) -> Out { return {matmul(in[0], in[1])}; });
  return {c, product_limit};
}

// Of so many products at once, and of windows of pictures.
Row batched_product(std::int64_t batch, std::int64_t n) {
  Case c{.name = fmt::format("matmul {}x{}x{} batch {}", n, n, n, batch),
         .inputs = {{{batch, n, n}}, {{batch, n, n}}}};
  c.work = 2.0 * static_cast<double>(batch * n * n * n);
  c.prepare = steps_of([](In in) -> Out { return {matmul(in[0], in[1])}; });
  return {c, product_limit};
}

Row convolution(std::int64_t batch, std::int64_t channels, std::int64_t side) {
  Case c{.name = fmt::format("conv 3x3 {}x{}x{}x{}", batch, channels, side, side),
         .inputs = {{{batch, channels, side, side}}, {{channels, channels, 3, 3}}}};
  c.work = 2.0 * static_cast<double>(batch * channels * channels * side * side * 9);
  c.prepare = steps_of([](In in) -> Out { return {conv2d(in[0], in[1], {}, {.padding = 1})}; });
  return {c, product_limit};
}

Row bytes(std::string name, std::vector<Input> inputs, Compute compute, double limit = 0) {
  return {memory_case(std::move(name), std::move(inputs), std::move(compute)), limit};
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (std::int64_t n : {512, 1024, 2048}) all.push_back(product(n, n, n));
  all.push_back(product(1009, 1009, 1009));
  all.push_back(product(336, 768, 560));
  all.push_back(product(333, 777, 555));
  all.push_back(batched_product(64, 128));
  all.push_back(convolution(8, 64, 56));
  const Input large{{1 << 22}}, rows{{4096, 1000}}, few{{8, 500000}}, square{{2048, 2048}};
  all.push_back(bytes(
      "add", {large, large}, [](In in) -> Out { return {in[0] + in[1]}; }, memory_limit));
  all.push_back(bytes(
      "gelu", {large}, [](In in) -> Out { return {gelu(in[0])}; }, memory_limit));
  all.push_back(bytes(
      "odd add", {{{1021, 1019}}, {{1021, 1019}}}, [](In in) -> Out { return {in[0] + in[1]}; },
      memory_limit));
  all.push_back(
      bytes("transpose", {square}, [](In in) -> Out { return {transpose(in[0], 0, 1) + 1}; }));
  all.push_back(bytes(
      "softmax", {rows}, [](In in) -> Out { return {softmax(in[0], 1)}; }, memory_limit));
  all.push_back(bytes("softmax", {few}, [](In in) -> Out { return {softmax(in[0], 1)}; }));
  all.push_back(bytes("layer norm", {rows}, [](In in) -> Out {
    const Tensor centred = in[0] - mean(in[0], 1, true);
    return {centred / sqrt(mean(centred * centred, 1, true) + 1e-5)};
  }));
  all.push_back(bytes("row sums", {rows}, [](In in) -> Out { return {sum(in[0], 1)}; }));
  all.push_back(bytes("column sums", {rows}, [](In in) -> Out { return {sum(in[0], 0)}; }));
  all.push_back(bytes("sum of all", {large}, [](In in) -> Out { return {sum(in[0])}; }));
  all.push_back(bytes("argmax", {rows}, [](In in) -> Out { return {argmax(in[0], 1)}; }));
  all.push_back(bytes("cumulative sum", {rows}, [](In in) -> Out { return {cumsum(in[0], 1)}; }));
  all.push_back(
      bytes("sort", {Input{{256, 1000}}}, [](In in) -> Out { return {sort(in[0], 1).values}; }));
  return all;
}

// The step on one device, its inputs there.
class Contestant {
 public:
  Contestant(const Case& c, const std::string& device)
      : device_(croze::device(device_index(device))) {
    const Options::Scope scope{{Option::Device, device}};
    runs_ = c.prepare(input_tensors(c));
  }
  void run() {
    runs_.kept();
    device_.synchronize();
  }
  std::vector<Signature> signatures() const {
    std::vector<Signature> all;
    for (const Tensor& result : runs_.results) all.push_back(signature_of(result));
    return all;
  }
  std::int64_t kernels() const { return runs_.kernels; }

 private:
  Device& device_;
  Runs runs_;
};

Json measure(const Row& row, const GpuOptions& options) {
  Contestant cpu(row.what, "CPU"), gpu(row.what, options.device);
  check_same(row.what, cpu.signatures(), options.device, gpu.signatures());
  const std::vector<double> seconds =
      interleaved({[&] { cpu.run(); }, [&] { gpu.run(); }}, options.seconds);
  const double times = seconds[1] / seconds[0];
  const bool holds = row.most_times_cpu == 0 || times <= row.most_times_cpu;
  return Json{{"name", row.what.name},       {"cpu_ms", seconds[0] * 1e3},
              {"ms", seconds[1] * 1e3},      {"times_cpu", times},
              {"limit", row.most_times_cpu}, {"gflops", row.what.work / seconds[1] * 1e-9},
              {"kernels", gpu.kernels()},    {"holds", holds}};
}

// To compare runs of different processes: the size of a result, and some of its numbers.
Json sample_of(const Signature& signature) {
  Json sample = Json::array();
  sample.push_back(signature.norm / std::sqrt(static_cast<double>(signature.count)));
  for (double x : signature.some) sample.push_back(x);
  return sample;
}

// A case that fills a GPU.  One that fails says why, and the others are measured all the same.
Json measure_large(const Case& c, const GpuOptions& options) {
  Json row{{"name", c.name}, {"holds", true}};
  try {
    Contestant gpu(c, options.device);
    const double seconds = interleaved({[&] { gpu.run(); }}, options.seconds)[0];
    row["ms"] = seconds * 1e3;
    row["giga_per_s"] = c.work / seconds * 1e-9;  // GFLOP/s, or GB/s of what is bound by memory
    row["kernels"] = gpu.kernels();
    row["results"] = sample_of(gpu.signatures()[0]);
  } catch (const Error& error) {
    row["error"] = error.what();
    row["holds"] = false;
  }
  return row;
}

void run_large(const GpuOptions& options) {
  Json results = Json::array();
  for (const Case& c : large_cases(options.is_small)) {
    if (!std::regex_search(c.name, std::regex(options.cases))) continue;
    const Json row = measure_large(c, options);
    if (!options.as_json) {
      if (row.contains("error")) {
        fmt::print("{:32} {}\n", c.name, row["error"].get<std::string>());
      } else {
        fmt::print("{:32} {:9.3f} ms {:10.1f} G/s\n", c.name, row["ms"].get<double>(),
                   row["giga_per_s"].get<double>());
      }
      std::fflush(stdout);
    }
    results.push_back(row);
  }
  check(!results.elements().empty(), "no case is called like '{}'", options.cases);
  finish_suite("gpu-large", results, options.as_json, Json{{"device", options.device}});
}

// What a multiply-add of an odd size takes beside one of a size near it.
void compare_sizes(Json& rows) {
  const std::pair<std::string, std::string> neighbours[] = {
      {product_name(1009, 1009, 1009), product_name(1024, 1024, 1024)},
      {product_name(333, 777, 555), product_name(336, 768, 560)}};
  const auto rate_of = [&](const std::string& name) {
    for (const Json& row : rows.elements()) {
      if (row["name"].get<std::string>() == name) return row["gflops"].get<double>();
    }
    return 0.0;
  };
  for (const auto& [odd, near] : neighbours) {
    const double slow = rate_of(odd), fast = rate_of(near);
    if (slow == 0 || fast == 0) continue;
    rows.push_back(limited(odd + " beside " + near, fast / slow, "times", odd_limit, Limit::Most));
  }
}

void run_gpu(const GpuOptions& options) {
  Json results = Json::array();
  for (const Row& row : rows()) {
    if (!std::regex_search(row.what.name, std::regex(options.cases))) continue;
    const Json json = measure(row, options);
    if (!options.as_json) {
      fmt::print("{:28} CPU {:9.3f} ms  {} {:9.3f} ms  {:6.2f} times{}\n", row.what.name,
                 json["cpu_ms"].get<double>(), options.device, json["ms"].get<double>(),
                 json["times_cpu"].get<double>(),
                 json["holds"].get<bool>() ? "" : "  does not hold");
      std::fflush(stdout);
    }
    results.push_back(json);
  }
  check(!results.elements().empty(), "no case is called like '{}'", options.cases);
  compare_sizes(results);
  finish_suite("gpu", results, options.as_json, Json{{"device", options.device}});
}

}  // namespace

void add_gpu(const Command& program) {
  auto options = std::make_shared<GpuOptions>();
  const Command command =
      program.subcommand("gpu", "A device with groups and the CPU, in turns, results compared");
  command.option("--device", options->device, "What is compared with the CPU");
  command.option("--case", options->cases, "Only the cases that this regular expression finds");
  command.option("--seconds", options->seconds, "Time for each case");
  command.flag("--large", options->is_large, "What fills a GPU, on the device alone");
  command.flag("--small", options->is_small, "With --large: the same cases, much smaller");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] {
    check(options->is_large || !options->is_small, "--small goes with --large");
    options->is_large ? run_large(*options) : run_gpu(*options);
  });
}

}  // namespace croze::bench
