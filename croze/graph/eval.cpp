// eval.cpp -- the meaning of the elementwise ops on constants.
//
// Integers are computed in 64 bits and wrapped to their width; f64 in double, f32 in float, and the
// narrower floats in float with one rounding at the end of the op.
#include "croze/graph/eval.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "croze/base/error.h"
#include "croze/base/half.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using u64 = std::uint64_t;

const SmallFloat* small_format(DType t) {
  switch (t) {
    case DType::Float8E4M3: return &fp8_e4m3_format;
    case DType::Float8E5M2: return &fp8_e5m2_format;
    case DType::Float8E4M3FNUZ: return &fp8_e4m3fnuz_format;
    case DType::Float8E5M2FNUZ: return &fp8_e5m2fnuz_format;
    case DType::Float16: return &f16_format;
    case DType::BFloat16: return &bf16_format;
    default: return nullptr;
  }
}

// An integer as an element of `t`: the low bits, sign- or zero-extended.  Bool: whether not zero.
i64 wrap(i64 value, DType t) {
  if (t == DType::Bool) return value != 0;
  if (t == DType::Index || size_of(t) == 8) return value;
  const int shift = static_cast<int>(64 - 8 * size_of(t));
  const u64 high = static_cast<u64>(value) << shift;
  return is_unsigned(t) ? static_cast<i64>(high >> shift) : static_cast<i64>(high) >> shift;
}

// Toward zero; what does not fit becomes the nearest value that does, NaN becomes 0.
i64 saturate(double value, DType t) {
  if (t == DType::Bool) return value != 0;
  if (std::isnan(value)) return 0;
  value = std::trunc(value);
  if (t == DType::UInt64) {
    if (value >= 0x1p64) return -1;
    return value <= 0 ? 0 : static_cast<i64>(static_cast<u64>(value));
  }
  if (value >= 0x1p63) return max_value(t);
  if (value < -0x1p63) return min_value(t);
  const i64 whole = static_cast<i64>(value);
  return std::min(std::max(whole, min_value(t)), max_value(t));
}

double round_to(double value, DType t) {
  if (t == DType::Float64) return value;
  if (t == DType::Float32) return static_cast<float>(value);
  const SmallFloat& format = *small_format(t);
  return decode_small_float(format, encode_small_float(format, value));
}

// A 64-bit magnitude as a double that a second rounding, to fewer bits, cannot get wrong: bits that
// do not fit leave a trace in the last place ("round to odd").
double to_odd_double(u64 magnitude) {
  const int extra = 11 - std::countl_zero(magnitude);
  if (extra <= 0 || magnitude == 0) return static_cast<double>(magnitude);
  const u64 lost = magnitude & ((u64{1} << extra) - 1);
  u64 kept = magnitude >> extra;
  if (lost) kept |= 1;
  return std::ldexp(static_cast<double>(kept), extra);
}

double float_of_integer(i64 value, bool as_unsigned, DType t) {
  const bool negative = value < 0 && !as_unsigned;
  const u64 magnitude = negative ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value);
  double rounded;
  if (t == DType::Float64) {
    rounded = static_cast<double>(magnitude);
  } else if (t == DType::Float32) {
    rounded = static_cast<float>(magnitude);
  } else {
    rounded = round_to(to_odd_double(magnitude), t);
  }
  return negative ? -rounded : rounded;
}

// ---- integers ---------------------------------------------------------------------------------

i64 wrapping_add(i64 a, i64 b) {
  return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b));
}
i64 wrapping_mul(i64 a, i64 b) {
  return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b));
}
i64 wrapping_neg(i64 a) { return static_cast<i64>(u64{0} - static_cast<u64>(a)); }

i64 truncated_quotient(i64 a, i64 b, bool as_unsigned) {
  if (b == 0) return 0;
  if (as_unsigned) return static_cast<i64>(static_cast<u64>(a) / static_cast<u64>(b));
  return b == -1 ? wrapping_neg(a) : a / b;
}

