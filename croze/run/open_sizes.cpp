// open_sizes.cpp -- which recordings are kept, and when an open plan is made.
#include "croze/run/open_sizes.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

#include "croze/base/log.h"
#include "croze/run/plan.h"

namespace croze {
namespace {

// Recordings that are compared: each beyond two has shown that what the others have in common was
// not all.
constexpr std::ptrdiff_t most_compared = 4;
// Kept of all structures together.
constexpr std::size_t most_kept = 16;
// Open graphs of one function, the oldest of which is let go of.
constexpr std::size_t most_open = 16;

// Of each thread: named in docs/architecture.md as global state.
thread_local OpenSizes::Scope* scope_here = nullptr;

}  // namespace

OpenSizes::Scope::Scope(OpenSizes& plans, std::span<const std::int64_t> sizes)
    : plans_(plans), sizes_(sizes.begin(), sizes.end()), around_(std::exchange(scope_here, this)) {}
OpenSizes::Scope::~Scope() { scope_here = around_; }

std::shared_ptr<const PreparedRun> OpenSizes::prepare_in_scope(const CanonicalGraph& graph) {
  if (!scope_here) return nullptr;
  // What is prepared on the way is not.
  Scope* const scope = std::exchange(scope_here, nullptr);
  struct Restored {
    Scope* scope;
    ~Restored() { scope_here = scope; }
  } restored{scope};
  return scope->plans_.prepare(graph, scope->sizes_);
}

struct OpenSizes::Kept {
  std::shared_ptr<const CanonicalGraph> graph;
  SizedRecording recording;
};

struct OpenSizes::Open {
  OpenGraph graph;
  std::string settings;  // run_settings(), for which it was compiled
  std::shared_ptr<const PreparedRun::Plan> plan;
};

OpenSizes::OpenSizes(std::vector<OpenBounds> bounds, int closed)
    : bounds_(std::move(bounds)), closed_(closed) {}
OpenSizes::~OpenSizes() = default;

std::shared_ptr<const PreparedRun> OpenSizes::prepare(const CanonicalGraph& graph,
                                                      std::span<const std::int64_t> sizes) {
  // What was compiled for these sizes alone, by whoever, is faster; yet others will come.
  auto prepared = find_prepared(graph);
  if (prepared && !will_open()) return prepared;
  const SizedRecording recording{&graph, sized_form_of(graph), {sizes.begin(), sizes.end()}};
  const std::lock_guard lock(mutex_);
  auto found = find(graph, recording);
  if (!found) {
    if (compiled_ >= closed_) open(recording);
    add(recording);
    found = find(graph, recording);
  }
  if (prepared) return prepared;
  if (found) return found;
  compiled_++;
  return croze::prepare(graph);
}

bool OpenSizes::will_open() {
  const std::lock_guard lock(mutex_);
  return compiled_ >= closed_;
}

void OpenSizes::keep(const CanonicalGraph& graph, std::span<const std::int64_t> sizes) {
  const SizedRecording recording{&graph, sized_form_of(graph), {sizes.begin(), sizes.end()}};
  const std::lock_guard lock(mutex_);
  add(recording);
}

// The plan of open sizes at those of the recording, if there is one that serves it.
std::shared_ptr<const PreparedRun> OpenSizes::find(const CanonicalGraph& graph,
                                                   const SizedRecording& recording) const {
  const std::string settings = run_settings();
  for (const Open& open : open_) {
    if (open.settings != settings) continue;
    if (auto instance = open.graph.instance(recording)) {
      return croze::prepare(graph, plan_of_instance(*open.plan, std::move(*instance)));
    }
  }
  return nullptr;
}

// Makes a plan for what the recording and those before it have in common.
void OpenSizes::open(const SizedRecording& recording) {
  std::vector<SizedRecording> alike;
  for (const Kept& k : kept_) {
    const bool is_alike = k.recording.form.structure == recording.form.structure;
    if (is_alike && k.recording.declared != recording.declared) alike.push_back(k.recording);
  }
  if (alike.empty()) return;
  // The first may have been recorded to be unlike all others.
  if (std::ssize(alike) >= most_compared) {
    alike.erase(alike.begin() + 1, alike.end() - most_compared + 2);
  }
  alike.push_back(recording);
  // Each size can be compiled for itself, so what fails here is no reason to fail.
  try {
    Opening opening = open_graph_of(alike, bounds_);
    if (!opening.graph) return log_line(1, "sizes stay closed: {}", opening.why_not);
    auto plan = make_plan(opening.graph->graph);
    if (open_.size() == most_open) open_.erase(open_.begin());
    open_.push_back({std::move(*opening.graph), run_settings(), std::move(plan)});
  } catch (const std::exception& e) {
    log_warning(fmt::format("sizes stay closed: {}", e.what()));
  }
}

void OpenSizes::add(const SizedRecording& recording) {
  if (kept_.size() == most_kept) kept_.erase(kept_.begin());
  auto graph = std::make_shared<const CanonicalGraph>(canonical_graph(recording.graph->roots));
  SizedForm form = sized_form_of(*graph);
  SizedRecording copy{graph.get(), std::move(form), recording.declared};
  kept_.push_back({std::move(graph), std::move(copy)});
}

}  // namespace croze
