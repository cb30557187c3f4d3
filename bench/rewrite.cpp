// rewrite.cpp -- croze-bench rewrite: the rule engine on one thread.
//
// Two measurements, in processor time.  The kernels of the models of `croze-bench compile`, as they
// stand after each pass of codegen, are simplified by the rules: how many nodes are visited in a
// second, and how many rules are tried for one that fires.  And index expressions of random 4-D
// reshapes are built and simplified: how long one takes.
#include "croze/graph/rewrite/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>

#include "command_line/json.h"
#include "corpus/traces.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/graph/observer.h"
#include "croze/graph/rules/rules.h"
#include "croze/run/devices.h"
#include "croze/schedule/schedule.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

// ---- the kernels of models --------------------------------------------------------------------

// A kernel after one pass, in a graph of its own: rewriting leaves new nodes in the graph, so each
// is rewritten once only.
struct Snapshot {
  std::shared_ptr<Graph> graph;
  UOp sink;
};

class SnapshotTaker : public CompileObserver {
 public:
  std::vector<Snapshot> taken;

  void left(CompilePart, std::string_view, UOp sink) override {
    auto graph = std::make_shared<Graph>();
    const UOp copy = graph->import(sink);
    taken.push_back({std::move(graph), copy});
  }
};

std::vector<Snapshot> snapshots_of(const std::vector<Tensor>& results) {
  std::vector<UOp> roots;
  for (const Tensor& t : results) roots.push_back(t.node());
  const ScheduleContext context{[](int i) -> const Caps& { return device(i).caps(); },
                                default_device()};
  const Schedule schedule = make_schedule(canonical_graph(roots), context);
  SnapshotTaker taker;
  const Observing observing(taker);
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) continue;
    make_program(step.kernel->sink, device(step.device).caps());
  }
  return std::move(taker.taken);
}

class Counter : public CompileObserver {
 public:
  std::int64_t visits = 0, tries = 0, hits = 0;

  bool watches_rules() const override { return true; }
  void visited(const RuleSet&, UOp) override { visits++; }
  void tried(const RuleSet&, const Rule&, UOp, UOp after, std::int64_t) override {
    tries++;
    hits += after ? 1 : 0;
  }
};

void simplify(const std::vector<Snapshot>& kernels) {
  for (const Snapshot& k : kernels) (void)rewrite(k.sink, simplify_rules());
}

std::vector<Snapshot> copies(const std::vector<Snapshot>& kernels) {
  std::vector<Snapshot> result;
  for (const Snapshot& k : kernels) {
    auto graph = std::make_shared<Graph>();
    const UOp copy = graph->import(k.sink);
    result.push_back({std::move(graph), copy});
  }
  return result;
}

Json measure_model(const char* name, std::vector<Tensor> (*trace)(), int repeat) {
  const std::vector<Snapshot> kernels = snapshots_of(trace());
  Counter counter;
  {
    const Observing counting(counter);
    simplify(copies(kernels));
  }
  std::vector<double> seconds;
  for (int i = 0; i < repeat; i++) {
    const std::vector<Snapshot> fresh = copies(kernels);
    const double begin = cpu_seconds();
    simplify(fresh);
    seconds.push_back(cpu_seconds() - begin);
  }
  const double visits = static_cast<double>(counter.visits);
  return {
      {"model", name},
      {"graphs", kernels.size()},
      {"node_visits", counter.visits},
      {"rules_tried", counter.tries},
      {"rules_fired", counter.hits},
      {"tries_per_hit", static_cast<double>(counter.tries) / std::max(1.0, double(counter.hits))},
      {"ms", median(seconds) * 1e3},
      {"visits_per_second", visits / median(seconds)}};
}

// ---- reshape expressions ----------------------------------------------------------------------

using Sizes = std::array<std::int64_t, 4>;

