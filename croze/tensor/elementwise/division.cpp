// division.cpp -- quotients, remainders, common divisors and powers.
#include <cmath>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

// Both operands in the dtype they promote to, which must be one of numbers.
struct Numbers {
  Call call;
  Tensor a, b;

  Numbers(std::string_view name, const Operand& x, const Operand& y)
      : call(call_of(name, x, y)),
        a(operand_as(x, promoted({&x, &y}))),
        b(operand_as(y, promoted({&x, &y}))) {
    call.require(a.dtype() != DType::Bool, "works on numbers, not on bool");
  }
  bool floats() const { return is_float(a.dtype()); }
  Tensor apply(Op op) const { return elementwise(call, op, a, b); }
};

// a - b * trunc(a / b), exactly.  A quotient has more digits than a float holds, so it is taken off
// in pieces: as many of its leading bits as a fused multiply-add takes off without rounding.
Tensor exact_rest(const Tensor& a, const Tensor& b) {
  const int bits = a.dtype() == DType::Float64 ? 50 : 21;
  const Tensor size = abs(b);
  Tensor rest = abs(a);
  for (int piece = 3; piece >= 0; piece--) {
    const Tensor unit = size * std::ldexp(1.0, piece * bits);
    const Tensor whole = trunc(rest / unit);
    Tensor next = elementwise(Call("fmod", {&a, &b}, {}), Op::MulAdd, -whole, unit, rest);
    // The quotient may have been rounded to the wrong side of an integer.
    next = where(next < 0, next + unit, next);
    next = where(next >= unit, next - unit, next);
    rest = where(isfinite(unit), next, rest);
  }
  const Tensor value = where(signbit(a), -rest, rest);
  return where((b == 0) | isinf(a) | isnan(a) | isnan(b), not_a_number, value);
}

// The exact rest, with the derivatives 1 and -trunc(a / b).
Tensor float_rest(const Tensor& a, const Tensor& b) {
  const Tensor slope = a - b * where(b == 0, 0, trunc(a / b)).detach();
  const Tensor exact = exact_rest(a, b).detach();
  return where(isfinite(slope), slope - slope.detach(), 0) + exact;
}

}  // namespace

Tensor div(const Operand& a, const Operand& b, Rounding rounding) {
  if (rounding == Rounding::Floor) return floor_divide(a, b);
  if (rounding == Rounding::None) return a / b;
  const Numbers n("div", a, b);
  if (n.floats()) return trunc(n.a / n.b);
  // Floor, plus one where a rest of the other sign was rounded off.
  const Tensor down = n.apply(Op::IDiv);
  const Tensor rest = n.a - down * n.b;
  return where((rest != 0) & (down < 0) & (n.b != 0), down + 1, down);
}

Tensor floor_divide(const Operand& a, const Operand& b) {
  const Numbers n("floor_divide", a, b);
  if (!n.floats()) return n.apply(Op::IDiv);
  // The quotient of what divides evenly, so that it is not rounded across an integer.
  const Tensor rest = fmod(n.a, n.b);
  const Tensor even = round((n.a - rest) / n.b);
  const Tensor down = where((rest != 0) & ((rest < 0) != (n.b < 0)), even - 1, even);
  return where(n.b == 0, n.a / n.b, down);
}

Tensor remainder(const Operand& a, const Operand& b) {
  const Numbers n("remainder", a, b);
  if (!n.floats()) return n.apply(Op::Mod);
  const Tensor rest = fmod(n.a, n.b);
  return where((rest != 0) & ((rest < 0) != (n.b < 0)), rest + n.b, rest);
}

Tensor fmod(const Operand& a, const Operand& b) {
  const Numbers n("fmod", a, b);
  if (n.floats()) return in_common_float("fmod", n.a, n.b, float_rest);
  const Tensor rest = n.apply(Op::Mod);
  return where((rest != 0) & (n.b != 0) & ((n.a < 0) != (n.b < 0)), rest - n.b, rest);
}

// ---- common divisors --------------------------------------------------------------------------

// Euclid; two Fibonacci numbers of the width of the dtype take the most steps.
Tensor gcd(const Operand& a, const Operand& b) {
  const Numbers n("gcd", a, b);
  n.call.require(!n.floats(), "works on integers, not on {}", name_of(n.a.dtype()));
  Tensor x = abs(n.a), y = abs(n.b);
  const std::int64_t steps = size_of(n.a.dtype()) * 12;
  for (std::int64_t i = 0; i < steps; i++) {
    const Tensor rest = where(y == 0, 0, x % y);
    x = where(y == 0, x, y);
    y = rest;
    // Kernels of a size that compiles fast.
    if (i % 12 == 11) {
      x = x.contiguous();
      y = y.contiguous();
    }
  }
  return abs(x);
}

Tensor lcm(const Operand& a, const Operand& b) {
  const Numbers n("lcm", a, b);
  const Tensor divisor = gcd(n.a, n.b);
  return where(divisor == 0, 0, floor_divide(abs(n.a), divisor) * abs(n.b));
}

// ---- powers -----------------------------------------------------------------------------------

namespace {

// x * x * ... by squaring; exact for integers, which wrap.
Tensor integer_power(Tensor x, std::int64_t exponent) {
  Tensor result;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = result.defined() ? result * x : x;
    if (exponent > 1) x = x * x;
  }
  return result.defined() ? result : Tensor::ones_like(x);
}

Tensor integer_power(const Tensor& x, const Tensor& exponent) {
  Tensor result = Tensor::ones_like(x), square = x;
  const std::int64_t bits = size_of(x.dtype()) * 8;
  for (std::int64_t i = 0; i < bits; i++) {
    result = where((exponent >> i) & 1, result * square, result);
    square = square * square;
  }
  const Tensor is_odd = (exponent & 1) != 0;
  const Tensor inverse = where(x == 1, 1, where(x == -1, where(is_odd, -1, 1), 0));
  return is_unsigned(x.dtype()) ? result : where(exponent < 0, inverse.cast(x.dtype()), result);
}

}  // namespace

Tensor pow(const Operand& a, const Operand& b) {
  const Call call = call_of("pow", a, b);
  DType dtype = promoted({&a, &b});
  if (!is_float(dtype)) {
    if (dtype == DType::Bool) dtype = DType::Int64;
    const Tensor x = operand_as(a, dtype);
    if (!b.is_scalar()) return integer_power(x, operand_as(b, dtype));
    call.require(b.scalar().integer() >= 0,
                 "integers to a negative power are no integers: cast them to a float");
    return integer_power(x, b.scalar().integer());
  }
  if (b.is_scalar()) {
    const double e = b.scalar().number();
    const Tensor x = operand_as(a, dtype);
    // Exponents that have a cheaper and more exact form.
    if (e == 2 || e == 3) return integer_power(x, static_cast<std::int64_t>(e));
    if (e == 1) return x;
    if (e == 0) return Tensor::ones_like(x);
    if (e == -1) return reciprocal(x);
    if (e == 0.5) return sqrt(x);
  }
  return elementwise(call, Op::Pow, operand_as(a, dtype), operand_as(b, dtype));
}

Tensor float_power(const Operand& a, const Operand& b) {
  const CallScope scope("float_power", a.at());
  const auto wide = [](const Operand& o) { return operand_as(o, DType::Float64); };
  return pow(Operand(wide(a), a.at()), b.is_scalar() ? b : Operand(wide(b), b.at()));
}

}  // namespace croze
