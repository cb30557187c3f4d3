// Small floats against the processor (f16) and against a search for the nearest value (all).
#include "croze/base/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace croze {
namespace {

struct Format {
  const char* name;
  SmallFloat format;
  int bits;
  double largest, smallest;  // finite, above 0; from the papers that define the types
};

const Format formats[] = {
    {"f16", f16_format, 16, 65504.0, 0x1p-24},
    {"bf16", bf16_format, 16, 0x1.fep127, 0x1p-133},
    {"e4m3", fp8_e4m3_format, 8, 448.0, 0x1p-9},
    {"e5m2", fp8_e5m2_format, 8, 57344.0, 0x1p-16},
    {"e4m3fnuz", fp8_e4m3fnuz_format, 8, 240.0, 0x1p-10},
    {"e5m2fnuz", fp8_e5m2fnuz_format, 8, 57344.0, 0x1p-17},
};

TEST(SmallFloat, HasThePublishedRange) {
  for (const Format& f : formats) {
    float largest = 0, smallest = std::numeric_limits<float>::infinity();
    for (uint32_t bits = 0; bits < 1u << f.bits; ++bits) {
      float value = decode_small_float(f.format, bits);
      if (!std::isfinite(value) || value <= 0) continue;
      largest = std::max(largest, value);
      smallest = std::min(smallest, value);
    }
    EXPECT_EQ(largest, f.largest) << f.name;
    EXPECT_EQ(smallest, f.smallest) << f.name;
  }
}

TEST(SmallFloat, EveryValueSurvivesTheRoundTrip) {
  for (const Format& f : formats) {
    for (uint32_t bits = 0; bits < 1u << f.bits; ++bits) {
      float value = decode_small_float(f.format, bits);
      uint32_t back = encode_small_float(f.format, static_cast<double>(value));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_small_float(f.format, back))) << f.name << ' ' << bits;
      } else {
        EXPECT_EQ(back, bits) << f.name;
      }
    }
  }
}

TEST(SmallFloat, RoundsToNearestWithTiesToEven) {
  std::mt19937_64 random(6);
  for (const Format& f : formats) {
    // Positive values ascend with their bits; between two neighbours the nearer one wins.
    for (uint32_t bits = 0; decode_small_float(f.format, bits) < f.largest; ++bits) {
      double low = static_cast<double>(decode_small_float(f.format, bits));
      double high = static_cast<double>(decode_small_float(f.format, bits + 1));
      double middle = (low + high) / 2;
      uint32_t even = bits % 2 == 0 ? bits : bits + 1;
      ASSERT_EQ(encode_small_float(f.format, middle), even) << f.name << ' ' << middle;
      ASSERT_EQ(encode_small_float(f.format, std::nextafter(middle, 0)), bits) << f.name;
      ASSERT_EQ(encode_small_float(f.format, std::nextafter(middle, 1e300)), bits + 1) << f.name;
      double between = low + (high - low) * 0.49 * static_cast<double>(random() % 1000) / 1000;
      ASSERT_EQ(encode_small_float(f.format, between), bits) << f.name << ' ' << between;
    }
  }
}

TEST(SmallFloat, NegativeNumbersMirrorPositiveOnes) {
  for (const Format& f : formats) {
    for (double value : {0x1p-5, 1.0, 1.7, 100.3}) {
      EXPECT_EQ(encode_small_float(f.format, -value),
                encode_small_float(f.format, value) | f.format.sign_bit());
    }
    bool signed_zero = f.format.specials != SmallFloat::Specials::FiniteUnsigned;
    EXPECT_EQ(encode_small_float(f.format, -0.0), signed_zero ? f.format.sign_bit() : 0);
    EXPECT_EQ(encode_small_float(f.format, -1e-300), signed_zero ? f.format.sign_bit() : 0);
  }
}

TEST(SmallFloat, BeyondTheLargestIsInfinityOrNan) {
  double infinity = std::numeric_limits<double>::infinity();
  for (const Format& f : formats) {
    for (double value : {f.largest * 1.5, 1e300, infinity}) {
      float result = decode_small_float(f.format, encode_small_float(f.format, value));
      if (f.format.specials == SmallFloat::Specials::Ieee) {
        EXPECT_EQ(result, infinity) << f.name;
      } else {
        EXPECT_TRUE(std::isnan(result)) << f.name;
      }
    }
    EXPECT_TRUE(std::isnan(decode_small_float(f.format, encode_small_float(f.format, NAN))));
  }
  EXPECT_EQ(fp8_from(fp8_e4m3_format, 464.0), fp8_from(fp8_e4m3_format, 448.0));
  EXPECT_TRUE(std::isnan(fp8_to_float(fp8_e4m3_format, fp8_from(fp8_e4m3_format, 464.1))));
}

#ifdef __FLT16_MAX__
TEST(SmallFloat, F16AgreesWithTheCompiler) {
  std::mt19937_64 random(7);
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t narrow = static_cast<uint16_t>(bits);
    _Float16 theirs;
    std::memcpy(&theirs, &narrow, 2);
    float value = static_cast<float>(theirs);
    if (!std::isnan(value)) {
      ASSERT_EQ(f16_to_float(narrow), value);
    }
  }
  for (int i = 0; i < 1000000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random());
    float value = std::bit_cast<float>(bits);
    if (i % 2) value = std::ldexp(1 + std::abs(value - std::floor(value)), int(bits % 45) - 28);
    if (std::isnan(value)) continue;
    _Float16 theirs = static_cast<_Float16>(value);
    uint16_t expected;
    std::memcpy(&expected, &theirs, 2);
    ASSERT_EQ(f16_from(static_cast<double>(value)), expected) << value;
  }
}
#endif

TEST(SmallFloat, ConversionsAreConstantExpressions) {
  static_assert(f16_from(1.0) == 0x3c00);
  static_assert(bf16_to_float(0x3f80) == 1.0f);
  static_assert(fp8_from(fp8_e5m2_format, 1.0) == 0x3c);
}

}  // namespace
}  // namespace croze
