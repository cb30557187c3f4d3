// small_float.cpp -- f16, bf16 and the fp8 types as bits in an integer, to and from Float32.
//
// The results are those of base/half.h for every input; NaNs are NaNs, of no particular payload.
#include <cmath>
#include <limits>

#include "croze/base/error.h"
#include "croze/codegen/decompose/expand.h"

namespace croze::expand {
namespace {

constexpr int float_mantissa = 23, float_bias = 127;
constexpr std::uint32_t float_infinity = 0x7f800000;

UOp word(UOp x, std::uint32_t value) {
  return x.graph().constant(DType::UInt32, static_cast<std::int64_t>(value));
}
UOp shl(UOp x, int by) { return binary(Op::Shl, x, word(x, static_cast<std::uint32_t>(by))); }
UOp shr(UOp x, int by) { return binary(Op::Shr, x, word(x, static_cast<std::uint32_t>(by))); }
UOp as_float(UOp x) { return x.graph().bitcast(x, DType::Float32); }
UOp as_word(UOp x) { return x.graph().bitcast(x, DType::UInt32); }

// How far the sign bit of the format is below that of a Float32.
int sign_distance(const SmallFloat& f) { return 31 - f.exponent_bits - f.mantissa_bits; }

bool is_ieee(const SmallFloat& f) { return f.specials == SmallFloat::Specials::Ieee; }

// Whether a number of the format is the front of the same number as a Float32.
bool is_front_of_float(const SmallFloat& f) { return is_ieee(f) && f.bias == float_bias; }

// That front.  What is rounded may carry into the exponent, up to infinity's, and never into the
// sign, unless it is a NaN, whose bits are set: a choice between the two would be made after the
// lanes are packed, and the lanes of the condition packed, too.
UOp rounded_front(const SmallFloat& f, UOp value) {
  const int dropped = float_mantissa - f.mantissa_bits;
  const UOp bits = as_word(value);
  const UOp odd = shr(bits, dropped) & word(bits, 1);
  const UOp nearest = bits + word(bits, (1u << (dropped - 1)) - 1) + odd;
  const UOp nan = where(not_equal(value, value), word(bits, 0x7fffffff), word(bits, 0));
  return shr(nearest | nan, dropped);
}

// Float32 magnitudes, as bits, rounded to the format's bits without care for overflow.
UOp round_magnitude(const SmallFloat& f, UOp magnitude) {
  const int dropped = float_mantissa - f.mantissa_bits;
  const UOp odd = shr(magnitude, dropped) & word(magnitude, 1);
  const UOp nearest = magnitude + word(magnitude, (1u << (dropped - 1)) - 1) + odd;
  const auto rebias = static_cast<std::uint32_t>(float_bias - f.bias) << f.mantissa_bits;
  const UOp normal = shr(nearest, dropped) - word(magnitude, rebias);
  // Added to a number whose last bit is worth the least denormal, a smaller one is rounded to it.
  const float shift = std::ldexp(1.0f, 1 - f.bias - f.mantissa_bits + float_mantissa);
  const UOp shift_node = magnitude.graph().constant(DType::Float32, shift);
  const UOp denormal = as_word(as_float(magnitude) + shift_node) - as_word(shift_node);
  const auto least_normal = static_cast<std::uint32_t>(float_bias + 1 - f.bias) << float_mantissa;
  return where(less(magnitude, word(magnitude, least_normal)), denormal, normal);
}

// The fields at their places in a Float32 have the value, but for the bias.  Multiplying by a power
// of two puts that right, for denormals too.
UOp scaled(const SmallFloat& f, UOp placed) {
  const float scale = std::ldexp(1.0f, float_bias - f.bias);
  return as_word(as_float(placed) * placed.graph().constant(DType::Float32, scale));
}

// The same where a Float32 must not be a denormal: normal numbers get the other bias, denormals are
// whole numbers of the least one.
UOp rebiased(const SmallFloat& f, UOp magnitude, UOp placed) {
  const auto difference = static_cast<std::uint32_t>(float_bias - f.bias) << float_mantissa;
  const float least = std::ldexp(1.0f, 1 - f.bias - f.mantissa_bits);
  const UOp denormal =
      as_word(cast(magnitude, DType::Float32) * magnitude.graph().constant(DType::Float32, least));
  const UOp is_normal = less(word(magnitude, (1u << f.mantissa_bits) - 1), magnitude);
  return where(is_normal, placed + word(placed, difference), denormal);
}

}  // namespace

const SmallFloat& format_of(DType small) {
  switch (small) {
    case DType::Float8E4M3: return fp8_e4m3_format;
    case DType::Float8E5M2: return fp8_e5m2_format;
    case DType::Float8E4M3FNUZ: return fp8_e4m3fnuz_format;
    case DType::Float8E5M2FNUZ: return fp8_e5m2fnuz_format;
    case DType::Float16: return f16_format;
    case DType::BFloat16: return bf16_format;
    default: fail_internal({}, "decompose: {} is not a small float type", name_of(small));
  }
}

DType bits_type(DType small) { return size_of(small) == 1 ? DType::UInt8 : DType::UInt16; }

UOp encode(DType small, UOp value) {
  const SmallFloat& f = format_of(small);
  if (is_front_of_float(f)) return cast(rounded_front(f, value), bits_type(small));
  const UOp bits = as_word(value);
  const UOp magnitude = bits & word(bits, 0x7fffffff);
  const UOp sign = shr(bits, sign_distance(f)) & word(bits, f.sign_bit());

  UOp result = round_magnitude(f, magnitude);
  result = where(less(word(bits, f.max_finite()), result), word(bits, f.overflow()), result);
  if (is_ieee(f)) {
    result = where(less(word(bits, float_infinity), magnitude), word(bits, f.nan()), result);
  }
  const UOp with_sign = result | sign;
  if (f.specials == SmallFloat::Specials::FiniteUnsigned) {  // has no -0
    result = where(equal(result, 0), result, with_sign);
  } else {
    result = with_sign;
  }
  return cast(result, bits_type(small));
}

UOp decode(DType small, UOp small_bits, const Caps& caps) {
  const SmallFloat& f = format_of(small);
  const UOp bits = cast(small_bits, DType::UInt32);
  if (is_front_of_float(f)) return as_float(shl(bits, float_mantissa - f.mantissa_bits));

  const UOp magnitude = bits & word(bits, f.sign_bit() - 1);
  const UOp placed = shl(magnitude, float_mantissa - f.mantissa_bits);
  UOp value = caps.keeps_subnormals ? scaled(f, placed) : rebiased(f, magnitude, placed);
  if (is_ieee(f)) {
    const UOp special = placed | word(bits, float_infinity);
    value = where(less(magnitude, word(bits, f.overflow())), value, special);
  } else {
    const UOp quiet_nan = word(bits, 0x7fc00000);
    const bool is_signed = f.specials == SmallFloat::Specials::Finite;
    const UOp tested = is_signed ? magnitude : bits;
    value = where(equal(tested, word(bits, f.nan())), quiet_nan, value);
  }
  const UOp sign = shl(bits & word(bits, f.sign_bit()), sign_distance(f));
  return as_float(value | sign);
}

// Rounded to the nearest and, where that was not exact, moved to the neighbour with an odd last
// bit: the bits that were lost have left a trace there.  Rounding that to a type with at least two
// mantissa bits fewer is the same as rounding once (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums", IEEE Trans. Computers 2008): a number half-way between two of the type,
// or a number of the type, has an even last bit here, so that only an exact one can meet it.
UOp to_odd_float(UOp x) {
  const UOp nearest = cast(x, DType::Float32), back = cast(nearest, x.dtype());
  UOp too_far = less(x, back);
  if (!is_unsigned(x.dtype())) {
    too_far = where(less(x, constant_like(x, 0)), less(back, x), too_far);
  }
  const UOp bits = as_word(nearest);
  const UOp odd = (bits - cast(too_far, DType::UInt32)) | word(x, 1);
  return where(equal(back, x), nearest, as_float(odd));
}

}  // namespace croze::expand
