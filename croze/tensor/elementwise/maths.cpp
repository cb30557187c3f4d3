// maths.cpp -- the functions of calculus.
//
// Machines have exp, log, sin, cos and square root (or the compiler makes them); the rest is
// composed here, with the care that numeric.h describes.
#include <numbers>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

Tensor unary(Op op, const Tensor& x) { return elementwise(op, as_float(x)); }

}  // namespace

// ---- what machines have -----------------------------------------------------------------------

Tensor reciprocal(const Tensor& x, Location at) {
  const CallScope scope("reciprocal", at);
  return unary(Op::Reciprocal, x);
}
Tensor sqrt(const Tensor& x, Location at) {
  const CallScope scope("sqrt", at);
  return unary(Op::Sqrt, x);
}
Tensor rsqrt(const Tensor& x, Location at) {
  const CallScope scope("rsqrt", at);
  return reciprocal(sqrt(x));
}
Tensor exp(const Tensor& x, Location at) {
  const CallScope scope("exp", at);
  return unary(Op::Exp, x);
}
Tensor exp2(const Tensor& x, Location at) {
  const CallScope scope("exp2", at);
  return unary(Op::Exp2, x);
}
Tensor log(const Tensor& x, Location at) {
  const CallScope scope("log", at);
  return unary(Op::Log, x);
}
Tensor log2(const Tensor& x, Location at) {
  const CallScope scope("log2", at);
  return unary(Op::Log2, x);
}
Tensor sin(const Tensor& x, Location at) {
  const CallScope scope("sin", at);
  return unary(Op::Sin, x);
}
Tensor cos(const Tensor& x, Location at) {
  const CallScope scope("cos", at);
  return unary(Op::Cos, x);
}

Tensor log10(const Tensor& x, Location at) {
  const CallScope scope("log10", at);
  return in_wide_float(x, [](const Tensor& v) { return log(v) * (1 / std::numbers::ln10); });
}

Tensor tan(const Tensor& x, Location at) {
  const CallScope scope("tan", at);
  return in_wide_float(x, [](const Tensor& v) { return sin(v) / cos(v); });
}

Tensor deg2rad(const Tensor& x, Location at) {
  const CallScope scope("deg2rad", at);
  return in_wide_float(x, [](const Tensor& v) { return v * (std::numbers::pi / 180); });
}

Tensor rad2deg(const Tensor& x, Location at) {
  const CallScope scope("rad2deg", at);
  return in_wide_float(x, [](const Tensor& v) { return v * (180 / std::numbers::pi); });
}

// ---- exponentials -----------------------------------------------------------------------------

// x (1 + x/2 (1 + x/3 (...))) near 0.
Tensor expm1(const Tensor& x, Location at) {
  const CallScope scope("expm1", at);
  return in_wide_float(x, [](const Tensor& v) {
    const int last = v.dtype() == DType::Float64 ? 15 : 8;
    const auto near = [&](const Tensor& u) {
      Tensor series = Tensor::ones_like(u);
      for (int n = last; n >= 2; n--) series = series * u * (1.0 / n) + 1;
      return series * u;
    };
    return piecewise(v, 0.5, near, [](const Tensor& u) { return exp(u) - 1; });
  });
}

// 2 artanh(s) with s = x / (x + 2) near 0.
Tensor log1p(const Tensor& x, Location at) {
  const CallScope scope("log1p", at);
  static constexpr double odd[] = {2.,      2. / 3,  2. / 5,  2. / 7,  2. / 9,
                                   2. / 11, 2. / 13, 2. / 15, 2. / 17, 2. / 19};
  return in_wide_float(x, [](const Tensor& v) {
    const auto near = [](const Tensor& u) {
      const Tensor s = u / (u + 2);
      return s * polynomial(s * s, terms(s, odd, 5));
    };
    return piecewise(v, 0.25, near, [](const Tensor& u) { return log(u + 1); });
  });
}

