// maths.cpp -- the functions of calculus, and the activations made of them.
//
// Machines have exp, log, sin, cos and square root (or the compiler makes them); the rest is
// composed here.  Three concerns shape the compositions:
//
// * Accuracy.  1 - 2 / (exp(2x) + 1) is tanh, but for small x nearly all digits cancel.  So
//   functions that vanish at 0 take a power series near 0.  The series have more terms for Float64.
// * Gradients are taken through the composition, where inf * 0 gives NaN.  So no exp of a positive
//   argument appears where the function itself is bounded.
// * A choice hides the value of the branch not taken, but not its NaN gradient.  So each branch
//   gets an argument at which it is finite (piecewise).
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/elementwise.h"
#include "tensor/record.h"

namespace croze {
namespace {

// sum of c[i] * x^i.
Tensor polynomial(const Tensor& x, std::span<const double> c) {
  Tensor result = Tensor::full_like(x, c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;) result = result * x + c[i];
  return result;
}

// The coefficient list as long as the dtype needs it.
std::span<const double> terms(const Tensor& x, std::span<const double> c, std::size_t for_float32) {
  return x.dtype() == DType::Float64 ? c : c.first(for_float32);
}

// near(x) where |x| < limit, far(x) elsewhere; neither ever sees the arguments of the other.
template <typename Near, typename Far>
Tensor piecewise(const Tensor& x, double limit, Near near, Far far) {
  const Tensor is_near = (x < limit) & (x > -limit);
  return where(is_near, near(where(is_near, x, 0)), far(where(is_near, 1, x)));
}

// |x| with gradient 1 at 0, for functions that are smooth in x by symmetry.
Tensor magnitude(const Tensor& x) { return where(x < 0, -x, x); }

Tensor unary(Op op, const Tensor& x) { return elementwise(op, as_float(x)); }

}  // namespace

// ---- what machines have -----------------------------------------------------------------------

Tensor reciprocal(const Tensor& x) { return unary(Op::Reciprocal, x); }
Tensor sqrt(const Tensor& x) { return unary(Op::Sqrt, x); }
Tensor rsqrt(const Tensor& x) { return reciprocal(sqrt(x)); }
Tensor exp(const Tensor& x) { return unary(Op::Exp, x); }
Tensor exp2(const Tensor& x) { return unary(Op::Exp2, x); }
Tensor log(const Tensor& x) { return unary(Op::Log, x); }
Tensor log2(const Tensor& x) { return unary(Op::Log2, x); }
Tensor sin(const Tensor& x) { return unary(Op::Sin, x); }
Tensor cos(const Tensor& x) { return unary(Op::Cos, x); }

Tensor log10(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) { return log(v) * (1 / std::numbers::ln10); });
}

Tensor tan(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) { return sin(v) / cos(v); });
}

// ---- exponentials -----------------------------------------------------------------------------

// x (1 + x/2 (1 + x/3 (...))) near 0.
Tensor expm1(const Tensor& x) {
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
Tensor log1p(const Tensor& x) {
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

Tensor sinh(const Tensor& x) {
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

Tensor cosh(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor half = exp(magnitude(v) * 0.5);
    return half * 0.5 * half + 0.5 / half / half;
  });
}

// (1 - e) / (1 + e) with e = exp(-2|x|).
Tensor tanh(const Tensor& x) {
  static constexpr double odd[] = {1,
                                   -0.33333333333333333,
                                   0.13333333333333333,
                                   -0.053968253968253968,
                                   0.021869488536155203,
                                   -0.0088632355299021966,
                                   0.0035921280365724810,
                                   -0.0014558343870513183,
                                   0.00059002744094558598,
                                   -0.00023912911424355248};
  return in_wide_float(x, [](const Tensor& v) {
    const auto near = [](const Tensor& u) { return u * polynomial(u * u, terms(u, odd, 5)); };
    const auto far = [](const Tensor& u) {
      const Tensor e = exp(magnitude(u) * -2);
      const Tensor size = (1 - e) / (1 + e);
      return where(u < 0, -size, size);
    };
    return piecewise(v, 0.25, near, far);
  });
}

// ---- inverse circle functions -----------------------------------------------------------------

// Arguments above 1 are inverted; then atan(y) = 2 atan(y / (1 + sqrt(1 + y^2))), twice, leaves
// |y| < 0.199 for the series.
Tensor atan(const Tensor& x) {
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

Tensor asin(const Tensor& x) {
  return in_wide_float(x,
                       [](const Tensor& v) { return 2 * atan(v / (1 + sqrt((1 - v) * (1 + v)))); });
}

Tensor acos(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) { return 2 * atan(sqrt(1 - v) / sqrt(1 + v)); });
}

// ---- error function ---------------------------------------------------------------------------

