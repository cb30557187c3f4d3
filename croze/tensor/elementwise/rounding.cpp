// rounding.cpp -- rounding, and what is done with the bits of floats.
#include <bit>
#include <cmath>

#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/record.h"

namespace croze {

// ---- rounding ---------------------------------------------------------------------------------

Tensor trunc(const Tensor& x, Location at) {
  const CallScope scope("trunc", at);
  return is_float(x.dtype()) ? elementwise(Op::Trunc, x) : x;
}

Tensor floor(const Tensor& x, Location at) {
  const CallScope scope("floor", at);
  if (!is_float(x.dtype())) return x;
  const Tensor t = trunc(x);
  return where(x < t, t - 1, t);
}

Tensor ceil(const Tensor& x, Location at) {
  const CallScope scope("ceil", at);
  if (!is_float(x.dtype())) return x;
  const Tensor t = trunc(x);
  return where(t < x, t + 1, t);
}

Tensor round(const Tensor& x, Location at) {
  const CallScope scope("round", at);
  if (!is_float(x.dtype())) return x;
  const Tensor magnitude = abs(x);
  const Tensor below = trunc(magnitude);
  const Tensor rest = magnitude - below;  // exact
  const Tensor half = below * 0.5;
  const Tensor is_even = half == trunc(half);
  const Tensor stays = (rest < 0.5) | ((rest == 0.5) & is_even);
  const Tensor rounded = where(stays, below, below + 1);
  // Integers, infinities and NaN are themselves, and -0.3 rounds to -0.
  const Tensor whole = trunc(x);
  return where(x == whole, whole, where(x < 0, -rounded, rounded));
}

Tensor round(const Tensor& x, std::int64_t decimals, Location at) {
  const CallScope scope("round", at);
  if (!is_float(x.dtype()) || decimals == 0) return round(x);
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return in_wide_float(x, [&](const Tensor& v) {
    return decimals > 0 ? round(v * scale) / scale : round(v / scale) * scale;
  });
}

Tensor frac(const Tensor& x, Location at) {
  const CallScope scope("frac", at);
  return x - trunc(x);
}

// ---- bits of floats ---------------------------------------------------------------------------

namespace {

DType bits_dtype(DType t) {
  switch (size_of(t)) {
    case 1: return DType::Int8;
    case 2: return DType::Int16;
    case 4: return DType::Int32;
    default: return DType::Int64;
  }
}

}  // namespace

Tensor signbit(const Tensor& x, Location at) {
  const CallScope scope("signbit", at);
  return is_float(x.dtype()) ? x.bitcast(bits_dtype(x.dtype())) < 0 : x < 0;
}

// The gradient is 0 where a is 0.
Tensor copysign(const Operand& a, const Operand& b) {
  const CallScope scope("copysign", a.at());
  const DType dtype = float_of(promoted({&a, &b}));
  const Tensor size = abs(operand_as(a, dtype)), sign = operand_as(b, dtype);
  return where(signbit(sign), -size, size);
}

// The bits of positive floats are ordered as the floats are; those of negative ones the other way.
Tensor nextafter(const Operand& a, const Operand& b) {
  const CallScope scope("nextafter", a.at());
  const DType dtype = promoted({&a, &b});
  const Tensor x = operand_as(a, dtype), y = operand_as(b, dtype);
  const Call call("nextafter", {&x, &y}, a.at());
  call.require(is_float(dtype) && !is_float8(dtype), "does not work on {}", name_of(dtype));
  const DType type = bits_dtype(dtype);
  const Tensor bits = x.bitcast(type);
  const Tensor outwards = (y > x) == (x > 0);
  const Tensor moved = where(outwards, bits + 1, bits - 1).bitcast(dtype);
  const Tensor least = Tensor::ones_like(bits).bitcast(dtype);
  const Tensor from_zero = where(y > 0, least, -least);
  const Tensor next = where(x == y, y, where(x == 0, from_zero, moved));
  return where(isnan(x) | isnan(y), not_a_number, next);
}

double greatest_of(DType t) {
  switch (t) {
    case DType::Float8E4M3: return 448;
    case DType::Float8E4M3FNUZ: return 240;
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ: return 57344;
    case DType::Float16: return 65504;
    case DType::BFloat16: return 0x1.FEp127;
    case DType::Float32: return 0x1.FFFFFEp127;
    default: return std::numeric_limits<double>::max();
  }
}

Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> positive,
                  std::optional<double> negative, Location at) {
  const CallScope scope("nan_to_num", at);
  if (!is_float(x.dtype())) return x;
  const double greatest = greatest_of(x.dtype());
  const auto number = [&](double v) { return operand_as(Operand(v), x.dtype()); };
  Tensor result = where(isposinf(x), number(positive.value_or(greatest)), x);
  result = where(isneginf(x), number(negative.value_or(-greatest)), result);
  return where(isnan(x), number(nan), result);
}

}  // namespace croze
