// index_division.h -- the parts of index_form.h: division of sums by constants, and recombination.
#pragma once

#include "croze/graph/graph.h"
#include "croze/graph/index/index_form.h"

namespace croze::index_form {

using i64 = std::int64_t;
using Wide = __int128;

inline bool overflows(Wide value) { return value != static_cast<i64>(value); }

inline i64 checked(Wide value) {
  if (overflows(value)) throw IndexOverflow();
  return static_cast<i64>(value);
}

// Whether `u` is a quotient or remainder (`op`) by a positive constant, and that constant.
inline bool is_division(UOp u, Op op) {
  return u.is(op) && u.src(1).is_const() && u.src(1).const_int() > 0;
}
inline i64 divisor_of(UOp u) { return u.src(1).const_int(); }

// floor(dividend / by) and dividend - by * floor(dividend / by), for by > 0; recombined.
LinearForm divide(const LinearForm& dividend, i64 by, Graph& graph);
LinearForm modulo(const LinearForm& dividend, i64 by, Graph& graph);

// Joins the quotients and remainders of a sum that belong together.
void recombine(LinearForm* form, Graph& graph);

// The node of the recombined sum.
inline UOp build_recombined(LinearForm form, Graph& graph) {
  recombine(&form, graph);
  return form.build(graph);
}

}  // namespace croze::index_form