i64 floor_quotient(i64 a, i64 b, bool as_unsigned) {
  if (b == 0 || as_unsigned || b == -1) return truncated_quotient(a, b, as_unsigned);
  const i64 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

i64 shift_left(i64 a, i64 by, i64 width) {
  return static_cast<u64>(by) >= static_cast<u64>(width)
             ? 0
             : static_cast<i64>(static_cast<u64>(a) << by);
}

i64 shift_right(i64 a, i64 by, i64 width, bool as_unsigned) {
  const bool all = static_cast<u64>(by) >= static_cast<u64>(width);
  if (as_unsigned) return all ? 0 : static_cast<i64>(static_cast<u64>(a) >> by);
  return all ? (a < 0 ? -1 : 0) : a >> by;
}

bool less_integer(i64 a, i64 b, bool as_unsigned) {
  return as_unsigned ? static_cast<u64>(a) < static_cast<u64>(b) : a < b;
}

// Of comparisons: in terms of the operands' type.
i64 compare_integers(Op op, i64 a, i64 b, bool as_unsigned) {
  switch (op) {
    case Op::Lt: return less_integer(a, b, as_unsigned);
    case Op::Le: return !less_integer(b, a, as_unsigned);
    case Op::Eq: return a == b;
    default: return a != b;
  }
}

i64 eval_integer(Op op, DType t, std::span<const i64> v) {
  const bool as_unsigned = is_unsigned(t);
  const i64 width = t == DType::Index ? 64 : 8 * size_of(t);
  const i64 a = v[0], b = v.size() > 1 ? v[1] : 0;
  switch (op) {
    case Op::Neg: return wrapping_neg(a);
    case Op::Not: return t == DType::Bool ? !a : ~a;
    case Op::Trunc: return a;
    case Op::Add: return wrapping_add(a, b);
    case Op::Mul: return wrapping_mul(a, b);
    case Op::IDiv: return floor_quotient(a, b, as_unsigned);
    case Op::Mod:
      return wrapping_add(a, wrapping_neg(wrapping_mul(floor_quotient(a, b, as_unsigned), b)));
    case Op::CDiv: return truncated_quotient(a, b, as_unsigned);
    case Op::CMod:
      return wrapping_add(a, wrapping_neg(wrapping_mul(truncated_quotient(a, b, as_unsigned), b)));
    case Op::Max: return less_integer(a, b, as_unsigned) ? b : a;
    case Op::Min: return less_integer(a, b, as_unsigned) ? a : b;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Shl: return shift_left(a, b, width);
    case Op::Shr: return shift_right(a, b, width, as_unsigned);
    case Op::Threefry:
      return static_cast<i64>(threefry2x32(static_cast<u64>(a), static_cast<u64>(b)));
    case Op::MulAdd: return wrapping_add(wrapping_mul(a, b), v[2]);
    default: break;
  }
  fail_internal({}, "eval: {} has no meaning on {}", info(op).name, name_of(t));
}

// ---- floats -----------------------------------------------------------------------------------

// NaN wins, and of two zeros the positive one is greater, so that the order of operands is nothing.
template <typename T>
T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

// An infinite n makes infinity or zero of a NaN, too, as it does in processors that have this.
template <typename T>
T scaled(T x, T n) {
  constexpr T most = 4096;  // from there on all numbers become zero or infinity
  if (std::isinf(n) && std::isnan(x)) return std::exp2(n);
  if (!std::isfinite(n)) return x * std::exp2(n);
  return std::ldexp(x, static_cast<int>(std::clamp(std::floor(n), -most, most)));
}

i64 compare_floats(Op op, double a, double b) {
  switch (op) {
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Eq: return a == b;
    default: return a != b;
  }
}

template <typename T>
T eval_float(Op op, DType t, std::span<const i64> v) {
  T x[3] = {};
  for (std::size_t i = 0; i < v.size(); i++) x[i] = static_cast<T>(std::bit_cast<double>(v[i]));
  const T a = x[0], b = x[1];
  switch (op) {
    case Op::Neg: return -a;
    case Op::Exp: return std::exp(a);
    case Op::Exp2: return std::exp2(a);
    case Op::Log: return std::log(a);
    case Op::Log2: return std::log2(a);
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Reciprocal: return T{1} / a;
    case Op::Trunc: return std::trunc(a);
    case Op::Add: return a + b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Max: return maximum(a, b);
    case Op::Min: return -maximum(-a, -b);
    case Op::Pow: return std::pow(a, b);
    case Op::Scale: return scaled(a, b);
    case Op::MulAdd: return std::fma(a, b, x[2]);
    default: break;
  }
  fail_internal({}, "eval: {} has no meaning on {}", info(op).name, name_of(t));
}

}  // namespace

