// observers.h -- what the environment asks to be seen or proven of a compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "croze/graph/observer.h"
#include "croze/prove/accesses.h"
#include "croze/run/trace/compile_tracer.h"

namespace croze {

// The log of a compile: at CROZE_DEBUG=3 the edits of each kernel, at 5 the graph after each pass,
// at 7 every rule that fires; with CROZE_EXPLAIN each schedule.
class CompileLog : public CompileObserver {
 public:
  bool watches_rules() const override;
  void left(CompilePart part, std::string_view name, UOp result) override;
  void scheduled(const CanonicalGraph& graph, const Schedule& schedule) override;
  void edited(std::string_view edits) override;
  void tried(const RuleSet& set, const Rule& rule, UOp before, UOp after, std::int64_t ns) override;
};

// While it lives, this thread is watched as CROZE_DEBUG, CROZE_EXPLAIN, CROZE_RULE_STATS and
// CROZE_CHECK_BOUNDS say, and by the trace that is being written.
class EnvironmentObservers {
 public:
  EnvironmentObservers();

 private:
  CompileLog log_;
  AccessProver prover_;
  std::optional<tracing::CompileTracer> tracer_;
  std::optional<Observing> logging_, counting_, proving_, tracing_;
};

}  // namespace croze
