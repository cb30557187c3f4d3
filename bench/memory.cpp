// memory.cpp -- croze-bench memory: what very deep and very many tensors cost.
//
// Each measurement is a process of its own, so that its memory is its own.
#include <fmt/format.h>

#include <memory>

#include "command_line/json.h"
#include "croze/base/error.h"
#include "croze/run/execute.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "measure.h"
#include "suites.h"

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

struct MemoryOptions {
  bool as_json = false;
  std::string in_this_process;
};

Json measure_apart(const std::string& name) {
  return Json::parse(run_self({"memory", "--in-this-process", name}));
}

void print_tables(const Json& chain, const Json& small) {
  fmt::print("chain of {} operations: recorded in {:.2f} s, computed in {:.2f} s, peak {:.0f} MB\n",
             chain["operations"].get<int>(), chain["trace_seconds"].get<double>(),
             chain["compute_seconds"].get<double>(), chain["peak_rss_mb"].get<double>());
  fmt::print("{} small tensors, {} times: {:.2f} s, growth {:.1f} bytes a tensor, peak {:.0f} MB\n",
             small["tensors"].get<int>(), small["rounds"].get<int>(),
             small["seconds"].get<double>(), small["growth_bytes_per_tensor"].get<double>(),
             small["peak_rss_mb"].get<double>());
}

void run_memory(const MemoryOptions& options) {
  if (!options.in_this_process.empty()) {
    const bool chain = options.in_this_process == "chain";
    fmt::print("{}\n", (chain ? measure_chain() : measure_small_tensors()).dump());
    return;
  }
  const Json chain = measure_apart("chain"), small = measure_apart("small");
  if (options.as_json) {
    fmt::print(
        "{}\n",
        Json{
            {"suite", "memory"}, {"machine", machine()}, {"chain", chain}, {"small_tensors", small}}
            .dump());
  } else {
    print_tables(chain, small);
  }
}

}  // namespace

void add_memory(const Command& program) {
  auto options = std::make_shared<MemoryOptions>();
  const Command command = program.subcommand("memory", "Very deep and very many tensors");
  command.flag("--json", options->as_json, "One line of JSON");
  command.option("--in-this-process", options->in_this_process, "")
      .one_of({"chain", "small"})
      .hidden();
  command.action([options] { run_memory(*options); });
}

}  // namespace croze::bench
