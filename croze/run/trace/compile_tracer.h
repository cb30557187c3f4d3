// compile_tracer.h -- internal to run/: tells the trace of a compile: its parts as scopes and, if
// the trace is to have them, every rewrite.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "croze/graph/observer.h"
#include "croze/run/trace/recorder.h"

namespace croze::tracing {

class CompileTracer : public CompileObserver {
 public:
  void entered(CompilePart part, std::string_view name) override;
  void left(CompilePart part, std::string_view name, UOp result) override;

  bool watches_rules() const override { return has_rewrites_; }
  void tried(const RuleSet& set, const Rule& rule, UOp before, UOp after, std::int64_t ns) override;

 private:
  // What a thread is compiling.
  struct Work {
    std::vector<Clock::time_point> starts;  // of the parts, the outermost first
    traces::Number pass = 0;                // the one at work
    bool is_in_pass = false;
    NodeNumbers nodes;  // of the kernel's graphs, which live as long as it is compiled
  };
  Work& work();

  bool has_rewrites_ = asks_for_rewrites();
  std::mutex mutex_;
  std::unordered_map<std::thread::id, Work> works_;

  static bool asks_for_rewrites();
};

// Keeps the edits of the kernel that is compiled while it watches.
class EditsNote : public CompileObserver {
 public:
  void edited(std::string_view edits) override { edits_ = edits; }
  const std::string& edits() const { return edits_; }

 private:
  std::string edits_;
};

}  // namespace croze::tracing
