// special.cpp -- the special functions, composed of those of maths.cpp.
#include "croze/tensor/elementwise/special.h"

#include <cmath>
#include <numbers>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/record.h"

namespace croze {

// ---- series -----------------------------------------------------------------------------------

Tensor multiply_add(const Tensor& a, const Tensor& b, const Tensor& c) {
  return elementwise(Call("multiply_add", {&a, &b, &c}, Location::current()), Op::MulAdd, a, b, c);
}

Tensor polynomial(const Tensor& x, std::span<const double> c) {
  Tensor result = Tensor::full_like(x, c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;) {
    result = multiply_add(result, x, Tensor::full_like(x, c[i]));
  }
  return result;
}

// Clenshaw's recurrence.
Tensor chebyshev(const Tensor& x, std::span<const double> c) {
  const Tensor twice = x * 2;
  Tensor b1 = Tensor::full_like(x, c.back()), b2 = Tensor::zeros_like(x);
  for (std::size_t i = c.size() - 1; i-- > 1;) {
    const Tensor b0 = twice * b1 - b2 + c[i];
    b2 = b1;
    b1 = b0;
  }
  return x * b1 - b2 + c[0];
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

// exp(z^2) erfc(z).
Tensor scaled_complementary_error(const Tensor& z) {
  const Tensor t = 2 / (1 + z * 0.5) - 1;
  const bool wide = z.dtype() == DType::Float64;
  return wide ? polynomial(t, erfc_float64) : polynomial(t, erfc_float32);
}

// where and not minimum: NaN stays, and beyond the limit no gradient flows.
Tensor at_most(const Tensor& x, double limit) { return where(x > limit, limit, x); }

}  // namespace

Tensor complementary_error(const Tensor& z) {
  return exp(-(z * z)) * scaled_complementary_error(z);
}

// In Float32 exp(-x^2 / 2) p(|x|) / q(|x|).  The quotient is minimax against what rounding x^2
// costs, 1 + x^2 / 4: off by 2^-25.3 times that up to 5.6, and by 2^-23.6 times that up to 14.5,
// where the tail is 0.  All coefficients are positive, so nothing cancels.
NormalTail normal_tail(const Tensor& x) {
  if (x.dtype() == DType::Float64) {
    const Tensor size = at_most(magnitude(x), 39);
    return {size, 0.5 * complementary_error(size * (1 / std::numbers::sqrt2))};
  }
  static constexpr double p[] = {0.5, 0.321970648, 0.098330074, 0.0123477335, 5.36731935e-07};
  static constexpr double q[] = {1, 1.44182426, 0.847086435, 0.245551626, 0.0310055143};
  const Tensor size = at_most(magnitude(x), 14.5);
  const Tensor ratio = polynomial(size, p) / polynomial(size, q);
  return {size, exp2(size * size * (-0.5 * std::numbers::log2e)) * ratio};
}

namespace {

// x + x P(x^2) for |x| < 1; P is minimax: 2^-29.6 and 2^-62.7 of the result.
Tensor erf_near_zero(const Tensor& u) {
  static constexpr double p32[] = {0.128379166,   -0.376126258,   0.112835852,  -0.0268538146,
                                   0.00518833048, -0.00080102027, 7.85384983e-5};
  static constexpr double p64[] = {
      0.12837916709551257,    -0.37612638903183748,   0.11283791670954858,
      -0.026866170645072959,  0.0052239776247813698,  -0.00085483269787651488,
      0.00012055331037551108, -1.4925593518728227e-5, 1.6460972954153766e-6,
      -1.6350026192077269e-7, 1.4657883530919654e-8,  -1.1365670671827159e-9,
      5.9452555842234874e-11};
  const Tensor z = u * u;
  const bool wide = u.dtype() == DType::Float64;
  return multiply_add(u, wide ? polynomial(z, p64) : polynomial(z, p32), u);
}

// 1 - 2^P(z), z >= 1.  P is minimax up to 6 against the errors that it makes in the result and, to
// a lesser degree, in its gradient: 2^-28.5 of the result.  From 4 on the result is 1.
Tensor erf_far_from_zero(const Tensor& z) {
  static constexpr double p[] = {0.000377428922, -1.63021815,     -0.912198186,
                                 -0.1581375,     0.0377040394,    -0.00670945877,
                                 0.000824850635, -6.18432823e-05, 2.11324095e-06};
  return 1 - exp2(polynomial(at_most(z, 6), p));
}

// Both are finite for all z, if not right, so that neither needs to be kept from the other's.
Tensor erf_float32(const Tensor& x) {
  const Tensor z = magnitude(x);
  const Tensor near = erf_near_zero(at_most(z, 1)), far = erf_far_from_zero(z);
  return with_sign_of(x, where(z < 1, near, far));
}

Tensor erf_float64(const Tensor& x) {
  const auto far = [](const Tensor& u) {
    return with_sign_of(u, 1 - complementary_error(magnitude(u)));
  };
  return piecewise(x, 1, erf_near_zero, far);
}

}  // namespace

// Over all Float32 numbers the worst result is off by 1.12 ulp, where |x| is a little above 1.
Tensor erf(const Tensor& x, Location at) {
  const CallScope scope("erf", at);
  return in_wide_float(x, [](const Tensor& v) {
    return v.dtype() == DType::Float64 ? erf_float64(v) : erf_float32(v);
  });
}

Tensor erfc(const Tensor& x, Location at) {
  const CallScope scope("erfc", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto far = [](const Tensor& u) {
      const Tensor tail = complementary_error(magnitude(u));
      return where(u < 0, 2 - tail, tail);
    };
    return piecewise(
        v, 0.25, [](const Tensor& u) { return 1 - erf_near_zero(u); }, far);
  });
}

