#include "croze/run/trace/compile_tracer.h"

#include "croze/graph/rewrite/rule_set.h"

namespace croze::tracing {
namespace {

using What = traces::Scope::What;

What what_of(CompilePart part) {
  switch (part) {
    case CompilePart::Schedule: return What::Schedule;
    case CompilePart::Kernel: return What::Kernel;
    case CompilePart::Pass: break;
  }
  return What::Pass;
}

}  // namespace

bool CompileTracer::asks_for_rewrites() {
  bool asks = false;
  record([&](Recorder& r) { asks = r.has_rewrites(); });
  return asks;
}

CompileTracer::Work& CompileTracer::work() {
  const std::lock_guard lock(mutex_);
  return works_[std::this_thread::get_id()];
}

void CompileTracer::entered(CompilePart part, std::string_view name) {
  Work& w = work();
  w.starts.push_back(Clock::now());
  if (part != CompilePart::Pass || !has_rewrites_) return;
  record([&](Recorder& r) {
    w.pass = r.writer().add(
        traces::Pass{r.name(current_kernel()), r.name(name), r.time(w.starts.back())});
    w.is_in_pass = true;
  });
}

void CompileTracer::left(CompilePart part, std::string_view name, UOp result) {
  const Clock::time_point end = Clock::now();
  Work& w = work();
  const Clock::time_point start = w.starts.back();
  w.starts.pop_back();
  record([&](Recorder& r) {
    if (part == CompilePart::Pass && w.is_in_pass && result) {
      r.writer().add(traces::PassResult{w.pass, r.node(result, w.nodes)});
    }
    const traces::Name detail = part == CompilePart::Schedule ? r.call() : 0;
    r.writer().add(traces::Scope{what_of(part), r.thread_row(), r.name(name), detail, r.time(start),
                                 r.time(end) - r.time(start)});
  });
  w.is_in_pass = false;
  if (part == CompilePart::Kernel) w.nodes.clear();
}

void CompileTracer::tried(const RuleSet& set, const Rule& rule, UOp before, UOp after,
                          std::int64_t ns) {
  if (!after || !has_rewrites_) return;
  Work& w = work();
  if (!w.is_in_pass) return;
  record([&](Recorder& r) {
    const traces::Number from = r.node(before, w.nodes), to = r.node(after, w.nodes);
    r.writer().add(traces::Match{w.pass, r.name(set.name()), r.rule(rule), from, to, ns});
  });
}

}  // namespace croze::tracing
