// elementwise.h -- functions that work on each element alone.
//
// Operands are tensors or numbers.  Shapes are broadcast as in PyTorch: aligned at the last axis,
// size 1 (or a missing axis) repeats.  Dtypes are promoted by the lattice of dtype.h; a number
// takes part with its kind only (int8 + 1 is int8, float16 * 2.0 is float16, int32 + 2.5 is
// Float32), and so does a tensor without axes beside one with axes.
//
// All binary functions throw Error if shapes do not broadcast, dtypes are not allowed, or devices
// differ.
#pragma once

#include "tensor/tensor.h"

namespace croze {

// ---- arithmetic
// -----------------------------------------------------------------------------------

// On Bool: + is or, * is and, - is an Error.  Integers wrap.
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
// True division: of two integers it gives Float32.
Tensor operator/(const Operand& a, const Operand& b);
// The sign of the divisor, as in Python.  Integers: x % 0 is x.
Tensor operator%(const Operand& a, const Operand& b);
Tensor operator-(const Tensor& x);

// Rounded down.  Integers: x / 0 is 0.
Tensor floor_divide(const Operand& a, const Operand& b);
Tensor remainder(const Operand& a, const Operand& b);
// a to the power b.  An integer tensor takes an integer number >= 0; else the result is a float.
Tensor pow(const Operand& a, const Operand& b);
// NaN if either is NaN.  Where equal, the gradient is shared.
Tensor maximum(const Operand& a, const Operand& b);
Tensor minimum(const Operand& a, const Operand& b);
// start + weight * (end - start).
Tensor lerp(const Operand& start, const Operand& end, const Operand& weight);

// ---- bits and logic
// -------------------------------------------------------------------------------

// Integers and Bool.
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator~(const Tensor& x);
// Integers.  Shifts by the width or more give 0 (>> of a negative: -1).
Tensor operator<<(const Operand& a, const Operand& b);
Tensor operator>>(const Operand& a, const Operand& b);

// Bool results; any operand counts as true where it is not zero.
Tensor logical_and(const Operand& a, const Operand& b);
Tensor logical_or(const Operand& a, const Operand& b);
Tensor logical_xor(const Operand& a, const Operand& b);
Tensor logical_not(const Tensor& x);
Tensor operator!(const Tensor& x);

// ---- comparison and choice
// ------------------------------------------------------------------------

// Bool results.  Any comparison with NaN is false, but != is true.
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);

// a where the condition (any dtype) is not zero, else b.
Tensor where(const Operand& condition, const Operand& a, const Operand& b);
// x with `value` where the mask is not zero; dtype of x.
Tensor masked_fill(const Tensor& x, const Operand& mask, const Operand& value);
// x limited to [low, high]; a missing bound does not limit.  NaN stays.  Dtype of x.
Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high = {});

// ---- signs and rounding: dtype of x
// ---------------------------------------------------------------

Tensor abs(const Tensor& x);
// -1, 0 or 1; 0 for NaN.
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
// Halves to even.
Tensor round(const Tensor& x);
Tensor trunc(const Tensor& x);
// Bool results.
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);

// ---- maths: float results (integers are taken as Float32)
// -----------------------------------------

// Functions without an instruction of their own are composed here so that they are accurate to a
// few units in the last place of Float32 and Float64 over their whole range, have finite gradients
// wherever the derivative is finite, and compute half types in Float32.
Tensor reciprocal(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor exp2(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);

// ---- activations: float results
// -------------------------------------------------------------------

// 1 / (1 + exp(-x)).
Tensor sigmoid(const Tensor& x);
// max(x, 0) of any dtype; gradient 0 at 0.
Tensor relu(const Tensor& x);
Tensor relu6(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
// alpha * (exp(x) - 1) below 0.
Tensor elu(const Tensor& x, double alpha = 1);
// x * sigmoid(x).
Tensor silu(const Tensor& x);
// x times the normal distribution function of x, through erf or through its tanh approximation.
enum class Gelu { Erf, Tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::Erf);
// log(1 + exp(beta * x)) / beta.
Tensor softplus(const Tensor& x, double beta = 1);
Tensor hardtanh(const Tensor& x, double low = -1, double high = 1);
// x * relu6(x + 3) / 6.
Tensor hardswish(const Tensor& x);
// x * tanh(softplus(x)).
Tensor mish(const Tensor& x);

}  // namespace croze
