// expression.h -- random expressions of integers and booleans, and what each is worth.
//
// An expression is a list of steps rather than a graph, so that it can be had in two ways: as the
// compiler's graph, through the constructors that fold and reorder, and as numbers, step by step
// with eval().  The two share nothing but the list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "fuzz/chance.h"

namespace croze::fuzz {

struct Step {
  Op op =
      Op::Const;  // leaves: Variable and Range (Index), Load (an element of a sized type), Const
  DType dtype = DType::Index;
  std::vector<int> src = {};    // numbers of earlier steps
  std::int64_t lo = 0, hi = 0;  // of a Variable or a Range; lo: the bits of a Const

  bool is_leaf() const { return src.empty(); }
  bool is_free() const { return is_leaf() && op != Op::Const; }
};

struct Expression {
  std::vector<Step> steps;
  int root = -1;
  int gate = -1;  // a Bool under which the root is looked at, too

  const Step& at(int i) const { return steps[static_cast<std::size_t>(i)]; }
};

// Indices like those of views and tiles, gates like those of padding, and sized integers that wrap.
Expression random_expression(std::uint64_t seed);

// A node per step, through the canonical constructors or (`as_written`) without them.
std::vector<UOp> build(const Expression& expression, Graph& graph, bool as_written = false);

// The value of each step; `values` holds those of the free leaves in their places.
void evaluate(const Expression& expression, std::span<std::int64_t> values);

// Values for the leaves: all there are if they are few, else random ones, corners often.
// Each has a number per step, as evaluate() takes it.
std::vector<std::vector<std::int64_t>> points_of(const Expression& expression, std::uint64_t seed);

// Without the steps that neither the root nor the gate needs.
Expression pruned(const Expression& expression);

// Replaces steps by operands and by constants for as long as it `fails`.
template <typename Fails>
Expression minimised(Expression expression, const Fails& fails);

// C++ that builds it in a Graph g; the results are called x and gate.
std::string cpp_of(const Expression& expression);

// ---- details ----------------------------------------------------------------------------------

// The expression with every use of step `i` going to step `j`, which stands before it.
Expression redirected(Expression expression, int i, int j);
// The expression with step `i` a constant.
Expression with_constant(Expression expression, int i, std::int64_t bits);

template <typename Fails>
Expression minimised(Expression expression, const Fails& fails) {
  auto keep = [&](Expression candidate) {
    candidate = pruned(candidate);
    if (candidate.steps.size() > expression.steps.size() || !fails(candidate)) return false;
    expression = std::move(candidate);
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    const std::size_t before = expression.steps.size();
    for (int i = static_cast<int>(before); i-- > 0;) {
      if (i >= static_cast<int>(expression.steps.size()) || expression.at(i).op == Op::Const) {
        continue;
      }
      const Step step = expression.at(i);
      bool done = false;
      for (std::int64_t bits : {0, 1}) {
        done = done || keep(with_constant(expression, i, bits));
      }
      for (int s : step.src) {
        if (!done && expression.at(s).dtype == step.dtype)
          done = keep(redirected(expression, i, s));
      }
    }
    smaller = expression.steps.size() < before;
  }
  return expression;
}

}  // namespace croze::fuzz