Tensor sinh(const Tensor& x, Location at) {
  const CallScope scope("sinh", at);
  static constexpr double odd[] = {1,
                                   1.6666666666666667e-1,
                                   8.3333333333333333e-3,
                                   1.9841269841269841e-4,
                                   2.7557319223985891e-6,
                                   2.5052108385441719e-8,
                                   1.6059043836821615e-10,
                                   7.6471637318198165e-13,
                                   2.8114572543455208e-15};
  return in_wide_float(x, [](const Tensor& v) {
    const auto near = [](const Tensor& u) { return u * polynomial(u * u, terms(u, odd, 5)); };
    // Half before the product, so that it overflows no earlier than the result.
    const auto far = [](const Tensor& u) {
      const Tensor half = exp(magnitude(u) * 0.5);
      const Tensor size = half * 0.5 * half - 0.5 / half / half;
      return where(u < 0, -size, size);
    };
    return piecewise(v, 1.0, near, far);
  });
}

Tensor cosh(const Tensor& x, Location at) {
  const CallScope scope("cosh", at);
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor half = exp(magnitude(v) * 0.5);
    return half * 0.5 * half + 0.5 / half / half;
  });
}

// x + x^3 P(x^2) near 0; elsewhere 1 - 2e / (1 + e) = 1 - 2e (1 - e / (1 + e)) with e = exp(-2|x|),
// where what is subtracted is small beside 1 and so are its errors.  Over all Float32 numbers the
// worst result is off by 0.96 ulp.  P is minimax: 2^-30.3 and 2^-61.5 of the result.
Tensor tanh(const Tensor& x, Location at) {
  const CallScope scope("tanh", at);
  static constexpr double p32[] = {-0.333333254,   0.133330656,   -0.0539372071,  0.0216961743,
                                   -0.00833216686, 0.00265119708, -0.000482477833};
  static constexpr double p64[] = {
      -0.3333333333333332,    0.13333333333331571,   -0.053968253967412654,  0.021869488515742491,
      -0.0088632352341374684, 0.0035921252365985085, -0.0014558160792085738, 0.00058994175752248656,
      -0.000238835487385846,  9.6168766448774561e-5, -3.7861543390422429e-5, 1.3913365652515989e-5,
      -4.3443103132744942e-6, 9.7915190870216591e-7, -1.1421866607072794e-7};
  return in_wide_float(x, [](const Tensor& v) {
    const auto near = [](const Tensor& u) {
      const Tensor z = u * u;
      const bool wide = u.dtype() == DType::Float64;
      // The sum of a zero and its opposite would have no sign.
      return where(u == 0, u,
                   multiply_add(u * z, wide ? polynomial(z, p64) : polynomial(z, p32), u));
    };
    const auto far = [](const Tensor& u) {
      const Tensor e = exp(magnitude(u) * -2);
      return with_sign_of(u, multiply_add(e * -2, 1 - e / (1 + e), Tensor::ones_like(e)));
    };
    return piecewise(v, 0.875, near, far);
  });
}

// ---- inverse circle functions -----------------------------------------------------------------

// Arguments above 1 are inverted; then atan(y) = 2 atan(y / (1 + sqrt(1 + y^2))), twice, leaves
// |y| < 0.199 for the series.
Tensor atan(const Tensor& x, Location at) {
  const CallScope scope("atan", at);
  static constexpr double odd[] = {1.,      -1. / 3,  1. / 5,  -1. / 7,  1. / 9, -1. / 11,
                                   1. / 13, -1. / 15, 1. / 17, -1. / 19, 1. / 21};
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor size = magnitude(v);
    const Tensor is_large = size > 1;
    Tensor y = where(is_large, 1 / where(is_large, size, 1), size);
    for (int i = 0; i < 2; i++) y = y / (1 + sqrt(1 + y * y));
    const Tensor angle = 4 * (y * polynomial(y * y, terms(y, odd, 6)));
    const Tensor result = where(is_large, std::numbers::pi / 2 - angle, angle);
    return where(v < 0, -result, result);
  });
}

Tensor asin(const Tensor& x, Location at) {
  const CallScope scope("asin", at);
  return in_wide_float(x,
                       [](const Tensor& v) { return 2 * atan(v / (1 + sqrt((1 - v) * (1 + v)))); });
}

