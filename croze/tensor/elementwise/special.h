// special.h -- the special functions: torch.special and their kin.
//
// Elementwise; integers are taken as Float32, half types compute in Float32.  All are accurate to a
// few units in the last place (lgamma and digamma: near their zeros, of 1), and differentiable.
#pragma once

#include "croze/tensor/tensor.h"

namespace croze {

// The error function, 1 - erf without cancellation, and the inverse of erf (NaN outside [-1, 1]).
Tensor erf(const Tensor& x, Location at = Location::current());
Tensor erfc(const Tensor& x, Location at = Location::current());
Tensor erfinv(const Tensor& x, Location at = Location::current());
// exp(x^2) erfc(x), which neither overflows nor vanishes for x >= 0.
Tensor erfcx(const Tensor& x, Location at = Location::current());
// The normal distribution: its distribution function, that one's logarithm, its inverse.
Tensor ndtr(const Tensor& x, Location at = Location::current());
Tensor log_ndtr(const Tensor& x, Location at = Location::current());
Tensor ndtri(const Tensor& x, Location at = Location::current());

// log |Gamma(x)|; infinite at 0, -1, -2, ...
Tensor lgamma(const Tensor& x, Location at = Location::current());
// The derivative of lgamma: -inf at 0 (inf at -0), NaN at -1, -2, ...
Tensor digamma(const Tensor& x, Location at = Location::current());
// The n-th derivative of digamma, n >= 0.  Throws Error for negative n.
Tensor polygamma(std::int64_t n, const Tensor& x, Location at = Location::current());
// sum of (k + q)^-s over k >= 0, for s > 1 and q > 0.
Tensor zeta(double s, const Tensor& q, Location at = Location::current());
// log of the multivariate gamma function of dimension p >= 1.
Tensor mvlgamma(const Tensor& x, std::int64_t p, Location at = Location::current());

// Modified Bessel functions of the first kind, order 0 and 1; and times exp(-|x|).
Tensor i0(const Tensor& x, Location at = Location::current());
Tensor i0e(const Tensor& x, Location at = Location::current());
Tensor i1(const Tensor& x, Location at = Location::current());
Tensor i1e(const Tensor& x, Location at = Location::current());

// log(x / (1 - x)); with epsilon, x is first limited to [epsilon, 1 - epsilon].
Tensor logit(const Tensor& x, std::optional<double> epsilon = {},
             Location at = Location::current());
// -x log(x): 0 at 0, -inf below.
Tensor entr(const Tensor& x, Location at = Location::current());
// x * log(y) and x * log(1 + y): 0 where x is 0, unless y is NaN.
Tensor xlogy(const Operand& x, const Operand& y);
Tensor xlog1py(const Operand& x, const Operand& y);
// sin(pi x) / (pi x): 1 at 0.
Tensor sinc(const Tensor& x, Location at = Location::current());

}  // namespace croze