Tensor erfcx(const Tensor& x, Location at) {
  const CallScope scope("erfcx", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto left = [](const Tensor& u) {
      return 2 * exp(u * u) - scaled_complementary_error(-u);
    };
    return choose(v < 0, v, -1, left, 1, scaled_complementary_error);
  });
}

namespace {

// Giles, "Approximating the erfinv function" (2012): x times a polynomial in -log(1 - x^2), single
// precision.
Tensor erfinv_guess(const Tensor& x) {
  static constexpr double centre[] = {1.50140941,     0.246640727,    -0.00417768164,
                                      -0.00125372503, 0.000218580870, -4.39150654e-6,
                                      -3.5233877e-6,  3.43273939e-7,  2.81022636e-8};
  static constexpr double tail[] = {2.83297682,    1.00167406,     0.00943887047,
                                    -0.0076224613, 0.00573950773,  -0.00367342844,
                                    0.00134934322, 0.000100950558, -0.000200214257};
  const Tensor w = -log((1 - x) * (1 + x));
  const Tensor is_centre = w < 5;
  const Tensor near = polynomial(where(is_centre, w, 2.5) - 2.5, centre);
  const Tensor far = polynomial(sqrt(where(is_centre, 9, w)) - 3, tail);
  return x * where(is_centre, near, far);
}

// One Newton step towards erf(y) = x, by the smaller of x and its complement so that no digits
// cancel.
Tensor erfinv_step(const Tensor& y, const Tensor& x) {
  const Tensor a = magnitude(x), b = magnitude(y);
  const Tensor is_small = a < 0.5;
  const Tensor error = where(is_small, erf(b) - a, (1 - a) - complementary_error(b));
  const double scale = std::sqrt(std::numbers::pi) / 2;
  return with_sign_of(x, b - error * exp(b * b) * scale);
}

}  // namespace

