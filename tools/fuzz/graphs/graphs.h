// graphs.h -- programs as users write them on Tensors, whole graphs of them, computed fused and
// unfused, interpreted and on CPU.
//
// A program is a list of steps, each a function of earlier ones: layers, losses, reductions, scans,
// sorts, movement, indexing, casts, gradients by leaves and by values between, and gradients of
// those; last come assignments, as an optimizer makes them.  A step that a function refuses makes
// nothing, and neither do those that use it, so any part of a program is a program.  How it is
// judged is in check.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign.h"
#include "fuzz/graphs/trial.h"

namespace croze::fuzz {

struct GraphStep {
  int kind = -1;         // row of graph_steps(); -1: none
  std::vector<int> src;  // earlier steps
  std::vector<std::int64_t> arg;
  bool is_rounded = true;  // of exact operands it would not be exact
};

struct GraphProgram {
  std::vector<GraphStep> steps;
  std::vector<int> roots;
};

// The program of a seed: the same on every machine.
GraphProgram random_graph(std::uint64_t seed);

// The function that a program is, of those of its roots that there are.  The program must outlive
// it.
GraphFunction function_of(const GraphProgram& program);

// Leaves out roots and steps, and puts leaves in the place of computations, for as long as `run`
// says that it is wrong.
GraphProgram minimised(GraphProgram program,
                       const std::function<std::string(const GraphProgram&)>& run);

// A statement of a test (tests/fuzz/graphs_test.cpp).
std::string cpp_of(const GraphProgram& program);

// The case of a seed.
std::optional<Mismatch> graphs_case(std::uint64_t seed, Counts& counts);

}  // namespace croze::fuzz
