// index_form.h -- index arithmetic in canonical form.
//
// An Index expression is a sum of coefficient * atom, plus a constant; atoms are ranges, variables,
// loads, floor quotients and floor remainders (and whatever else is not a sum).  Written as a node
// it is one shape only: ((atom * c + atom * c) + ...) + constant, atoms in the order of their
// structural keys, coefficient 1 not written, constant 0 not written.  So equal sums are the same
// node, and no rule has to shuffle terms.
#pragma once

#include <cstdint>

#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"

namespace croze {

// A coefficient or a constant that 64 bits do not hold.
class IndexOverflow : public InternalError {
 public:
  IndexOverflow() : InternalError("index arithmetic leaves 64 bits") {}
};

struct Term {
  UOp atom;
  std::int64_t coefficient;
  bool operator==(const Term&) const = default;
};

struct LinearForm {
  // Ordered by key of the atom; no coefficient is zero; atoms are distinct.
  SmallVector<Term, 8> terms;
  std::int64_t constant = 0;

  static LinearForm of(UOp index);
  UOp build(Graph& graph) const;

  // Adds coefficient * atom, or coefficient * other.  Throws IndexOverflow.
  void add(UOp atom, std::int64_t coefficient);
  void add(const LinearForm& other, std::int64_t coefficient);

  // The values the sum can take, by the bounds of its atoms, and what of them stays below its trip
  // count; saturated.
  Bounds bounds() const;

  // Whether a loop among the atoms has a trip count that is no constant.
  bool has_open_ranges() const;

  // Coefficient of `atom`, 0 if absent.  Occurrences inside other atoms do not count.
  std::int64_t coefficient(UOp atom) const;

  bool operator==(const LinearForm&) const = default;

 private:
  Bounds bounds_of_atoms() const;
  LinearForm with_last_turns(bool of_positive) const;
};

// Constructors used by Graph::alu for dtype Index: results are canonical and simplified by bounds,
// congruence, common factors and nesting.  Divisors may be any node.  All throw IndexOverflow.
UOp index_add(UOp a, UOp b);
UOp index_mul(UOp a, UOp b);
UOp index_div(UOp a, UOp b);  // floor
UOp index_mod(UOp a, UOp b);  // floor

// How `index` moves when `range` moves by one: its coefficient if the rest of the expression does
// not depend on the range; not affine otherwise.  (0 for an index that does not vary over it.)
struct Stride {
  bool affine = false;
  std::int64_t step = 0;
};
Stride stride_over(UOp index, UOp range);

}  // namespace croze
