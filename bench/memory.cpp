// memory.cpp -- croze-bench memory: what very deep and very many tensors cost, what a long
// attention adds to its operands, how close the arenas of the workloads come to the most bytes
// alive at once, and what training steps take beside PyTorch's.
//
// Each measurement is a process of its own, so that its memory is its own.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "command_line/json.h"
#include "corpus/workloads.h"
#include "croze/base/error.h"
#include "croze/croze.h"
#include "croze/run/execute.h"
#include "measure.h"
#include "suites.h"
#include "training.h"

namespace croze::bench {
namespace {

// One tensor after a million elementwise operations: the graph is as deep as it is large.
Json measure_chain() {
  constexpr int operations = 1'000'000;
  const Stopwatch tracing;
  const Tensor start = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {4});
  Tensor x = start;
  for (int i = 0; i < operations / 2; i++) x = x * 0.5 + 1;
  const double trace_seconds = tracing.seconds();
  const Stopwatch computing;
  x.realize();
  const double compute_seconds = computing.seconds();
  // x / 2 + 1 comes to rest at 2.
  for (float value : x.to_vector<float>()) check(value == 2, "the chain ends in {}, not 2", value);
  return {{"operations", operations},
          {"trace_seconds", trace_seconds},
          {"compute_seconds", compute_seconds},
          {"total_seconds", tracing.seconds()},
          {"kernels", run_statistics().kernels},
          {"peak_rss_mb", static_cast<double>(peak_rss_bytes()) * 1e-6}};
}

// Small tensors, realized one by one while all are alive; then all are dropped, and again, many
// times. The collector and the allocator need some rounds to settle; what grows after half of them
// leaks.
Json measure_small_tensors() {
  constexpr int count = 10'000, rounds = 40;
  const Stopwatch watch;
  std::vector<std::int64_t> rss;
  for (int round = 0; round < rounds; round++) {
    std::vector<Tensor> alive;
    for (int i = 0; i < count; i++) {
      alive.push_back(Tensor::from_data({static_cast<float>(i)}, {1}) + 1);
      alive.back().realize();
    }
    check(alive[17].item<float>() == 18, "a small tensor has lost its value");
    rss.push_back(rss_bytes());
  }
  const double grown = static_cast<double>(rss.back() - rss[rounds / 2 - 1]);
  return {{"tensors", count},
          {"rounds", rounds},
          {"seconds", watch.seconds()},
          {"rss_bytes_by_round", rss},
          {"growth_bytes_per_tensor", grown / (count * rounds / 2)},
          {"peak_rss_mb", static_cast<double>(peak_rss_bytes()) * 1e-6}};
}

constexpr double most_arena_ratio = 1.05;
// Of the peak to inputs, outputs and gradients.
constexpr double most_attention_ratio = 1.3;

Json arena_row(std::string_view workload, double ratio) {
  return {{"workload", workload},
          {"ratio", ratio},
          {"limit", most_arena_ratio},
          {"holds", ratio <= most_arena_ratio}};
}

// A row for each workload that has temporaries, and one for all of them.
Json measure_arenas() {
  Json rows = Json::array();
  double logarithms = 0;
  for (const corpus::Workload& w : corpus::workloads()) {
    const corpus::Computation compute = w.prepare();
    const RunStatistics before = run_statistics();
    realize(compute());  // an optimizer computes what it assigns at once
    const RunStatistics after = run_statistics();
    const std::int64_t bytes = after.arena_bytes - before.arena_bytes;
    const std::int64_t bound = after.arena_lower_bound - before.arena_lower_bound;
    if (bound == 0) continue;
    Json row = arena_row(w.name, static_cast<double>(bytes) / static_cast<double>(bound));
    row["arena_bytes"] = bytes;
    row["lower_bound_bytes"] = bound;
    logarithms += std::log(row["ratio"].get<double>());
    rows.push_back(std::move(row));
  }
  const auto count = static_cast<double>(rows.elements().size());
  rows.push_back(arena_row("geometric mean", std::exp(logarithms / count)));
  return rows;
}

// Attention over a long sequence and its gradients, in the one process that finds all kernels on
// disk: the compiler's memory is not attention's.
Json measure_attention() {
  const std::int64_t before = peak_rss_bytes();
  const Shape shape{1, 8, 8192, 64};
  const Tensor q = Tensor::randn(shape).realize(), k = Tensor::randn(shape).realize(),
               v = Tensor::randn(shape).realize(), upstream = Tensor::randn(shape).realize();
  const Stopwatch watch;
  std::vector<Tensor> results{scaled_dot_product_attention(q, k, v)};
  for (const Tensor& g : (results[0] * upstream).sum().gradient({q, k, v})) results.push_back(g);
  realize(results);
  const double seconds = watch.seconds();
  const double wanted = static_cast<double>(8 * q.numel() * 4);  // in, out, and their gradients
  const double ratio = static_cast<double>(peak_rss_bytes() - before) / wanted;
  return {{"workload", "attention 8 x 8192 x 64, forward and backward"},
          {"seconds", seconds},
          {"ratio", ratio},
          {"limit", most_attention_ratio},
          {"holds", ratio <= most_attention_ratio}};
}

struct MemoryOptions {
  bool as_json = false;
  std::string in_this_process, pytorch;
};

Json measure_apart(const std::string& name) {
  return Json::parse(run_self({"memory", "--in-this-process", name}));
}

void print_training(const Json& row) {
  fmt::print("{:46} {:5.1f} MB", row["workload"].get<std::string>(),
             row["bytes"].get<double>() * 1e-6);
  if (row.contains("skipped")) {
    fmt::print(", not compared: {}\n", row["skipped"].get<std::string>());
    return;
  }
  fmt::print(", {:.3f} of PyTorch's {:.1f} MB, at most {:.2f}{}\n", row["ratio"].get<double>(),
             row["pytorch_bytes"].get<double>() * 1e-6, row["limit"].get<double>(),
             row["holds"].get<bool>() ? "" : "  does not hold");
}

void print_tables(const Json& chain, const Json& small, const Json& rows) {
  fmt::print("chain of {} operations: recorded in {:.2f} s, computed in {:.2f} s, peak {:.0f} MB\n",
             chain["operations"].get<int>(), chain["trace_seconds"].get<double>(),
             chain["compute_seconds"].get<double>(), chain["peak_rss_mb"].get<double>());
  fmt::print("{} small tensors, {} times: {:.2f} s, growth {:.1f} bytes a tensor, peak {:.0f} MB\n",
             small["tensors"].get<int>(), small["rounds"].get<int>(),
             small["seconds"].get<double>(), small["growth_bytes_per_tensor"].get<double>(),
             small["peak_rss_mb"].get<double>());
  for (const Json& row : rows.elements()) {
    if (row.contains("bytes")) {
      print_training(row);
      continue;
    }
    fmt::print("{:46} {:6.4f} of the least, at most {:.2f}{}\n", row["workload"].get<std::string>(),
               row["ratio"].get<double>(), row["limit"].get<double>(),
               row["holds"].get<bool>() ? "" : "  does not hold");
  }
}

Json measure_here(const std::string& name) {
  if (name == "chain") return measure_chain();
  if (name == "attention") return measure_attention();
  if (name == "training") return training_rows({});
  return name == "small" ? measure_small_tensors() : measure_arenas();
}

void run_memory(const MemoryOptions& options) {
  if (!options.in_this_process.empty()) {
    fmt::print("{}\n", measure_here(options.in_this_process).dump());
    return;
  }
  const Json training = training_rows(options.pytorch);
  const Json chain = measure_apart("chain"), small = measure_apart("small");
  Json rows = measure_apart("arenas");
  measure_apart("attention");  // compiles
  rows.push_back(measure_apart("attention"));
  for (const Json& row : training.elements()) rows.push_back(row);
  if (!options.as_json) print_tables(chain, small, rows);
  finish_suite("memory", rows, options.as_json, {{"chain", chain}, {"small_tensors", small}});
}

}  // namespace

void add_memory(const Command& program) {
  auto options = std::make_shared<MemoryOptions>();
  const Command command =
      program.subcommand("memory", "Very deep and very many tensors, arenas, a long attention");
  command.flag("--json", options->as_json, "One line of JSON");
  command.option("--pytorch", options->pytorch,
                 "Command of a Python with PyTorch, to compare training steps with");
  command.option("--in-this-process", options->in_this_process, "")
      .one_of({"chain", "small", "arenas", "attention", "training"})
      .hidden();
  command.action([options] { run_memory(*options); });
}

}  // namespace croze::bench
