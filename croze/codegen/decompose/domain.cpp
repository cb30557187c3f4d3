// domain.cpp -- see domain.h.
#include "croze/codegen/decompose/domain.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace croze::expand {
namespace {

bool are_opposite(UOp x, UOp y) {
  if (x.is(Op::Neg)) return x.src(0) == y;
  return x.is(Op::Mul) && y.is(Op::Mul) && x.src(0) == y.src(0) && x.src(1).is(Op::Const) &&
         y.src(1).is(Op::Const) && x.src(1).const_double() == -y.src(1).const_double();
}

Domain domain_of(UOp x, int depth);

// Of where(x < lo, lo, x) and where(hi < x, hi, x).
Domain domain_of_limited(UOp x, int depth) {
  if (!x.src(0).is(Op::Lt) || !x.src(1).is(Op::Const)) return {};
  const UOp small = x.src(0).src(0), large = x.src(0).src(1), limit = x.src(1), inner = x.src(2);
  const double number = limit.const_double();
  const Domain d = domain_of(inner, depth);
  if (small == inner && large == limit) return {std::max(d.lo, number), std::max(d.hi, number)};
  if (small == limit && large == inner) return {std::min(d.lo, number), std::min(d.hi, number)};
  return {};
}

// Of a polynomial of x by Horner's rule, at the bounds of x.
Domain domain_of_polynomial(UOp sum, int depth) {
  const UOp x = sum.src(1);
  std::vector<double> coefficients;
  for (; sum.is(Op::MulAdd) && sum.src(1) == x && sum.src(2).is(Op::Const); sum = sum.src(0)) {
    coefficients.push_back(sum.src(2).const_double());
  }
  const Domain at = domain_of(x, depth);
  if (!sum.is(Op::Const) || !std::isfinite(at.lo) || !std::isfinite(at.hi)) return {};
  Domain d{sum.const_double(), sum.const_double()};
  for (; !coefficients.empty(); coefficients.pop_back()) {
    const auto [lo, hi] = std::minmax({d.lo * at.lo, d.lo * at.hi, d.hi * at.lo, d.hi * at.hi});
    d = {lo + coefficients.back(), hi + coefficients.back()};
  }
  return d.lo <= d.hi ? d : Domain{};
}

Domain domain_of_square(UOp x, int depth) {
  const Domain d = domain_of(x, depth);
  return {0, std::max(d.lo * d.lo, d.hi * d.hi)};
}

Domain domain_of(UOp x, int depth) {
  if (depth == 0) return {};
  if (argument_of_magnitude(x)) return {.lo = 0};
  switch (x.op()) {
    case Op::Where: return domain_of_limited(x, depth - 1);
    case Op::MulAdd: return domain_of_polynomial(x, depth - 1);
    case Op::Neg: {
      const Domain d = domain_of(x.src(0), depth - 1);
      return {-d.hi, -d.lo};
    }
    case Op::Mul: {
      if (x.src(0) == x.src(1)) return domain_of_square(x.src(0), depth - 1);
      const double factor = x.src(1).is(Op::Const) ? x.src(1).const_double() : 0;
      if (factor == 0 || !std::isfinite(factor)) return {};
      const Domain d = domain_of(x.src(0), depth - 1);
      return {std::min(d.lo * factor, d.hi * factor), std::max(d.lo * factor, d.hi * factor)};
    }
    default: return {};
  }
}

}  // namespace

UOp argument_of_magnitude(UOp x) {
  if (!x.is(Op::Where)) return {};
  const UOp is_negative = x.src(0), opposite = x.src(1), y = x.src(2);
  const bool is_one = is_negative.is(Op::Lt) && is_negative.src(0) == y &&
                      is_negative.src(1).is_const(0) && are_opposite(opposite, y);
  return is_one ? y : UOp();
}

Domain domain_of(UOp x) { return domain_of(x, 8); }

}  // namespace croze::expand
