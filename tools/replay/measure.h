// measure.h -- a graph of the corpus, recorded, scheduled and compiled for the described machine.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "corpus/graphs.h"
#include "croze/base/thread_pool.h"
#include "croze/schedule/schedule.h"
#include "replay/kernel_facts.h"
#include "replay/record.h"

namespace croze::replay {

// Graphs one after the other.  No kernel of theirs is run and no cache is used.
//
// Cycles are those of schedule/explain/cost.h, and what a launch costs.
class Meter {
 public:
  GraphRecord measure(const corpus::CorpusGraph& graph);
  // The kernels of that graph, each with its edits and its program, for people.
  std::string kernel_texts() const;

 private:
  void compile(const Schedule& schedule);
  const KernelFacts& facts(const ScheduleStep& step) const;
  Totals totals_of(const Schedule& schedule) const;
  std::vector<KernelRecord> kernels_of(const Schedule& schedule) const;

  // By the serialised kernel, and whether it runs in blocks: graphs share kernels.
  using KernelId = std::pair<std::string, bool>;

  ThreadPool compilers_;
  std::map<KernelId, KernelFacts> facts_;
  Schedule schedule_;  // of the last graph
};

}  // namespace croze::replay
