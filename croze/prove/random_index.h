// random_index.h -- random expressions over a few bounded leaves, for proofs of instances.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "croze/prove/reading.h"

namespace croze {

// Expressions of one graph over leaves with so few values that all can be tried -- or, in a `wide`
// one, over leaves with many, but only such that the solver decides: sums of multiples and
// divisions by constants, not deep.
class RandomIndex : public LeafSource {
 public:
  RandomIndex(Graph& graph, std::mt19937_64& random, bool wide);

  // Draws other leaves, with few values.
  void narrow();

  // One expression in two forms: as it was drawn, and through the constructors of Graph.
  struct Pair {
    UOp plain, canonical;
  };
  Pair index(int depth);
  // A Bool: a comparison, or several joined by And, Or and Not.
  UOp condition(int depth);
  // Of any integral dtype.
  UOp value(DType t);
  UOp constant(DType t);

  // For the captures of a rule; floats are opaque.
  UOp leaf(Graph& graph, const Token& capture, DType t) override;

  std::int64_t pick(std::int64_t n);  // 0..n-1

 private:
  void draw_leaves();
  void draw_open_range(std::int64_t id);
  Pair combine(Op op, const Pair& a, const Pair& b);
  Pair constant_pair(std::int64_t value);
  std::int64_t number();
  std::int64_t divisor();

  Graph& graph_;
  std::mt19937_64& random_;
  bool wide_;
  std::vector<UOp> leaves_;
  UOp trip_;  // how often the open loop among them turns, if there is one
};

}  // namespace croze
