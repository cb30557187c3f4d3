// changing_numbers.h -- which numbers of a tensor graph are passed to its kernels.
//
// A number that a program computes anew in each turn of a loop (`x * (0.1 * i)`) would make new
// kernels in each turn if it were compiled into them.  So what was seen of each form is remembered:
// the first graph is compiled with its numbers, for constants are what most of them are; those in
// which a second graph differs are passed from then on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "croze/schedule/numbers.h"

namespace croze {

struct PassedNumbers {
  std::vector<int> passed;              // by number of the form; -1: a constant
  std::vector<std::int64_t> variables;  // of a launch: the words of what is passed

  bool any() const { return !variables.empty(); }
};

// Whether the numbers of a graph may be seen to change.  One that would fill the memory of all that
// was seen is not remembered: its numbers are constants, and its form need not be made.
bool is_remembered(const CanonicalGraph& graph);

// What to pass for this graph, which counts as seen now.  May be called by several threads.
PassedNumbers numbers_to_pass(const GraphForm& form);

// The same if nothing new is to be learned from the graph; nothing is remembered.
std::optional<PassedNumbers> known_numbers_to_pass(const GraphForm& form);

// The key of a form with some of its numbers passed: equal if one plan serves both.
std::string key_of(const GraphForm& form, const PassedNumbers& numbers);

// Forgets all that was seen.
void forget_changing_numbers();

}  // namespace croze
