// compare.h -- what is different between two records of a graph.
#pragma once

#include <string>
#include <vector>

#include "command_line/json.h"
#include "replay/record.h"

namespace croze::replay {

struct Difference {
  struct Kernel {
    KernelRecord before, after;
  };

  std::string graph;
  bool is_recorded = true;  // else only the second one is there
  Totals before, after;
  std::vector<KernelRecord> disappeared, appeared;
  std::vector<Kernel> changed;  // of equal keys: in their number, edits or program

  bool any() const;
};

// Throws Error if the records are of different machines.
Difference difference(const GraphRecord& before, const GraphRecord& after);
// What a graph is that was never recorded.
Difference new_graph(const GraphRecord& after);

// "softmax: launches 1 -> 2", and a line for each kernel.
std::string to_text(const Difference& d);
Json json_of(const Difference& d);

// The totals that differ, of one graph or of several: "launches 400 -> 398 (-0.5%), ...".
std::string to_text(const Totals& before, const Totals& after);
void add(Totals& totals, const Totals& more);

}  // namespace croze::replay
