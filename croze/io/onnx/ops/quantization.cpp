// quantization.cpp -- numbers as small integers (or 8-bit floats) times a scale, and arithmetic on
// them.  Integer products and sums are exact, in Int32; rounding is to nearest, halves to even.
#include <cmath>

#include "croze/io/onnx/ops/convert.h"
#include "croze/io/onnx/ops/windows.h"

namespace croze::onnx {
namespace {

// A scale or zero point beside x: one for all, one per position of an axis, or one per block of
// `block` positions.
Tensor beside(const Tensor& factor, const Tensor& x, std::int64_t axis, std::int64_t block) {
  if (factor.numel() == 1) return factor.reshape({});
  const std::int64_t place = checked_axis(axis, x.ndim());
  if (block == 0) {
    check(factor.ndim() == 1 && factor.numel() == x.size(place),
          "{} scales for the {} positions of axis {}", factor.numel(), x.size(place), place);
    return along_axis(factor, place, x.ndim());
  }
  check(factor.ndim() == x.ndim(), "scales of shape {} for blocks of {}", to_text(factor.shape()),
        to_text(x.shape()));
  Shape repeated = factor.shape();
  repeated.insert(place + 1, block);
  Shape shape = factor.shape();
  shape[place] *= block;
  check(shape[place] >= x.size(place), "{} blocks of {} for {} positions", factor.size(place),
        block, x.size(place));
  return factor.unsqueeze(place + 1).expand(repeated).reshape(shape).narrow(place, 0,
                                                                            x.size(place));
}

// Rounded, shifted by the zero point (undefined: 0) and saturated.
Value quantized(const Tensor& scaled, const Tensor& zero_point, ElementType type, bool saturate) {
  const DType dtype = dtype_of(type);
  if (is_float(dtype)) {
    const Tensor moved = zero_point.defined() ? scaled + zero_point.cast(scaled.dtype()) : scaled;
    return {converted_to(moved, type, {.saturate = saturate}), type};
  }
  Tensor result = round(scaled);
  if (zero_point.defined()) result = result + zero_point.cast(result.dtype());
  const Range range = range_of(type);
  return {clamp(result, range.low, range.high).cast(dtype), type};
}

// The type that an attribute names; Undefined if it names none.
ElementType type_named(const NodeCall& call, std::string_view attribute) {
  return static_cast<ElementType>(call.integer(attribute, 0));
}

Results quantize_linear(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  const Tensor scale = beside(call[1], x, axis, block);
  ElementType type = type_named(call, "output_dtype");
  Tensor zero;
  if (call.has(2)) {
    zero = beside(call[2], x, axis, block);
    type = call.value(2).element_type();
  } else if (type == ElementType::Undefined) {
    type = ElementType::UInt8;
  }
  const ElementType precision = type_named(call, "precision");
  const DType divided = precision == ElementType::Undefined ? DType::Float32 : dtype_of(precision);
  check(is_float(divided), "a precision of {}", name_of(precision));
  const Tensor quotient = x.cast(divided) / scale.cast(divided);
  return {quantized(quotient.cast(DType::Float32), zero, type, call.flag("saturate", true))};
}

Results dequantize_linear(const NodeCall& call) {
  const Tensor& x = call[0];
  const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  const Tensor scale = beside(call[1], x, axis, block);
  const bool is_whole = is_integral(x.dtype());
  // Differences of integers are exact in Int32 for all types but Int32 itself, whose zero is 0.
  Tensor shifted = x.cast(is_whole ? DType::Int32 : DType::Float32);
  if (call.has(2)) shifted = shifted - beside(call[2], x, axis, block).cast(shifted.dtype());
  const Tensor wide = shifted.cast(DType::Float32) * scale.cast(DType::Float32);
  ElementType type = type_named(call, "output_dtype");
  if (type == ElementType::Undefined) type = call.value(1).element_type();
  return {{converted_to(wide, type), type}};
}

// UInt8 over the range of the values, which is made to hold 0.
Results dynamic_quantize(const NodeCall& call) {
  const Tensor x = call[0].cast(DType::Float32);
  const Tensor low = minimum(min(x), 0), high = maximum(max(x), 0);
  const Tensor scale = (high - low) / 255.0;
  const Tensor divisor = where(scale == 0, 1, scale);
  const Tensor zero = clamp(round(-low / divisor), 0, 255).cast(DType::UInt8);
  return {quantized(x / divisor, zero, ElementType::UInt8, true), scale, zero};
}

// ---- products ---------------------------------------------------------------------------------

// Input i minus its zero point, in Int32.
Tensor centered(const NodeCall& call, int i, int zero, std::int64_t axis) {
  const Tensor x = call[i].cast(DType::Int32);
  if (!call.has(zero)) return x;
  const Tensor z = call[zero].cast(DType::Int32);
  const bool is_vector = z.ndim() == 1 && z.numel() > 1;
  if (!is_vector) return x - (z.numel() == 1 ? z.reshape({}) : z);
  return x - along_axis(z, checked_axis(axis, x.ndim()), x.ndim());
}

Results mat_mul_integer(const NodeCall& call) {
  return {matmul(centered(call, 0, 2, -2), centered(call, 1, 3, -1))};
}

// Inputs: a, its scale and zero point, b, its scale and zero point, then those of the result.
Results rescaled(const NodeCall& call, const Tensor& sums, const Tensor& a_scale,
                 const Tensor& b_scale) {
  const Tensor factor = a_scale.cast(DType::Float32) * b_scale.cast(DType::Float32) /
                        call[6].cast(DType::Float32).reshape({});
  const Tensor zero = call[7].reshape({});
  return {quantized(sums.cast(DType::Float32) * factor, zero, call.value(7).element_type(), true)};
}

// A vector of scales stands along an axis of x.
Tensor scale_along(const Tensor& scale, std::int64_t axis, int rank) {
  return scale.numel() == 1 ? scale.reshape({}) : along_axis(scale, axis, rank);
}

Results q_linear_mat_mul(const NodeCall& call) {
  const Tensor sums = matmul(centered(call, 0, 2, -2), centered(call, 3, 5, -1));
  const int rank = sums.ndim();
  return rescaled(call, sums, scale_along(call[1], rank - 2, rank),
                  scale_along(call[4], rank - 1, rank));
}

Results q_linear_conv(const NodeCall& call) {
  const Tensor x = centered(call, 0, 2, 1), weight = centered(call, 3, 5, 0);
  const Windows w = windows_of_weight(call, x.shape(), weight);
  const Tensor sums = convolve(x, weight, call.optional(8), w, call.integer("group", 1));
  return rescaled(call, sums, call[1].reshape({}), scale_along(call[4], 1, sums.ndim()));
}

// clang-format off
constexpr Operator table[] = {
  {"DequantizeLinear", 10, dequantize_linear},
  {"DynamicQuantizeLinear", 11, dynamic_quantize},
  {"MatMulInteger", 10, mat_mul_integer},
  {"QLinearConv", 10, q_linear_conv},
  {"QLinearMatMul", 10, q_linear_mat_mul},
  {"QuantizeLinear", 10, quantize_linear},
};
// clang-format on

}  // namespace

std::span<const Operator> quantization_operators() { return table; }

}  // namespace croze::onnx
