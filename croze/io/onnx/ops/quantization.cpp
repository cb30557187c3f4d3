// quantization.cpp -- numbers as small integers (or 8-bit floats) times a scale, and arithmetic on
// them.  Integer products and sums are exact, in Int32; rounding is to nearest, halves to even.
#include <cmath>

#include "croze/base/checked.h"
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

// ---- products with weights in blocks -----------------------------------------------------------

// Numbers of a few bits, the first of a byte in its lowest: the last axis of x grows.
Tensor unpacked(const Tensor& x, std::int64_t bits) {
  check(x.dtype() == DType::UInt8, "packed numbers in {}", name_of(x.dtype()));
  if (bits == 8) return x;
  const Tensor shifts = Tensor::arange(8 / bits, DType::UInt8) * bits;
  const Tensor parts = (x.unsqueeze(-1) >> shifts.cast(DType::UInt8)) & ((1 << bits) - 1);
  return parts.flatten(x.ndim() - 1);
}

// MatMulNBits: weights (N, blocks, bytes of a block), of `bits` each.
struct BlockWeights {
  std::int64_t rows, columns, bits, block, blocks;
};

BlockWeights block_weights_of(const NodeCall& call) {
  BlockWeights w{.rows = call.required_integer("N"),
                 .columns = call.required_integer("K"),
                 .bits = call.integer("bits", 4),
                 .block = call.required_integer("block_size"),
                 .blocks = 0};
  check(w.bits == 2 || w.bits == 4 || w.bits == 8, "weights of {} bits", w.bits);
  check(w.block >= 16 && w.block <= (1 << 20) && w.columns > 0 && w.rows > 0,
        "weights of {} x {} in blocks of {}", w.rows, w.columns, w.block);
  w.blocks = (w.columns - 1) / w.block + 1;
  check(call[1].numel() == checked_mul(w.rows, checked_mul(w.blocks, w.block * w.bits / 8)),
        "weights of shape {} for {} x {} of {} bits", to_text(call[1].shape()), w.rows, w.columns,
        w.bits);
  return w;
}

// What is taken off the numbers of each block: (N, blocks, 1).
Tensor block_zeros(const NodeCall& call, const BlockWeights& w) {
  if (!call.has(3)) return Tensor::scalar(1 << (w.bits - 1));
  Tensor zeros = call[3];
  // Packed to whole bytes row by row.
  if (zeros.dtype() == DType::UInt8) {
    zeros = unpacked(zeros.reshape({w.rows, -1}), w.bits);
    check(zeros.size(1) >= w.blocks, "zero points of shape {} for {} blocks",
          to_text(call[3].shape()), w.blocks);
    zeros = zeros.narrow(1, 0, w.blocks);
  }
  return zeros.reshape({w.rows, w.blocks, 1});
}

// Inputs: a, weights, scales, zero points, the block of each column, bias.
Results mat_mul_n_bits(const NodeCall& call) {
  const BlockWeights w = block_weights_of(call);
  const DType wide = accumulator(call[0].dtype());
  const Tensor packed = call[1].reshape({w.rows, w.blocks, w.block * w.bits / 8});
  const Tensor numbers = unpacked(packed, w.bits).cast(wide);
  Tensor zeros = block_zeros(call, w).cast(wide);
  Tensor scales = call[2].reshape({w.rows, w.blocks, 1}).cast(wide);
  Tensor weights;
  if (call.has(4)) {
    check(call[4].numel() >= w.columns, "{} columns, not {}", call[4].numel(), w.columns);
    const Tensor block = call[4].flatten().narrow(0, 0, w.columns);
    const auto of_column = [&](const Tensor& t) {
      return t.numel() == 1 ? t.reshape({1, 1}) : index_select(t.squeeze(-1), 1, block);
    };
    const Tensor rows = numbers.flatten(1).narrow(1, 0, w.columns);
    weights = (rows - of_column(zeros)) * of_column(scales);
  } else {
    weights = ((numbers - zeros) * scales).flatten(1).narrow(1, 0, w.columns);
  }
  Tensor product = matmul(call[0].cast(wide), weights.transpose());
  if (call.has(5)) product = product + call[5].cast(wide);
  return {product.cast(call[0].dtype())};
}

// clang-format off
constexpr Operator table[] = {
  {"DequantizeLinear", 10, dequantize_linear},
  {"DynamicQuantizeLinear", 11, dynamic_quantize},
  {"MatMulInteger", 10, mat_mul_integer},
  {"MatMulNBits", 1, mat_mul_n_bits, "com.microsoft"},
  {"QLinearConv", 10, q_linear_conv},
  {"QLinearMatMul", 10, q_linear_mat_mul},
  {"QuantizeLinear", 10, quantize_linear},
};
// clang-format on

}  // namespace

std::span<const Operator> quantization_operators() { return table; }

}  // namespace croze::onnx
