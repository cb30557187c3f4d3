// numeric.h -- internal to tensor/: series and pieces of which mathematical functions are composed.
//
// Three concerns shape the compositions:
//
// * Accuracy.  1 - 2 / (exp(2x) + 1) is tanh, but for small x nearly all digits cancel.  So
//   functions that vanish at 0 take a power series near 0.  The series have more terms for Float64.
// * Gradients are taken through the composition, where inf * 0 gives NaN.  So no exp of a positive
//   argument appears where the function itself is bounded.
// * A choice hides the value of the branch not taken, but not its NaN gradient.  So each branch
//   gets an argument at which it is finite (piecewise).
#pragma once

#include <limits>
#include <span>

#include "croze/tensor/elementwise/elementwise.h"

namespace croze {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// a * b + c of one dtype and shape, rounded once where the device can.
Tensor multiply_add(const Tensor& a, const Tensor& b, const Tensor& c);

// sum of c[i] * x^i.
Tensor polynomial(const Tensor& x, std::span<const double> c);
// sum of c[i] * T_i(x), the Chebyshev polynomials, for |x| <= 1.
Tensor chebyshev(const Tensor& x, std::span<const double> c);

// The coefficient list as long as the dtype needs it.
inline std::span<const double> terms(const Tensor& x, std::span<const double> c,
                                     std::size_t for_float32) {
  return x.dtype() == DType::Float64 ? c : c.first(for_float32);
}

// f(x) where the condition holds, g(x) elsewhere; neither sees the arguments of the other, but a
// harmless one instead.
template <typename F, typename G>
Tensor choose(const Tensor& condition, const Tensor& x, double harmless_f, F f, double harmless_g,
              G g) {
  return where(condition, f(where(condition, x, harmless_f)), g(where(condition, harmless_g, x)));
}

// near(x) where |x| < limit, far(x) elsewhere; neither ever sees the arguments of the other.
template <typename Near, typename Far>
Tensor piecewise(const Tensor& x, double limit, Near near, Far far) {
  return choose((x < limit) & (x > -limit), x, 0, near, 1, far);
}

// |x| with gradient 1 at 0, for functions that are smooth in x by symmetry.
inline Tensor magnitude(const Tensor& x) { return where(x < 0, -x, x); }
// `size` with the sign of x where that is not zero, as where(x < 0, -size, size).
inline Tensor with_sign_of(const Tensor& x, const Tensor& size) {
  return where(x < 0, -size, size);
}

// erfc(z) for z >= 0.
Tensor complementary_error(const Tensor& z);
// The probability that a number of the normal distribution is greater than |x|, and |x| as far as
// that is not 0, so that their product is finite.
struct NormalTail {
  Tensor size, chance;
};
NormalTail normal_tail(const Tensor& x);

// The greatest finite number of a dtype.
double greatest_of(DType t);

}  // namespace croze
