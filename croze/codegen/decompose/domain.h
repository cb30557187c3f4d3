// domain.h -- between which numbers a float lies, as far as its expression tells.
#pragma once

#include <limits>

#include "croze/graph/graph.h"

namespace croze::expand {

struct Domain {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
};

// Of integers, sums and numbers, of magnitudes and squares, of what is held against a limit as
// where(x < lo, lo, x) and where(hi < x, hi, x), of opposites and multiples of these, and of
// polynomials in them by Horner's rule.  Bounds of squares and polynomials are those of exact
// arithmetic; a result may be off by its rounding.
Domain domain_of(UOp x);

// The y of which x is where(y < 0, -y, y); null if it is no such thing.
UOp argument_of_magnitude(UOp x);

}  // namespace croze::expand