Tensor erfinv(const Tensor& x, Location at) {
  const CallScope scope("erfinv", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto inside = [](const Tensor& u) {
      Tensor y = erfinv_guess(u);
      const int steps = u.dtype() == DType::Float64 ? 2 : 1;
      for (int i = 0; i < steps; i++) y = erfinv_step(y, u);
      return y;
    };
    const auto outside = [](const Tensor& u) {
      return where(u == 1, infinity, where(u == -1, -infinity, not_a_number));
    };
    return piecewise(v, 1, inside, outside);
  });
}

Tensor ndtr(const Tensor& x, Location at) {
  const CallScope scope("ndtr", at);
  return in_wide_float(x,
                       [](const Tensor& v) { return 0.5 * erfc(v * -(1 / std::numbers::sqrt2)); });
}

// Far below zero the asymptotic series of the tail, where ndtr itself vanishes.
Tensor log_ndtr(const Tensor& x, Location at) {
  const CallScope scope("log_ndtr", at);
  return in_wide_float(x, [](const Tensor& v) {
    const double cut = v.dtype() == DType::Float64 ? -30 : -12;
    const auto far = [](const Tensor& u) {
      static constexpr double series[] = {1, -1, 3, -15, 105, -945};
      const Tensor q = 1 / (u * u);
      return -0.5 * u * u - log(-u) - 0.5 * std::log(2 * std::numbers::pi) +
             log(polynomial(q, series));
    };
    const auto near = [](const Tensor& u) {
      const Tensor tail = 0.5 * complementary_error(magnitude(u) * (1 / std::numbers::sqrt2));
      return where(u < 0, log(where(u < 0, tail, 1)), log1p(-where(u < 0, 0, tail)));
    };
    return choose(v < cut, v, -50, far, 0, near);
  });
}

Tensor ndtri(const Tensor& x, Location at) {
  const CallScope scope("ndtri", at);
  return in_wide_float(x, [](const Tensor& v) {
    // In the lower tail 2x - 1 loses the digits of x; symmetric steps on x itself restore them.
    const Tensor is_low = v < 0.5;
    const Tensor p = where(is_low, v, 1 - v);
    const Tensor inside = (p > 0) & (p < 1);
    const Tensor safe = where(inside, p, 0.25);
    Tensor z = erfinv(1 - 2 * safe) * std::numbers::sqrt2;
    z = where(z < 8, z, sqrt(-2 * log(safe)));
    // Newton on the logarithm, which is nearly a parabola.
    for (int i = 0; i < 3; i++) {
      const Tensor tail = 0.5 * complementary_error(z * (1 / std::numbers::sqrt2));
      const Tensor inverse_hazard = tail * exp(0.5 * z * z) * std::sqrt(2 * std::numbers::pi);
      z = z + (log(tail) - log(safe)) * inverse_hazard;
    }
    const Tensor edge = where(p == 0, infinity, not_a_number);
    const Tensor size = where(inside, z, edge);
    return where(is_low, -size, size);
  });
}

// ---- gamma function ---------------------------------------------------------------------------

namespace {

// x moved up by the recurrence to where the asymptotic series holds.
constexpr int gamma_shift = 8;

// log Gamma(x) for x >= 0.5: Stirling's series at x + 8, less log(x (x + 1) ... (x + 7)).
Tensor lgamma_right(const Tensor& x) {
  static constexpr double series[] = {1. / 12,   -1. / 360,      1. / 1260, -1. / 1680,
                                      1. / 1188, -691. / 360360, 1. / 156};
  const Tensor is_small = x < gamma_shift;
  const Tensor u = where(is_small, x, 1);
  Tensor product = u;
  for (int i = 1; i < gamma_shift; i++) product = product * (u + i);
  const Tensor z = where(is_small, x + gamma_shift, x);
  const Tensor q = 1 / z;
  const Tensor stirling = (z - 0.5) * (log(z) - 1) + (0.5 * std::log(2 * std::numbers::pi) - 0.5) +
                          q * polynomial(q * q, series);
  return stirling - where(is_small, log(product), 0);
}

// digamma likewise.
Tensor digamma_right(const Tensor& x) {
  static constexpr double series[] = {1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                                      1. / 132, -691. / 32760, 1. / 12};
  const Tensor is_small = x < gamma_shift;
  const Tensor u = where(is_small, x, 1);
  Tensor sum = 1 / u;
  for (int i = 1; i < gamma_shift; i++) sum = sum + 1 / (u + i);
  const Tensor z = where(is_small, x + gamma_shift, x);
  const Tensor q = 1 / (z * z);
  return log(z) - 0.5 / z - q * polynomial(q, series) - where(is_small, sum, 0);
}

// x less the nearest integer: what sin(pi x) and tan(pi x) are taken of without losing digits.
Tensor off_integer(const Tensor& x) { return x - round(x).detach(); }

}  // namespace

