// domain.cpp -- see domain.h.
#include "croze/codegen/decompose/domain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "croze/graph/eval.h"

namespace croze::expand {
namespace {

bool are_opposite(UOp x, UOp y) {
  if (x.is(Op::Neg)) return x.src(0) == y;
  return x.is(Op::Mul) && y.is(Op::Mul) && x.src(0) == y.src(0) && x.src(1).is(Op::Const) &&
         y.src(1).is(Op::Const) && x.src(1).const_double() == -y.src(1).const_double();
}

Domain domain_of(UOp x, int depth);

// A bound as the dtype rounds it.  Rounding keeps order, so bounds of casts, sums and multiples are
// bounds of what is computed, too.
double rounded(double bound, DType t) {
  return t == DType::Float32 ? static_cast<double>(static_cast<float>(bound)) : bound;
}

Domain rounded(Domain d, DType t) { return {rounded(d.lo, t), rounded(d.hi, t), d.may_be_nan}; }

bool is_finite(const Domain& d) { return std::isfinite(d.lo) && std::isfinite(d.hi); }

Domain domain_of_integer(UOp x) {
  const bool is_unbounded = x.dtype() == DType::UInt64 && x.hi() == max_value(DType::UInt64);
  if (is_unbounded) return {0, 0x1p64, false};
  return {static_cast<double>(x.lo()), static_cast<double>(x.hi()), false};
}

// Infinities of both signs make a NaN.
Domain domain_of_sum(const Domain& a, const Domain& b) {
  if (!is_finite(a) || !is_finite(b)) return {};
  return {a.lo + b.lo, a.hi + b.hi, a.may_be_nan || b.may_be_nan};
}

Domain domain_of_multiple(const Domain& d, double factor) {
  const double a = d.lo * factor, b = d.hi * factor;
  return {std::min(a, b), std::max(a, b), d.may_be_nan};
}

// Of where(x < lo, lo, x) and where(hi < x, hi, x).
Domain domain_of_limited(UOp x, int depth) {
  if (!x.src(0).is(Op::Lt) || !x.src(1).is(Op::Const)) return {};
  const UOp small = x.src(0).src(0), large = x.src(0).src(1), limit = x.src(1), inner = x.src(2);
  const double number = limit.const_double();
  const Domain d = domain_of(inner, depth);
  if (small == inner && large == limit) {
    return {std::max(d.lo, number), std::max(d.hi, number), d.may_be_nan};
  }
  if (small == limit && large == inner) {
    return {std::min(d.lo, number), std::min(d.hi, number), d.may_be_nan};
  }
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
    case Op::Const: {
      const double value = x.const_double();
      return std::isnan(value) ? Domain{} : Domain{value, value, false};
    }
    case Op::Cast:
      return is_integer(x.src(0).dtype()) ? rounded(domain_of_integer(x.src(0)), x.dtype())
                                          : Domain{};
    case Op::Add:
      return rounded(domain_of_sum(domain_of(x.src(0), depth - 1), domain_of(x.src(1), depth - 1)),
                     x.dtype());
    case Op::Neg: return domain_of_multiple(domain_of(x.src(0), depth - 1), -1);
    case Op::Mul: {
      if (x.src(0) == x.src(1)) return domain_of_square(x.src(0), depth - 1);
      const double factor = x.src(1).is(Op::Const) ? x.src(1).const_double() : 0;
      if (factor == 0 || !std::isfinite(factor)) return {};
      return rounded(domain_of_multiple(domain_of(x.src(0), depth - 1), factor), x.dtype());
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