Tensor acos(const Tensor& x, Location at) {
  const CallScope scope("acos", at);
  return in_wide_float(x, [](const Tensor& v) { return 2 * atan(sqrt(1 - v) / sqrt(1 + v)); });
}

// ---- inverse hyperbolic functions -------------------------------------------------------------

// log1p(a + a^2 / (1 + sqrt(1 + a^2))); large a would overflow in the square.
Tensor asinh(const Tensor& x, Location at) {
  const CallScope scope("asinh", at);
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor a = magnitude(v);
    const auto small = [](const Tensor& u) { return log1p(u + u * u / (1 + sqrt(1 + u * u))); };
    const auto large = [](const Tensor& u) { return log(u) + std::numbers::ln2; };
    return with_sign_of(v, choose(a < 1e9, a, 0, small, 1, large));
  });
}

Tensor acosh(const Tensor& x, Location at) {
  const CallScope scope("acosh", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto small = [](const Tensor& u) {
      const Tensor t = u - 1;
      return log1p(t + sqrt(t) * sqrt(u + 1));
    };
    const auto large = [](const Tensor& u) { return log(u) + std::numbers::ln2; };
    return choose(v < 1e9, v, 2, small, 2, large);
  });
}

Tensor atanh(const Tensor& x, Location at) {
  const CallScope scope("atanh", at);
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor a = magnitude(v);
    return with_sign_of(v, 0.5 * log1p(2 * a / (1 - a)));
  });
}

// ---- of two operands --------------------------------------------------------------------------

// The angle of the smaller over the larger side, which is at most pi / 4; then mirrored where y is
// the larger one, where x is negative, and where y is.
Tensor atan2(const Operand& y, const Operand& x) {
  return in_common_float("atan2", y, x, [](const Tensor& b, const Tensor& a) {
    // By the sign bit, like the signs of the result: gradients at -0 must match.
    const Tensor up = where(signbit(b), -b, b), along = where(signbit(a), -a, a);
    const Tensor steep = up > along;
    const Tensor large = where(steep, up, along), small = where(steep, along, up);
    const Tensor flat = (large == 0) | (small == infinity);
    const Tensor slope = where(flat, where(large == 0, 0, 1), small / where(flat, 1, large));
    Tensor angle = atan(where(isnan(a) | isnan(b), not_a_number, slope));
    angle = where(steep, std::numbers::pi / 2 - angle, angle);
    angle = where(signbit(a), std::numbers::pi - angle, angle);
    return where(signbit(b), -angle, angle);
  });
}

Tensor hypot(const Operand& a, const Operand& b) {
  return in_common_float("hypot", a, b, [](const Tensor& x, const Tensor& y) {
    const Tensor u = abs(x), v = abs(y);
    const Tensor swap = v > u;
    const Tensor large = where(swap, v, u), small = where(swap, u, v);
    const Tensor trivial = ((large == 0) & (small == 0)) | (small == infinity);
    const Tensor ratio = where(trivial, 0, small / where(trivial, 1, large));
    // Infinite even beside NaN.
    return where(isinf(x) | isinf(y), infinity, large * sqrt(1 + ratio * ratio));
  });
}

namespace {

// m + log(1 + exp(-|x - y|)) with m the greater one; `scale` changes the base to exp(scale).
Tensor log_of_sum(const Tensor& x, const Tensor& y, double scale) {
  const Tensor same_infinity = (x == y) & isinf(x);
  const Tensor gap = where(same_infinity, 0, x - y);
  const Tensor rest = log1p(exp(magnitude(gap) * -scale)) * (1 / scale);
  return where(same_infinity, x, where(gap < 0, y, x) + rest);
}

}  // namespace

Tensor logaddexp(const Operand& a, const Operand& b) {
  return in_common_float("logaddexp", a, b,
                         [](const Tensor& x, const Tensor& y) { return log_of_sum(x, y, 1); });
}

Tensor logaddexp2(const Operand& a, const Operand& b) {
  return in_common_float("logaddexp2", a, b, [](const Tensor& x, const Tensor& y) {
    return log_of_sum(x, y, std::numbers::ln2);
  });
}

}  // namespace croze
