#include "croze/run/observers.h"

#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/graph/rewrite/rule_set.h"
#include "croze/graph/rewrite/rule_statistics.h"
#include "croze/graph/text/print.h"
#include "croze/run/explain.h"

namespace croze {

bool CompileLog::watches_rules() const { return log_enabled(7); }

void CompileLog::left(CompilePart part, std::string_view name, UOp result) {
  if (part != CompilePart::Pass || !result || !log_enabled(5)) return;
  log_line(5, "--- after {}\n{}", name, print_graph(result));
}

void CompileLog::scheduled(const CanonicalGraph& graph, const Schedule& schedule) {
  if (!Options::flag(Option::Explain)) return;
  log_line(0, "{}", to_text(explanation_of(graph, schedule)));
}

void CompileLog::edited(std::string_view edits) { log_line(3, "{}: {}", current_kernel(), edits); }

void CompileLog::tried(const RuleSet& set, const Rule& rule, UOp before, UOp after, std::int64_t) {
  if (!after) return;
  log_line(7, "{}: {}: {} => {}", set.name(), place_of(rule), to_string(before), to_string(after));
}

EnvironmentObservers::EnvironmentObservers() {
  if (log_enabled(3) || Options::flag(Option::Explain)) logging_.emplace(log_);
  if (Options::flag(Option::RuleStats)) counting_.emplace(rule_statistics());
  if (Options::flag(Option::CheckBounds)) proving_.emplace(prover_);
  if (tracing::is_tracing()) tracing_.emplace(tracer_.emplace());
}

}  // namespace croze
