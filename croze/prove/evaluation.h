// evaluation.h -- scalar expressions evaluated over and over for other values of their leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// Expressions of one graph, without Invalid and gates (meaning.h), flattened to a list of steps.
// What an op means is taken from eval.h.
class Evaluation {
 public:
  explicit Evaluation(std::span<const UOp> roots);

  // What is neither a constant nor elementwise: ranges, variables, loads.
  const std::vector<UOp>& leaves() const { return leaves_; }

  // Computes all roots; `values` are the bits of the leaves, in their order.
  void run(std::span<const std::int64_t> values);
  // The bits of root number `i` (see eval.h).
  std::int64_t result(std::size_t i) const { return slots_[roots_[i]]; }

 private:
  struct Step {
    Op op;
    DType dtype, operand;
    std::size_t target, count;
    std::size_t src[3];
  };

  std::vector<UOp> leaves_;
  std::vector<std::int64_t> slots_;  // leaves first
  std::vector<Step> steps_;
  std::vector<std::size_t> roots_;
};

// Whether two values of a dtype are the same, as bits; of NaNs the payload does not count.
bool same_value(DType t, std::int64_t a, std::int64_t b);

}  // namespace croze
