// check.h -- whether a function on tensors gives the same whichever way it is computed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "croze/schedule/schedule.h"
#include "fuzz/campaign.h"
#include "fuzz/graphs/trial.h"

namespace croze::fuzz {

// What is wrong, or nothing.  The function is computed with an interpreter, each operation in a
// kernel of its own; with interpreters that look like a CPU, fused; and on CPU as users have it.
// What must come out is what the reference evaluator makes of it in float64, as nearly as its
// roundings let it; where they let it be anything, only the positions of what is not finite count,
// and where noise moves those, nothing.  Integers and bools must be equal.
//
// `counts`: what the scheduler did, and how many results could be told right from wrong.
//
// `others`: the same function with another size in the place of one, with which it is compiled for
// both and more.
struct OtherSize {
  GraphFunction function;
  std::int64_t size = 0, other = 0;
};
std::string check_graph(const GraphFunction& function, std::span<const OtherSize> others,
                        Counts& counts);
std::string check_graph(const GraphFunction& function);

// The roots, by the reference evaluator.
std::vector<HostTensor> evaluate_graph(const CanonicalGraph& graph);

}  // namespace croze::fuzz
