// measure.cpp -- a graph of the corpus, from its recording to numbers.
#include "replay/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "croze/base/flat_map.h"
#include "croze/base/hash.h"
#include "croze/base/options.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/graph/text/print.h"
#include "croze/jit/trace.h"
#include "croze/run/devices.h"
#include "croze/run/given_edits.h"
#include "croze/tensor/registry.h"
#include "replay/machine.h"

namespace croze::replay {
namespace {

std::vector<Tensor> recorded(const corpus::Computation& compute) {
  const Capturing capturing;  // a step computes nothing while it is recorded
  return compute();
}

// All that one run computes, as a captured step would: the results, and whatever it assigns to.
Schedule scheduled(const corpus::Computation& compute) {
  Registry::instance().settle();
  std::vector<Tensor> tensors = recorded(compute);
  for (const Tensor& t : pending_stores()) tensors.push_back(t);
  std::vector<UOp> roots;
  FlatSet<const Node*> seen;
  for (UOp u : nodes_of(tensors)) {
    if (seen.insert(u.node())) roots.push_back(u);
  }
  const ScheduleContext context{.caps = [](int) -> const Caps& { return machine(); },
                                .default_device = default_device(),
                                .fuse = Options::flag(Option::Fusion)};
  return make_schedule(canonical_graph(roots), context);
}

Caps caps_for(const ScheduleStep& step) {
  Caps caps = machine();
  if (is_in_blocks(step)) caps.threads = 1;
  return caps;
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  std::int64_t total = 0;
  for (std::int64_t v : values) total += v;
  return total;
}

}  // namespace

GraphRecord Meter::measure(const corpus::CorpusGraph& graph) {
  // Where nothing is computed, unless it must be: starting values of parameters do not matter.
  const Options::Scope nowhere{{Option::Device, graph.reads_data ? "INTERP" : "NULL"},
                               {Option::Cache, false}};
  const corpus::Computation compute = graph.prepare();
  schedule_ = scheduled(compute);
  compile(schedule_);
  return {.name = graph.name,
          .machine = machine_text(),
          .totals = totals_of(schedule_),
          .kernels = kernels_of(schedule_)};
}

const KernelFacts& Meter::facts(const ScheduleStep& step) const {
  return facts_.at({step.kernel->key, is_in_blocks(step)});
}

void Meter::compile(const Schedule& schedule) {
  struct Missing {
    const ScheduleStep* step;
    KernelFacts* facts;
  };
  std::vector<Missing> missing;
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) continue;
    const auto [at, is_new] = facts_.try_emplace({step.kernel->key, is_in_blocks(step)});
    if (is_new) missing.push_back({&step, &at->second});
  }
  compilers_.run(std::ssize(missing), [&](std::int64_t i) {
    const Missing& m = missing[static_cast<std::size_t>(i)];
    *m.facts = facts_of(*m.step->kernel, caps_for(*m.step));
  });
}

Totals Meter::totals_of(const Schedule& schedule) const {
  Totals totals;
  double cycles = 0;
  for (const ScheduleLaunch& launch : schedule.launches) {
    if (!schedule.steps[static_cast<std::size_t>(launch.first)].kernel) continue;
    totals.launches++;
    cycles += MachineModel::launch;
  }
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) continue;
    const KernelFacts& f = facts(step);
    const std::int64_t runs = runs_of(schedule, step, machine());
    const Traffic traffic = traffic_of(schedule, step, f.cost);
    totals.nests++;
    totals.flops += f.cost.flops * runs;
    totals.bytes += traffic.apart * runs;
    cycles += cycles_of(f.cost, traffic, runs, machine());
  }
  totals.cycles = std::llround(cycles);
  for (const ArenaPlan& arena : schedule.arenas) {
    totals.arena_bytes += arena.bytes;
    totals.arena_lower_bound += arena.lower_bound;
  }
  for (const ScheduleSequence& s : schedule.sequences) totals.block_bytes += s.block_bytes;
  return totals;
}

std::vector<KernelRecord> Meter::kernels_of(const Schedule& schedule) const {
  std::map<KernelId, KernelRecord> kernels;
  for (const ScheduleStep& step : schedule.steps) {
    if (!step.kernel) continue;
    KernelRecord& k = kernels[{step.kernel->key, is_in_blocks(step)}];
    if (k.nests++ > 0) continue;
    const KernelFacts& f = facts(step);
    k.name = f.cost.name;
    k.key = kernel_key(*step.kernel);
    k.in_blocks = is_in_blocks(step);
    k.flops = f.cost.flops;
    k.bytes = sum(f.cost.bytes);
    const Traffic traffic = traffic_of(schedule, step, f.cost);
    k.cycles = std::llround(cycles_of(f.cost, traffic, 1, machine()));
    k.edits = f.edits;
    k.program = fmt::format("{:016x}", hash_bytes(f.program));
  }
  std::vector<KernelRecord> sorted;
  for (auto& [id, kernel] : kernels) sorted.push_back(std::move(kernel));
  std::ranges::sort(sorted);
  return sorted;
}

std::string Meter::kernel_texts() const {
  std::map<std::string, std::string> texts;  // in the order of the record
  for (const ScheduleStep& step : schedule_.steps) {
    if (!step.kernel) continue;
    const KernelFacts& f = facts(step);
    const std::string title = fmt::format("{} {}{}", f.cost.name, kernel_key(*step.kernel),
                                          is_in_blocks(step) ? " in blocks" : "");
    texts[title] = fmt::format("=== {}\n{}--- edits: {}\n{}\n", title,
                               print_graph(step.kernel->sink), f.edits, f.program);
  }
  std::string all;
  for (const auto& [title, text] : texts) all += text;
  return all;
}

}  // namespace croze::replay
