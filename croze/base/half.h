// The small float types in software: f16, bf16 and the four fp8, to and from wider floats.
//
// Conversion from a wide float rounds once, to nearest with ties to even, denormals included.  What
// lies beyond the largest finite value becomes infinity where the type has one and NaN where it has
// none.  NaN becomes the type's quiet NaN and keeps its sign where the type has signed ones.
#pragma once

#include <bit>
#include <cstdint>

namespace croze {

// What a small float type is made of: sign, exponent, mantissa from high to low.
struct SmallFloat {
  enum class Specials {
    Ieee,            // the top exponent is infinity and NaN
    Finite,          // the top exponent is numbers; all ones is NaN, there is no infinity
    FiniteUnsigned,  // "fnuz": as Finite, but the only NaN is what would be -0, and there is no -0
  };

  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }

  // Bits of the largest finite value.
  constexpr uint32_t max_finite() const {
    switch (specials) {
      case Specials::Ieee: return (((1u << exponent_bits) - 1) << mantissa_bits) - 1;
      case Specials::Finite: return sign_bit() - 2;
      default: return sign_bit() - 1;
    }
  }

  // Bits of what lies beyond the largest finite value, without sign.
  constexpr uint32_t overflow() const {
    switch (specials) {
      case Specials::Ieee: return max_finite() + 1;
      case Specials::Finite: return sign_bit() - 1;
      default: return sign_bit();
    }
  }

  // Bits of the quiet NaN, without sign.
  constexpr uint32_t nan() const {
    return specials == Specials::Ieee ? overflow() | 1u << (mantissa_bits - 1) : overflow();
  }
};

inline constexpr SmallFloat f16_format{5, 10, 15, SmallFloat::Specials::Ieee};
inline constexpr SmallFloat bf16_format{8, 7, 127, SmallFloat::Specials::Ieee};
inline constexpr SmallFloat fp8_e5m2_format{5, 2, 15, SmallFloat::Specials::Ieee};
inline constexpr SmallFloat fp8_e4m3_format{4, 3, 7, SmallFloat::Specials::Finite};
inline constexpr SmallFloat fp8_e4m3fnuz_format{4, 3, 8, SmallFloat::Specials::FiniteUnsigned};
inline constexpr SmallFloat fp8_e5m2fnuz_format{5, 2, 16, SmallFloat::Specials::FiniteUnsigned};

// The bits of `value` rounded to the format.
constexpr uint32_t encode_small_float(const SmallFloat& format, double value) {
  constexpr int double_mantissa = 52;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const uint32_t sign = bits >> 63 ? format.sign_bit() : 0;
  const bool has_negative_zero = format.specials != SmallFloat::Specials::FiniteUnsigned;

  const uint64_t infinity = uint64_t{0x7ff} << double_mantissa;
  if (magnitude > infinity) return format.nan() | sign;
  if (magnitude == infinity) return format.overflow() | sign;

  // value = significand * 2^(exponent - 52); doubles too small to be normal are far below half of
  // any format's smallest number and round to zero with exponent -1023 as well.
  const int exponent = static_cast<int>(magnitude >> double_mantissa) - 1023;
  const uint64_t significand =
      (magnitude & ((uint64_t{1} << double_mantissa) - 1)) | uint64_t{1} << double_mantissa;

  // A number below the smallest normal keeps fewer bits: its exponent field is 0, which has the
  // scale of 1.
  int field = exponent + format.bias;
  int dropped = double_mantissa - format.mantissa_bits;
  if (field < 1) {
    dropped += 1 - field;
    field = 1;
  }
  if (dropped > double_mantissa + 1) return has_negative_zero ? sign : 0;

  uint64_t kept = significand >> dropped;
  const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
  const uint64_t half = uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && kept & 1)) ++kept;

  // The hidden bit of `kept` adds the missing 1 to the field; a carry moves to the next exponent.
  const uint64_t result = (static_cast<uint64_t>(field - 1) << format.mantissa_bits) + kept;
  if (result > format.max_finite()) return format.overflow() | sign;
  if (result == 0 && !has_negative_zero) return 0;
  return static_cast<uint32_t>(result) | sign;
}

// The value of the bits, exactly.
constexpr float decode_small_float(const SmallFloat& format, uint32_t bits) {
  const uint32_t sign = bits & format.sign_bit() ? 1u << 31 : 0;
  const uint32_t magnitude = bits & (format.sign_bit() - 1);
  const uint32_t quiet_nan = 0x7fc00000u;
  switch (format.specials) {
    case SmallFloat::Specials::Ieee:
      if (magnitude > format.overflow()) return std::bit_cast<float>(quiet_nan | sign);
      if (magnitude == format.overflow()) return std::bit_cast<float>(0x7f800000u | sign);
      break;
    case SmallFloat::Specials::Finite:
      if (magnitude > format.max_finite()) return std::bit_cast<float>(quiet_nan | sign);
      break;
    case SmallFloat::Specials::FiniteUnsigned:
      if (bits == format.sign_bit()) return std::bit_cast<float>(quiet_nan);
      break;
  }
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t fraction = magnitude & ((1u << format.mantissa_bits) - 1);
  if (format.exponent_bits == 8) return std::bit_cast<float>(sign | magnitude << 16);  // bf16

  // Both factors and the product are exact: 2^scale is a normal float for every format here.
  const uint32_t integer = field == 0 ? fraction : fraction | 1u << format.mantissa_bits;
  const int scale = (field == 0 ? 1 : field) - format.bias - format.mantissa_bits;
  const float power = std::bit_cast<float>(static_cast<uint32_t>(scale + 127) << 23);
  const float result = static_cast<float>(integer) * power;
  return sign ? -result : result;
}

constexpr uint16_t f16_from(double value) {
  return static_cast<uint16_t>(encode_small_float(f16_format, value));
}
constexpr float f16_to_float(uint16_t bits) { return decode_small_float(f16_format, bits); }

constexpr float bf16_to_float(uint16_t bits) { return decode_small_float(bf16_format, bits); }

// The four fp8 types take their format: fp8_from(fp8_e4m3_format, 0.3).
constexpr uint8_t fp8_from(const SmallFloat& format, double value) {
  return static_cast<uint8_t>(encode_small_float(format, value));
}
constexpr float fp8_to_float(const SmallFloat& format, uint8_t bits) {
  return decode_small_float(format, bits);
}

}  // namespace croze
