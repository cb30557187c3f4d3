// execute.h -- from tensor graph to results: schedule, compile, launch.
//
// All functions may be called by several threads at once, each with graphs that no other thread
// changes meanwhile.  They share the caches of plans and programs, and no lock while they schedule,
// compile or launch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/run/statistics.h"

namespace croze {

class Graph;
struct CanonicalGraph;
class SpareBuffers;

// Computes every root of a tensor graph and returns, in order, the node that now stands for its
// value: a Reshape of a Buffer (the Buffer itself if the root is flat), or the assigned view for a
// root that is a view of After(buffer, Store(view, value)).  A root that is a view of a Buffer
// already is returned as it is.  All roots are scheduled together.
std::vector<UOp> realize(std::span<const UOp> roots);

// The same in two steps, for work that is done again and again: everything but the launches is done
// by prepare().  A PreparedRun keeps no Buffer alive; it stands for any buffers of the same shapes,
// with the numbers of its graph.
class PreparedRun;
std::shared_ptr<const PreparedRun> prepare(std::span<const UOp> roots);

// canonical_graph(), and what is noted of the calls that recorded the roots goes with them.
CanonicalGraph noted_canonical_graph(std::span<const UOp> roots);
// prepare() for a graph whose roots have been copied so, so that the graph they come
// from may change meanwhile.  If another thread prepares an equal graph at the moment, its plan is
// waited for; different graphs are prepared at once.
std::shared_ptr<const PreparedRun> prepare(const CanonicalGraph& graph);
// The same if the plan is there already; null if it has to be made.
std::shared_ptr<const PreparedRun> find_prepared(const CanonicalGraph& graph);
// The same without a copy, for graphs that have been prepared before; null may be wrong.
std::shared_ptr<const PreparedRun> find_prepared(std::span<const UOp> roots);

// All that a prepared run depends on beside its graph, options and the default device, as a key.
std::string run_settings();

// The Buffer nodes that the roots read or assign, in the order in which run() takes them.
std::span<const UOp> inputs_of(const PreparedRun& prepared);

// Launches over `inputs` (as inputs_of, or others of the same dtype, size and device in their
// place). Returns, per root, a new Buffer (flat) with the value; a null UOp for a root that only
// assigns.
std::vector<UOp> run(const PreparedRun& prepared, std::span<const UOp> inputs, Graph& results);

// run() in two steps.  The first makes the Buffers of the results and binds all memory, so that the
// second needs no graph: it may take long, and other threads record, collect and run meanwhile.
// Whoever launches has seen to it that nothing else writes what it reads, or touches what it
// writes, until launch() returns.
class BoundRun {
 public:
  // `spare`: of the graph of the results, which are taken from there if some are like them.
  BoundRun(const PreparedRun& prepared, std::span<const UOp> inputs, Graph& results,
           SpareBuffers* spare = nullptr);
  ~BoundRun();
  BoundRun(BoundRun&&) noexcept;
  BoundRun& operator=(BoundRun&&) = delete;

  // What run() returns.
  std::span<const UOp> values() const { return values_; }
  // What realize() returns for the roots that were prepared.
  std::vector<UOp> results(std::span<const UOp> roots) const;
  // Once.  Throws what a run failed with that was to compute an input.  In a QueueScope, returns
  // when the launches are enqueued.
  void launch();

 private:
  struct Bound;
  std::shared_ptr<Bound> bound_;  // a queue takes it over
  std::vector<UOp> values_;
};

// For each root the name of the kernel that writes its value; "" if none does.
std::vector<std::string> kernels_of(const PreparedRun& prepared);

// What the run does, for reports.
RunSummary summary_of(const PreparedRun& prepared);

// What running these roots would take.  Nothing is compiled, and observers are not told.
RunCost cost_of(std::span<const UOp> roots);

}  // namespace croze
