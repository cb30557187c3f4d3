// report.cpp -- one task per rule, on several threads.
#include "croze/prove/report.h"

#include <algorithm>
#include <functional>

#include "croze/base/thread_pool.h"
#include "croze/graph/rules/rules.h"
#include "croze/prove/real_proof.h"
#include "croze/prove/smt.h"
#include "croze/prove/termination.h"
#include "croze/prove/view_proof.h"

namespace croze {
namespace {

using Task = std::function<void()>;

// An answer takes as many steps on every machine; the most that any rule needs is a tenth of it.
constexpr std::uint64_t steps = 50'000'000;

// Adds what there is to prove of the rule; each task fills a place of its own.
void add_tasks(const Rule& rule, const ReportOptions& options, ListReport* report,
               std::vector<Task>* tasks) {
  const Numbers numbers = report->list.numbers;
  const InstanceOptions instances{options.instances, options.seed};
  if (is_about_views(rule)) {
    InstanceProof* proof = &report->functions.emplace_back();
    tasks->push_back([=, &rule] { *proof = prove_views(rule, instances); });
    return;
  }
  if (numbers == Numbers::Real) {
    RuleProof* proof = &report->algebraic.emplace_back();
    tasks->push_back([=, &rule] {
      Solver solver(steps);
      *proof = prove_on_reals(rule, solver);
    });
    return;
  }
  if (!rule.rewrite) {
    RuleProof* proof = &report->algebraic.emplace_back();
    tasks->push_back([=, &rule] {
      Solver solver(steps);
      solver.state(smt_prelude());
      *proof = prove_rule(rule, numbers, solver);
    });
  } else if (has_integral_instances(rule, numbers)) {
    InstanceProof* proof = &report->functions.emplace_back();
    tasks->push_back([=, &rule] {
      Solver solver(steps);
      solver.state(smt_prelude());
      *proof = prove_function(rule, numbers, solver, instances);
    });
  }
  FloatCheck* check = &report->floats.emplace_back();
  tasks->push_back([=, &rule] {
    *check = check_on_floats(rule, numbers, {.instances = options.instances, .seed = options.seed});
  });
}

using Prove = InstanceProof (*)(Solver&, const InstanceOptions&);
constexpr Prove functions[] = {prove_index_constructors, prove_simplify_under, prove_simplify_gate,
                               prove_simplifier};

}  // namespace

std::int64_t ListReport::count(Verdict verdict) const {
  return std::ranges::count(algebraic, verdict, &RuleProof::verdict);
}

bool ListReport::holds() const {
  return no_smaller.empty() && count(Verdict::Proven) == std::ssize(algebraic) &&
         std::ranges::all_of(functions, &InstanceProof::is_proven) &&
         std::ranges::all_of(floats, [](const FloatCheck& c) { return c.failed == 0; });
}

bool RulesReport::holds() const {
  return std::ranges::all_of(lists, &ListReport::holds) &&
         std::ranges::all_of(functions, &InstanceProof::is_proven) &&
         std::ranges::all_of(transports, &TransportProof::holds);
}

RulesReport prove_all(const ReportOptions& options) {
  Solver available;  // throws if there is none
  RulesReport report;
  std::vector<Task> tasks;
  report.functions.resize(std::size(functions));
  for (std::size_t i = 0; i < std::size(functions); i++) {
    tasks.push_back([&report, &options, i] {
      Solver solver(steps);
      solver.state(smt_prelude());
      report.functions[i] = functions[i](solver, {options.instances, options.seed});
    });
  }
  report.transports.resize(transports().size());
  for (std::size_t i = 0; i < report.transports.size(); i++) {
    tasks.push_back([&report, i] {
      Solver solver(steps);
      report.transports[i] = prove_transport(transports()[i], solver);
    });
  }
  for (const RuleList& list : rule_lists()) report.lists.push_back({list});
  for (ListReport& r : report.lists) {
    // The tasks keep addresses of what is added here.
    r.algebraic.reserve(r.list.rules.size());
    r.functions.reserve(r.list.rules.size());
    r.floats.reserve(r.list.rules.size());
    for (const Rule& rule : r.list.rules) add_tasks(rule, options, &r, &tasks);
  }
  ThreadPool pool(options.threads);
  pool.run(std::ssize(tasks), [&](std::int64_t i) { tasks[static_cast<std::size_t>(i)](); });
  for (ListReport& r : report.lists) {
    std::erase_if(r.floats, [](const FloatCheck& c) { return c.readings == 0; });
    std::erase_if(r.algebraic, [](const RuleProof& p) { return p.readings == 0; });
    for (const Rule& rule : r.list.rules) {
      const std::string why = why_not_smaller(rule, r.list.numbers);
      if (!why.empty() && !r.list.why_it_ends) r.no_smaller.push_back(why);
    }
  }
  return report;
}

}  // namespace croze