namespace {

// erfc(z) = exp(-z^2) p(2t - 1) with t = 1 / (1 + z/2), z >= 0.  The coefficients are the Chebyshev
// expansion of exp(z^2) erfc(z) in t, cut where its tail is below 4e-9 and 1e-17.
constexpr double erfc_float32[] = {
    0.25539567878204378,   0.42718585636850527,    0.24165800991288841,     0.078978330374153414,
    0.003735151249370158,  -0.0069954608867136931, -0.00085751033837987271, 0.00097516373173473632,
    6.6058699281421294e-5, -0.0001632422016426402, 2.6137356865869521e-6,   1.9353292101815916e-5};
constexpr double erfc_float64[] = {
    0.25539567631050575,    0.42718584741395856,     0.24165819424246528,    0.07897858101571355,
    0.0037328924044125548,  -0.0069974617385902458,  -0.0008471432536689809, 0.00098197701841802554,
    4.3555658192899732e-5,  -0.00017436112210496298, 2.7524688900842001e-5,  2.7579797175251862e-5,
    -1.3960611700674974e-5, -1.391241729467455e-6,   3.7466307386723945e-6,  -1.1991900245318566e-6,
    -4.0526076461111922e-7, 5.1260048595561224e-7,   -1.5211877157943864e-7, -7.7906121144927718e-8,
    9.0772627109514874e-8,  -1.4239566954702599e-8,  -2.1673654878820022e-8, 8.926843660088685e-9,
    2.2107176228515428e-9,  -1.3344576965339914e-9};

// 2/sqrt(pi) * (-1)^n / (n! (2n + 1)).
std::array<double, 13> erf_series() {
  std::array<double, 13> c{};
  double factor = 2 / std::sqrt(std::numbers::pi);
  for (int n = 0; n < 13; n++) {
    c[static_cast<std::size_t>(n)] = factor / (2 * n + 1);
    factor /= -(n + 1);
  }
  return c;
}

// erfc(z) for z >= 0.
Tensor complementary_error(const Tensor& z) {
  const Tensor t = 2 / (1 + z * 0.5) - 1;
  const bool wide = z.dtype() == DType::Float64;
  return exp(-(z * z)) * (wide ? polynomial(t, erfc_float64) : polynomial(t, erfc_float32));
}

}  // namespace

Tensor erf(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) {
    const auto near = [](const Tensor& u) {
      const std::array<double, 13> odd = erf_series();
      return u * polynomial(u * u, terms(u, odd, 7));
    };
    const auto far = [](const Tensor& u) {
      const Tensor size = 1 - complementary_error(magnitude(u));
      return where(u < 0, -size, size);
    };
    return piecewise(v, 0.5, near, far);
  });
}

// ---- activations ------------------------------------------------------------------------------

Tensor sigmoid(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) {
    const Tensor e = exp(-magnitude(v));
    return where(v < 0, e, 1) / (1 + e);
  });
}

Tensor relu(const Tensor& x) { return where(x <= 0, 0, x); }
Tensor relu6(const Tensor& x) { return hardtanh(x, 0, 6); }
Tensor leaky_relu(const Tensor& x, double slope) {
  const Tensor v = as_float(x);
  return where(v > 0, v, v * slope);
}

Tensor elu(const Tensor& x, double alpha) {
  return in_wide_float(
      x, [&](const Tensor& v) { return where(v > 0, v, alpha * expm1(where(v > 0, 0, v))); });
}

Tensor silu(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) { return v * sigmoid(v); });
}

Tensor gelu(const Tensor& x, Gelu form) {
  return in_wide_float(x, [&](const Tensor& v) {
    if (form == Gelu::Erf) {
      // The tail of the normal distribution, which erf would lose to cancellation.
      const Tensor tail = 0.5 * complementary_error(magnitude(v) * (1 / std::numbers::sqrt2));
      return v * where(v < 0, tail, 1 - tail);
    }
    // (1 + tanh(u)) / 2 is sigmoid(2u).
    const double scale = 2 * std::sqrt(2 / std::numbers::pi);
    return v * sigmoid(scale * (v + 0.044715 * (v * v * v)));
  });
}

Tensor softplus(const Tensor& x, double beta) {
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor u = v * beta;
    // where and not relu: at 0 the halves of the gradient must belong to one side.
    return (where(u < 0, 0, u) + log1p(exp(-magnitude(u)))) * (1 / beta);
  });
}

Tensor hardtanh(const Tensor& x, double low, double high) { return clamp(x, low, high); }
Tensor hardswish(const Tensor& x) {
  const Tensor v = as_float(x);
  return v * relu6(v + 3) * (1.0 / 6);
}

Tensor mish(const Tensor& x) {
  return in_wide_float(x, [](const Tensor& v) { return v * tanh(softplus(v)); });
}

}  // namespace croze