// Prime factors dealt to four axes.
Sizes random_shape(const std::vector<std::int64_t>& factors, std::mt19937_64& rng) {
  Sizes sizes{1, 1, 1, 1};
  for (std::int64_t f : factors) sizes[rng() % 4] *= f;
  return sizes;
}

// The address of an element of a permuted tensor that is read in another 4-D shape: three divisions
// and three remainders of the flat position.
UOp reshape_expression(Graph& graph, std::mt19937_64& rng) {
  const std::vector<std::int64_t> factors{2, 2, 2, 2, 3, 3, 5, 7};
  const Sizes from = random_shape(factors, rng), to = random_shape(factors, rng);
  UOp flat = graph.index(0);
  for (std::size_t i = 0; i < 4; i++) {
    const auto id = static_cast<std::int64_t>(i);
    flat = flat * from[i];
    if (from[i] > 1) flat = flat + graph.range(id, from[i], LoopKind::Parallel);
  }
  Sizes order{0, 1, 2, 3}, strides{};
  std::shuffle(order.begin(), order.end(), rng);
  std::int64_t stride = 1;
  for (std::int64_t axis : order) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= to[static_cast<std::size_t>(axis)];
  }
  UOp address = graph.index(0);
  for (std::size_t i = 4; i-- > 1;) {
    address = address + (flat % to[i]) * strides[i];
    flat = flat / to[i];
  }
  return address + flat * strides[0];
}

Json measure_reshapes(int repeat) {
  constexpr int expressions = 1000;
  std::vector<double> us;
  for (int i = 0; i < repeat; i++) {
    std::mt19937_64 rng(1);
    Graph graph;
    const double begin = cpu_seconds();
    for (int n = 0; n < expressions; n++) {
      (void)rewrite(reshape_expression(graph, rng), simplify_rules());
    }
    us.push_back((cpu_seconds() - begin) * 1e6 / expressions);
  }
  constexpr double limit_us = 15;
  const double took = median(us);
  return {{"expressions", expressions},
          {"average_us", took},
          {"limit_us", limit_us},
          {"within_limit", took <= limit_us}};
}

struct RewriteOptions {
  int repeat = 7;
  bool as_json = false;
};

void run_rewrite(const RewriteOptions& options) {
  Json models = Json::array();
  models.push_back(measure_model("matmul", corpus::trace_matmul, options.repeat));
  models.push_back(measure_model("block", corpus::trace_block, options.repeat));
  models.push_back(measure_model("resnet18", corpus::trace_resnet18, options.repeat));
  const Json reshapes = measure_reshapes(options.repeat);
  if (options.as_json) {
    const Json result{{"suite", "rewrite"},
                      {"machine", machine()},
                      {"repeat", options.repeat},
                      {"models", models},
                      {"reshapes", reshapes}};
    fmt::print("{}\n", result.dump());
    return;
  }
  fmt::print("rules      graphs    visits     tries      hits  tries/hit       ms  M visits/s\n");
  for (const Json& m : models.elements()) {
    fmt::print("{:10} {:6} {:9} {:9} {:9} {:10.2f} {:8.2f} {:11.2f}\n",
               m["model"].get<std::string>(), m["graphs"].get<int>(), m["node_visits"].get<int>(),
               m["rules_tried"].get<int>(), m["rules_fired"].get<int>(),
               m["tries_per_hit"].get<double>(), m["ms"].get<double>(),
               m["visits_per_second"].get<double>() * 1e-6);
  }
  fmt::print("4-D reshapes: {:.2f} us each (limit {})\n", reshapes["average_us"].get<double>(),
             reshapes["limit_us"].get<double>());
}

}  // namespace

void add_rewrite(const Command& program) {
  auto options = std::make_shared<RewriteOptions>();
  const Command command =
      program.subcommand("rewrite", "The rule engine: nodes visited per second");
  command.option("--repeat", options->repeat, "Measurements; medians are reported").positive();
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_rewrite(*options); });
}

}  // namespace croze::bench
