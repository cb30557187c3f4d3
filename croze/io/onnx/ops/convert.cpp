// convert.cpp -- rounding to what narrow types have, and what becomes of numbers beyond them.
#include "croze/io/onnx/ops/convert.h"

#include <cmath>
#include <limits>

#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// The greatest finite value of an 8-bit float.
double greatest_float8(DType dtype) {
  switch (dtype) {
    case DType::Float8E4M3: return 448;
    case DType::Float8E4M3FNUZ: return 240;
    default: return 57344;
  }
}

Tensor to_float8(const Tensor& x, DType dtype, bool saturate) {
  const double greatest = greatest_float8(dtype);
  const Tensor wide = x.dtype() == DType::Float64 ? x : x.cast(DType::Float32);
  const Tensor rounded = clamp(wide, -greatest, greatest).cast(dtype);
  if (saturate) return rounded;
  // The first value that rounds beyond the greatest lies half a step above it.
  const double step = dtype == DType::Float8E4M3 ? 32 : dtype == DType::Float8E4M3FNUZ ? 16 : 8192;
  const double infinity = std::numeric_limits<double>::infinity();
  const bool has_infinity = dtype == DType::Float8E5M2;
  const Tensor out = has_infinity ? sign(wide) * infinity : wide * std::nan("");
  // The greatest of E4M3 is even, so the middle rounds to it.
  const bool ties_stay = dtype == DType::Float8E4M3;
  const double limit = greatest + step / 2;
  const Tensor is_out = ties_stay ? abs(wide) > limit : abs(wide) >= limit;
  return where(is_out, out.cast(dtype), rounded);
}

// Values are multiples of a step that doubles at 2 and at 4; halves of a step go to even multiples.
// There is no NaN, and 0 takes its place.
Tensor to_float4(const Tensor& x) {
  constexpr double greatest = 6;
  const Tensor wide =
      clamp(x.dtype() == DType::Float64 ? x : x.cast(DType::Float32), -greatest, greatest);
  const Tensor size = abs(wide);
  const Tensor step = where(size < 2, 0.5, where(size < 4, 1.0, 2.0)).cast(wide.dtype());
  const Tensor rounded = where(isnan(wide), 0, round(wide / step) * step);
  return rounded.cast(DType::Float8E4M3);
}

// The exponent of a Float32 alone, without its sign, as a power of two.
Tensor to_float8e8m0(const Tensor& x, const Conversion& conversion) {
  const Tensor bits = x.cast(DType::Float32).bitcast(DType::UInt32).cast(DType::Int32);
  const Tensor exponent = (bits >> 23) & 0xff, fraction = bits & 0x7fffff;
  constexpr int middle = 0x400000, greatest = 254, nan = 255;
  Tensor is_more = fraction > 0;
  if (conversion.round_mode == "nearest") {
    is_more = logical_or(fraction > middle, logical_and(fraction == middle, exponent > 0));
  } else if (conversion.round_mode != "up") {
    check(conversion.round_mode == "down", "round_mode \"{}\"", conversion.round_mode);
    is_more = Tensor::zeros_like(is_more);
  }
  const int last = conversion.saturate ? greatest : nan;
  const Tensor rounded = minimum(exponent + is_more.cast(DType::Int32), last);
  const Tensor code = where(exponent == nan, nan, rounded);
  // BFloat16 begins like Float32, and the least power is half of its least normal number.
  const Tensor same = where(code == nan, 0x7fc0, where(code == 0, 0x40, code << 7));
  return same.cast(DType::UInt16).bitcast(DType::BFloat16);
}

// Integers of 2 and 4 bits.
Tensor to_few_bits(const Tensor& x, ElementType type, bool wrap) {
  const Range range = range_of(type);
  if (!wrap) {
    const Tensor whole = is_float(x.dtype()) ? round(x.cast(DType::Float32)) : x.cast(DType::Int64);
    return clamp(whole, range.low, range.high).cast(dtype_of(type));
  }
  const std::int64_t mask = (std::int64_t{1} << bits_of(type)) - 1;
  const Tensor low = x.cast(DType::Int64) & mask;
  const Tensor result = range.low < 0 ? where(low > range.high, low - (mask + 1), low) : low;
  return result.cast(dtype_of(type));
}

}  // namespace

Range range_of(ElementType type) {
  switch (type) {
    case ElementType::Int2: return {-2, 1};
    case ElementType::UInt2: return {0, 3};
    case ElementType::Int4: return {-8, 7};
    case ElementType::UInt4: return {0, 15};
    default: break;
  }
  const DType dtype = dtype_of(type);
  return {static_cast<double>(min_value(dtype)), static_cast<double>(max_value(dtype))};
}

Tensor converted_to(const Tensor& x, ElementType type, const Conversion& conversion) {
  const DType dtype = dtype_of(type);
  if (type == ElementType::Float4E2M1) return to_float4(x);
  if (type == ElementType::Float8E8M0) return to_float8e8m0(x, conversion);
  if (is_float8(dtype)) return to_float8(x, dtype, conversion.saturate);
  const bool is_few_bits = is_integer(dtype) && bits_of(type) < 8;
  return is_few_bits ? to_few_bits(x, type, conversion.wrap) : x.cast(dtype);
}

}  // namespace croze::onnx