// Left of 0.5 by reflection: Gamma(x) Gamma(1 - x) = pi / sin(pi x).
Tensor lgamma(const Tensor& x, Location at) {
  const CallScope scope("lgamma", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto left = [](const Tensor& u) {
      const Tensor sine = abs(sin(off_integer(u) * std::numbers::pi));
      const Tensor value = std::log(std::numbers::pi) - log(sine) - lgamma_right(1 - u);
      return where(sine == 0, infinity, value);
    };
    const Tensor is_infinite = isinf(v);
    const Tensor finite = where(is_infinite, 1, v);
    const Tensor value = choose(finite < 0.5, finite, 0.25, left, 1, lgamma_right);
    return where(is_infinite, infinity, value);
  });
}

Tensor digamma(const Tensor& x, Location at) {
  const CallScope scope("digamma", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto left = [](const Tensor& u) {
      const Tensor r = off_integer(u) * std::numbers::pi;
      const Tensor value = digamma_right(1 - u) - std::numbers::pi * cos(r) / sin(r);
      return where(r == 0, not_a_number, value);
    };
    const Tensor special = (v == 0) | isinf(v);
    const Tensor finite = where(special, 1, v);
    const Tensor value = choose(finite < 0.5, finite, 0.25, left, 1, digamma_right);
    const Tensor edge =
        where(v == 0, where(signbit(v), infinity, -infinity), where(v > 0, infinity, not_a_number));
    return where(special, edge, value);
  });
}

// Euler and Maclaurin: ten terms, the integral of the rest, and its corrections by the Bernoulli
// numbers over (2j)!.
Tensor zeta(double s, const Tensor& q, Location at) {
  const CallScope scope("zeta", at);
  static constexpr double bernoulli[] = {1. / 12,          -1. / 720,     1. / 30240,
                                         -1. / 1209600,    1. / 47900160, -691. / 1307674368000.,
                                         1. / 74724249600.};
  constexpr int count = 10;
  return in_wide_float(q, [&](const Tensor& v) {
    Tensor sum = pow(v, -s);
    for (int k = 1; k < count; k++) sum = sum + pow(v + k, -s);
    const Tensor z = v + count;
    const Tensor last = pow(z, -s);
    sum = sum + last * (z / (s - 1) + 0.5);
    Tensor power = last / z;
    double factor = s;
    for (int j = 0; j < 7; j++) {
      sum = sum + power * (bernoulli[j] * factor);
      power = power / (z * z);
      factor *= (s + 2 * j + 1) * (s + 2 * j + 2);
    }
    return where(v == 0, infinity, where(v < 0, not_a_number, sum));
  });
}

namespace {

// The n-th derivative of cot(pi x) as a polynomial in c = cot(pi x), of which the first one is
// -pi (1 + c^2).
std::vector<double> derivative_of_cotangent(std::int64_t n) {
  std::vector<double> p{0, 1};
  for (std::int64_t k = 0; k < n; k++) {
    std::vector<double> next(p.size() + 1);
    for (std::size_t i = 1; i < p.size(); i++) {
      const double slope = -std::numbers::pi * static_cast<double>(i) * p[i];
      next[i - 1] += slope;
      next[i + 1] += slope;
    }
    p = std::move(next);
  }
  return p;
}

}  // namespace

