// threads.cpp -- croze-bench threads: what threads of a program gain, and whether one waits for
// another.
//
// Throughput: 1, 2 and 4 threads run one ONNX model, each over inputs of its own, with kernels on
// the thread that asks for them; so all that they share is croze.  Waiting: a small sum is computed
// again and again while another thread computes a long matrix product, or compiles.  The longest
// wait of each round is taken, and the median of the rounds, since the system itself now and then
// keeps a thread waiting.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/io/onnx/model.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/random/random.h"
#include "croze/tensor/reduce/reduce.h"
#include "io/onnx/messages.h"
#include "measure.h"
#include "suites.h"
#include "yardstick/yardstick.h"

namespace croze::bench {
namespace {

using Numbers = std::vector<float>;

constexpr double longest_wait_ms = 5;
// Of what the processor gains by as many threads: two of them may be one core.
constexpr double least_part_of_gain = 0.7;

struct ThreadsOptions {
  bool as_json = false;
  std::string model;
  std::string in_this_process;
  double seconds = 3;
  int rounds = 9;
};

// ---- one model in several threads -------------------------------------------------------------

// A small network as its file: six convolutions of 32 channels over an image of 48 x 48.
std::string small_model() {
  using namespace croze::test;
  constexpr int layers = 6, channels = 32, size = 48;
  GraphProto graph;
  std::vector<std::string> names{"image"};
  for (int i = 0; i < 2 * layers; i++) names.push_back(fmt::format("v{}", i));
  for (int i = 0; i < layers; i++) {
    const auto at = static_cast<std::size_t>(2 * i);
    Numbers weights;
    for (int k = 0; k < channels * channels * 9; k++) {
      weights.push_back(static_cast<float>((k * 7 + i) % 23 - 11) / 128);
    }
    const std::string weight = fmt::format("w{}", i);
    graph.initializers.push_back(floats(weight, {channels, channels, 3, 3}, weights));
    graph.nodes.push_back(node("Conv", {names[at], weight}, {names[at + 1]},
                               {attribute("pads", std::vector<std::int64_t>{1, 1, 1, 1})}));
    graph.nodes.push_back(node("Relu", {names[at + 1]}, {names[at + 2]}));
  }
  graph.inputs = {value_info("image", Float, {1, channels, size, size})};
  graph.outputs = {value_info(names.back(), Float, {1, channels, size, size})};
  return model(graph).bytes();
}

onnx::Model load(const std::string& path) {
  if (!path.empty()) return onnx::Model(path);
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / fmt::format("croze-bench-{}.onnx", getpid());
  std::ofstream(file, std::ios::binary) << small_model();
  onnx::Model model(file.string());
  fs::remove(file);  // it stays mapped
  return model;
}

// Inputs drawn at random: the same for a number, whatever the thread.
std::map<std::string, onnx::Value> inputs_of(const onnx::Model& model, int number) {
  std::map<std::string, onnx::Value> inputs;
  for (const onnx::Port& port : model.inputs()) {
    if (port.has_default || port.is_optional) continue;
    Shape shape;
    for (const onnx::Dimension& d : port.shape) shape.push_back(std::max<std::int64_t>(d.size, 1));
    Numbers values;
    for (std::int64_t i = 0; i < shape.numel(); i++) {
      values.push_back(static_cast<float>((i * 31 + number * 17) % 101) / 101);
    }
    inputs.emplace(port.name, Tensor::from_data(values, shape));
  }
  return inputs;
}

Numbers run_model(const onnx::Model& model, const std::map<std::string, onnx::Value>& inputs) {
  Numbers all;
  for (const auto& [name, value] : model.run(inputs)) {
    const Numbers values = value.tensor().to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

struct Throughput {
  double runs_per_second = 0;
  std::int64_t wrong = 0;
};

Throughput throughput_of(const onnx::Model& model, int count, double seconds) {
  constexpr int kinds_of_input = 4;
  std::vector<Numbers> expected;
  for (int i = 0; i < kinds_of_input; i++)
    expected.push_back(run_model(model, inputs_of(model, i)));
  std::atomic<std::int64_t> runs = 0, wrong = 0;
  const Stopwatch watch;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; t++) {
    threads.emplace_back([&, t] {
      for (int i = t; watch.seconds() < seconds; i++) {
        const int kind = i % kinds_of_input;
        wrong +=
            run_model(model, inputs_of(model, kind)) != expected[static_cast<std::size_t>(kind)];
        runs++;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return {static_cast<double>(runs) / watch.seconds(), wrong};
}

Json measure_throughput(const ThreadsOptions& options) {
  const onnx::Model model = load(options.model);
  Json results = Json::array();
  double of_one = 0;
  for (int threads : {1, 2, 4}) {
    const Throughput t = throughput_of(model, threads, options.seconds);
    if (threads == 1) of_one = t.runs_per_second;
    const double possible = gain_of_processor(threads);
    Json gain = limited(fmt::format("{} threads: throughput", threads), t.runs_per_second / of_one,
                        "x one thread", least_part_of_gain * possible, Limit::Least);
    gain["gain_of_processor"] = possible;
    gain["runs_per_second"] = t.runs_per_second;
    results.push_back(std::move(gain));
    results.push_back(limited(fmt::format("{} threads: wrong results", threads),
                              static_cast<double>(t.wrong), "", 0, Limit::Most));
  }
  return results;
}

// ---- a small operation behind a long one --------------------------------------------------------

// The longest wait of small sums while the other thread does its work once, in ms.
template <typename F>
double longest_wait(F work) {
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    work();
    is_done = true;
  });
  double longest = 0;
  while (!is_done) {
    const Stopwatch watch;
    const float sum = Tensor::from_data({1.f, 2.f, 3.f}, {3}).sum().item<float>();
    longest = std::max(longest, watch.ms());
    check(sum == 6, "a small sum is {}, not 6", sum);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  other.join();
  return longest;
}

Json measure_waiting(const ThreadsOptions& options) {
  const Tensor a = Tensor::uniform({1536, 1536}, -1, 1).realize();
  matmul(a, a).realize();  // compiled
  longest_wait([] {});
  std::vector<double> behind_product, behind_compiler;
  for (int i = 0; i < options.rounds; i++) {
    behind_product.push_back(longest_wait([&] { matmul(a, a + i).realize(); }));
    // No other program has met these sizes: a kernel of its own each time.
    const std::int64_t size = 40 + i;
    behind_compiler.push_back(longest_wait([&] {
      const Tensor x = Tensor::uniform({size, size}, -1, 1);
      matmul(x.softmax(1), x.exp()).sum(0).realize();
    }));
  }
  return std::vector<Json>{limited("small sum behind a long product: wait", median(behind_product),
                                   "ms", longest_wait_ms, Limit::Most),
                           limited("small sum behind the compiler: wait", median(behind_compiler),
                                   "ms", longest_wait_ms, Limit::Most)};
}

// ---- the suite --------------------------------------------------------------------------------

// How many threads a kernel runs on is settled when the device is opened.
Json measure_here(const ThreadsOptions& options) {
  const bool is_waiting = options.in_this_process == "waiting";
  const Options::Scope scope{{Option::Cache, false},
                             {Option::Threads, is_waiting ? default_thread_count() : 1}};
  return is_waiting ? measure_waiting(options) : measure_throughput(options);
}

Json measure_apart(const ThreadsOptions& options, const std::string& part) {
  return Json::parse(
      run_self({"threads", "--in-this-process", part, "--seconds", fmt::to_string(options.seconds),
                "--rounds", fmt::to_string(options.rounds), "--model", options.model}));
}

void run_threads(const ThreadsOptions& options) {
  if (!options.in_this_process.empty()) {
    fmt::print("{}\n", measure_here(options).dump());
    return;
  }
  Json results = measure_apart(options, "throughput");
  const Json waiting = measure_apart(options, "waiting");
  for (const Json& r : waiting.elements()) results.push_back(r);
  if (!options.as_json) print_limited(results);
  finish_suite("threads", results, options.as_json);
}

}  // namespace

void add_threads(const Command& program) {
  auto options = std::make_shared<ThreadsOptions>();
  const Command command =
      program.subcommand("threads", "Threads on one ONNX model, and waiting behind another");
  command.option("--model", options->model, "An ONNX model to run; a small network if not given");
  command.option("--seconds", options->seconds, "For each number of threads");
  command.option("--rounds", options->rounds, "Long operations to wait behind");
  command.flag("--json", options->as_json, "One line of JSON");
  command.option("--in-this-process", options->in_this_process, "")
      .one_of({"throughput", "waiting"})
      .hidden();
  command.action([options] { run_threads(*options); });
}

}  // namespace croze::bench
