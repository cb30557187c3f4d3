// observer.h -- who watches a compile, from the schedule down to the single rule; and gradients.
//
// A compile is made of parts, one inside of the other: a schedule, the kernels that are compiled
// for it, the passes of a kernel; in a pass, rules fire and edits are made.  Whoever wants to see
// it (the log, the statistics of rules, the prover of accesses, a test) derives from
// CompileObserver and stands there as an Observing for a while.  It sees what its thread compiles,
// and what other threads compile on behalf of its thread; several may watch at once.
//
// Where nobody watches, each part costs one branch, and so does each node that is matched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "croze/graph/uop.h"

namespace croze {

struct CanonicalGraph;
struct Rule;
struct Schedule;
class RuleSet;

// What a search for the edits of a kernel has found (CROZE_BEAM).
struct TuningReport {
  std::string_view kernel, edits;
  int tried = 0;                             // candidates that were run
  double seconds = 0, model_seconds = 0;     // of one run with these edits, and with the model's
  std::span<const std::string> broken = {};  // candidates that crashed, hung or computed wrongly
};

enum class CompilePart : std::uint8_t { Schedule, Kernel, Pass };

// Called by the thread that compiles; an observer that watches several threads guards itself.
class CompileObserver {
 public:
  virtual ~CompileObserver() = default;

  virtual void entered(CompilePart, std::string_view /*name*/) {}
  // `result` is the kernel as the part leaves it; null of a schedule, and of what an exception
  // ends. May throw, and so end the compile, where there is a result.
  virtual void left(CompilePart, std::string_view /*name*/, UOp /*result*/) {}
  // The schedule of a graph is whole: its buffers know why they are there (schedule/explain/).
  virtual void scheduled(const CanonicalGraph&, const Schedule&) {}
  // The edits of a kernel have been made: the list as text (codegen/edits/edit.h).
  virtual void edited(std::string_view /*edits*/) {}

  // What flows from `node` to one of its sources when a gradient is taken has been recorded.
  virtual void differentiated(UOp /*node*/, UOp /*partial*/) {}

  // The edits of a kernel have been searched for.
  virtual void tuned(const TuningReport&) {}

  // Whether it is to be told of rules, which are many.  Asked once.
  virtual bool watches_rules() const { return false; }
  // `node` is about to be matched against the whole set.
  virtual void visited(const RuleSet&, UOp /*node*/) {}
  // The rule's pattern matched `before`; `after` is what it made, or null if its condition could
  // not be proven or it declined.
  virtual void tried(const RuleSet&, const Rule&, UOp /*before*/, UOp /*after*/,
                     std::int64_t /*ns*/) {}
};

namespace detail {
// Those who watch a thread, the last to come first.
struct ObserverLink {
  CompileObserver* observer;
  const ObserverLink* next;
  bool rules;  // of this one or of a next one
};
// Of each thread: named in docs/architecture.md as global state.
inline constinit thread_local const ObserverLink* observers = nullptr;
inline constinit thread_local std::string_view kernel = {};
}  // namespace detail

// While it lives, the observer sees what this thread compiles.
class Observing {
 public:
  explicit Observing(CompileObserver& observer);
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  detail::ObserverLink link_;
};

// Those who watch a thread, for a thread that works for it.
class Watchers {
 public:
  Watchers() : first_(detail::observers) {}  // those of this thread
  static Watchers nobody() { return Watchers(nullptr); }

 private:
  friend class WatchedBy;
  explicit Watchers(const detail::ObserverLink* first) : first_(first) {}
  const detail::ObserverLink* first_;
};

// While it lives, they watch this thread.  They must stay as long.
class WatchedBy {
 public:
  explicit WatchedBy(const Watchers& watchers) : before_(detail::observers) {
    detail::observers = watchers.first_;
  }
  ~WatchedBy() { detail::observers = before_; }
  WatchedBy(const WatchedBy&) = delete;
  WatchedBy& operator=(const WatchedBy&) = delete;

 private:
  const detail::ObserverLink* before_;
};

// ---- telling ----------------------------------------------------------------------------------

inline bool is_watched() { return detail::observers != nullptr; }
inline bool are_rules_watched() { return detail::observers && detail::observers->rules; }

// The name of the kernel that this thread compiles; empty if it compiles none or nobody watches.
inline std::string_view current_kernel() { return detail::kernel; }

// Calls tell(observer) for each who watches this thread.
template <typename F>
void tell_observers(F&& tell) {
  for (const detail::ObserverLink* l = detail::observers; l; l = l->next) tell(*l->observer);
}

// A part of a compile: entered now, left with leave(), or where it goes out of scope.
class CompileScope {
 public:
  CompileScope(CompilePart part, std::string_view name) : part_(part), name_(name) {
    if (is_watched()) enter();
  }
  ~CompileScope() {
    if (entered_) end({});
  }
  CompileScope(const CompileScope&) = delete;
  CompileScope& operator=(const CompileScope&) = delete;

  // Gives `result` back.
  UOp leave(UOp result) {
    if (entered_) end(result);
    return result;
  }

 private:
  void enter();
  void end(UOp result);

  CompilePart part_;
  std::string_view name_;   // belongs to the caller
  std::string_view outer_;  // Kernel: the kernel before it
  bool entered_ = false;
};

}  // namespace croze