// Left of 0.5 by reflection, as digamma.
Tensor polygamma(std::int64_t n, const Tensor& x, Location at) {
  const Call call("polygamma", {&x}, at);
  call.require(n >= 0 && n < 100, "there is no derivative number {}", n);
  if (n == 0) return digamma(x);
  const double order = static_cast<double>(n), sign = n % 2 == 1 ? 1 : -1;
  const double factor = sign * std::tgamma(order + 1);
  const auto right = [&](const Tensor& u) { return zeta(order + 1, u) * factor; };
  const auto left = [&](const Tensor& u) {
    const Tensor r = off_integer(u) * std::numbers::pi, sine = sin(r);
    const Tensor slope = polynomial(cos(r) / sine, derivative_of_cotangent(n));
    return where(sine == 0, sign * infinity, -sign * right(1 - u) - std::numbers::pi * slope);
  };
  return in_wide_float(x,
                       [&](const Tensor& v) { return choose(v < 0.5, v, 0.25, left, 1, right); });
}

Tensor mvlgamma(const Tensor& x, std::int64_t p, Location at) {
  const Call call("mvlgamma", {&x}, at);
  call.require(p >= 1 && p < 1000, "dimension {}", p);
  const double d = static_cast<double>(p);
  return in_wide_float(x, [&](const Tensor& v) {
    Tensor sum = lgamma(v);
    for (std::int64_t i = 1; i < p; i++) sum = sum + lgamma(v - static_cast<double>(i) / 2);
    return sum + d * (d - 1) / 4 * std::log(std::numbers::pi);
  });
}

// ---- logarithms -------------------------------------------------------------------------------

Tensor logit(const Tensor& x, std::optional<double> epsilon, Location at) {
  const CallScope scope("logit", at);
  return in_wide_float(x, [&](const Tensor& v) {
    const Tensor p = epsilon ? clamp(v, *epsilon, 1 - *epsilon) : v;
    return log(p / (1 - p));
  });
}

Tensor entr(const Tensor& x, Location at) {
  const CallScope scope("entr", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto inside = [](const Tensor& u) { return -u * log(u); };
    const auto outside = [](const Tensor& u) { return where(u < 0, -infinity, u); };
    return choose(v > 0, v, 1, inside, 0, outside);
  });
}

namespace {

// x * f(y), 0 where x is 0.
template <typename F>
Tensor times_log(const Tensor& x, const Tensor& y, F f) {
  const Tensor vanishes = (x == 0) & !isnan(y) & !isfinite(f(y.detach()));
  return where(vanishes, 0, x * f(where(vanishes, 1, y)));
}

}  // namespace

Tensor xlogy(const Operand& x, const Operand& y) {
  return in_common_float("xlogy", x, y, [](const Tensor& a, const Tensor& b) {
    return times_log(a, b, [](const Tensor& u) { return log(u); });
  });
}

Tensor xlog1py(const Operand& x, const Operand& y) {
  return in_common_float("xlog1py", x, y, [](const Tensor& a, const Tensor& b) {
    return times_log(a, b, [](const Tensor& u) { return log1p(u); });
  });
}

Tensor sinc(const Tensor& x, Location at) {
  const CallScope scope("sinc", at);
  return in_wide_float(x, [](const Tensor& v) {
    const auto centre = [](const Tensor& u) {
      static constexpr double even[] = {1, -1. / 6, 1. / 120, -1. / 5040};
      const Tensor t = u * std::numbers::pi;
      return polynomial(t * t, even);
    };
    const auto outside = [](const Tensor& u) {
      const Tensor t = u * std::numbers::pi;
      return sin(t) / t;
    };
    return piecewise(v, 1e-3, centre, outside);
  });
}

}  // namespace croze