i64 bits_of(double value, DType t) {
  return is_float(t) ? std::bit_cast<i64>(round_to(value, t)) : saturate(value, t);
}

i64 bits_of(i64 value, DType t) {
  return is_float(t) ? std::bit_cast<i64>(float_of_integer(value, false, t)) : wrap(value, t);
}

i64 convert(i64 bits, DType from, DType to) {
  if (is_float(from)) return bits_of(std::bit_cast<double>(bits), to);
  if (is_float(to)) return std::bit_cast<i64>(float_of_integer(bits, from == DType::UInt64, to));
  return wrap(bits, to);
}

i64 eval(Op op, DType result, DType operand, std::span<const i64> v) {
  if (op == Op::Cast) return convert(v[0], operand, result);
  if (op == Op::Where) return v[0] ? v[1] : v[2];
  if (op == Op::Bitcast) {
    std::byte memory[8];
    store_bits(v[0], operand, memory);
    return load_bits(memory, result);
  }
  if (is_comparison(op)) {
    if (!is_float(operand)) return compare_integers(op, v[0], v[1], is_unsigned(operand));
    return compare_floats(op, std::bit_cast<double>(v[0]), std::bit_cast<double>(v[1]));
  }
  if (!is_float(result)) return wrap(eval_integer(op, result, v), result);
  if (result == DType::Float64) return std::bit_cast<i64>(eval_float<double>(op, result, v));
  return bits_of(static_cast<double>(eval_float<float>(op, result, v)), result);
}

void store_bits(i64 bits, DType t, void* memory) {
  u64 raw = static_cast<u64>(bits);
  if (t == DType::Float32) {
    raw = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (const SmallFloat* format = small_format(t)) {
    raw = encode_small_float(*format, std::bit_cast<double>(bits));
  }
  std::memcpy(memory, &raw, static_cast<std::size_t>(size_of(t)));
}

i64 load_bits(const void* memory, DType t) {
  u64 raw = 0;
  std::memcpy(&raw, memory, static_cast<std::size_t>(size_of(t)));
  if (!is_float(t)) return wrap(static_cast<i64>(raw), t);
  if (t == DType::Float64) return static_cast<i64>(raw);
  const SmallFloat* format = small_format(t);
  const float value = format ? decode_small_float(*format, static_cast<std::uint32_t>(raw))
                             : std::bit_cast<float>(static_cast<std::uint32_t>(raw));
  return std::bit_cast<i64>(static_cast<double>(value));
}

u64 threefry2x32(u64 counter, u64 key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::uint32_t k0 = static_cast<std::uint32_t>(key);
  const std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  const std::uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bdau};
  std::uint32_t x0 = static_cast<std::uint32_t>(counter) + keys[0];
  std::uint32_t x1 = static_cast<std::uint32_t>(counter >> 32) + keys[1];
  for (std::uint32_t block = 0; block < 5; block++) {
    for (int rotation : rotations[block % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(block + 1) % 3];
    x1 += keys[(block + 2) % 3] + block + 1;
  }
  return static_cast<u64>(x1) << 32 | x0;
}

}  // namespace croze
