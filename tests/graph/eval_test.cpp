// The meaning of the ops on constants, against plain C++ arithmetic and published vectors.
#include "croze/graph/eval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace croze {
namespace {

using i64 = std::int64_t;

i64 apply(Op op, DType t, std::initializer_list<i64> v) {
  return eval(op, t, t, {v.begin(), v.size()});
}

double applied(Op op, DType t, std::initializer_list<double> v) {
  std::vector<i64> bits;
  for (double x : v) bits.push_back(bits_of(x, t));
  return std::bit_cast<double>(eval(op, t, t, bits));
}

template <typename T>
void compare_integer_arithmetic(DType t) {
  std::mt19937_64 rng(1);
  using U = std::make_unsigned_t<T>;
  for (int i = 0; i < 5000; i++) {
    const T x = static_cast<T>(i % 3 ? rng() : rng() % 7),
            y = static_cast<T>(i % 2 ? rng() : rng() % 5);
    const i64 a = static_cast<i64>(x), b = static_cast<i64>(y);
    EXPECT_EQ(static_cast<T>(apply(Op::Add, t, {a, b})), static_cast<T>(U(x) + U(y)));
    EXPECT_EQ(static_cast<T>(apply(Op::Mul, t, {a, b})),
              static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y)));
    EXPECT_EQ(apply(Op::Max, t, {a, b}), static_cast<i64>(std::max(x, y)));
    EXPECT_EQ(apply(Op::Min, t, {a, b}), static_cast<i64>(std::min(x, y)));
    EXPECT_EQ(eval(Op::Lt, DType::Bool, t, std::vector<i64>{a, b}), x < y);
    EXPECT_EQ(eval(Op::Le, DType::Bool, t, std::vector<i64>{a, b}), x <= y);
    if (y == 0) {
      EXPECT_EQ(apply(Op::IDiv, t, {a, b}), 0);
      EXPECT_EQ(apply(Op::Mod, t, {a, b}), a);
      EXPECT_EQ(apply(Op::CDiv, t, {a, b}), 0);
      EXPECT_EQ(apply(Op::CMod, t, {a, b}), a);
      continue;
    }
    const __int128 wide_q = __int128{x} / __int128{y};
    const __int128 floor_q = wide_q - (__int128{x} % __int128{y} != 0 && (x < 0) != (y < 0));
    EXPECT_EQ(static_cast<T>(apply(Op::IDiv, t, {a, b})), static_cast<T>(floor_q));
    EXPECT_EQ(static_cast<T>(apply(Op::Mod, t, {a, b})), static_cast<T>(x - floor_q * y));
    EXPECT_EQ(static_cast<T>(apply(Op::CDiv, t, {a, b})), static_cast<T>(wide_q));
    EXPECT_EQ(static_cast<T>(apply(Op::CMod, t, {a, b})), static_cast<T>(x - wide_q * y));
  }
}

TEST(Eval, IntegersOfEveryWidthWrap) {
  compare_integer_arithmetic<std::int8_t>(DType::Int8);
  compare_integer_arithmetic<std::uint8_t>(DType::UInt8);
  compare_integer_arithmetic<std::int16_t>(DType::Int16);
  compare_integer_arithmetic<std::uint16_t>(DType::UInt16);
  compare_integer_arithmetic<std::int32_t>(DType::Int32);
  compare_integer_arithmetic<std::uint32_t>(DType::UInt32);
  compare_integer_arithmetic<std::int64_t>(DType::Int64);
  compare_integer_arithmetic<std::uint64_t>(DType::UInt64);
}

TEST(Eval, LeastDividedByMinusOneWrapsToItself) {
  EXPECT_EQ(apply(Op::IDiv, DType::Int64, {INT64_MIN, -1}), INT64_MIN);
  EXPECT_EQ(apply(Op::CDiv, DType::Int32, {INT32_MIN, -1}), INT32_MIN);
  EXPECT_EQ(apply(Op::Mod, DType::Int64, {INT64_MIN, -1}), 0);
}

TEST(Eval, ShiftsByTheWidthOrMoreGiveZeroOrTheSign) {
  EXPECT_EQ(apply(Op::Shl, DType::Int32, {1, 32}), 0);
  EXPECT_EQ(apply(Op::Shl, DType::Int32, {1, 31}), INT32_MIN);
  EXPECT_EQ(apply(Op::Shr, DType::Int32, {-8, 40}), -1);
  EXPECT_EQ(apply(Op::Shr, DType::Int32, {-8, 1}), -4);
  EXPECT_EQ(apply(Op::Shr, DType::UInt8, {200, 3}), 25);
  EXPECT_EQ(apply(Op::Shr, DType::UInt64, {-1, 32}), 0xffffffff);
  EXPECT_EQ(apply(Op::Shl, DType::Int64, {5, -1}), 0);
}

TEST(Eval, FloatsRoundAfterEachOpInTheirOwnType) {
  EXPECT_EQ(applied(Op::Add, DType::Float32, {16777216, 1}), 16777216.0);
  EXPECT_EQ(applied(Op::Add, DType::Float64, {16777216, 1}), 16777217.0);
  EXPECT_EQ(applied(Op::Add, DType::Float16, {2048, 1}), 2048.0);
  EXPECT_EQ(applied(Op::Mul, DType::BFloat16, {1.0078125, 1.0078125}), 1.015625);
  EXPECT_EQ(applied(Op::Mul, DType::Float8E4M3, {16, 20}), 320.0);
  EXPECT_TRUE(std::isnan(applied(Op::Mul, DType::Float8E4M3, {256, 16})));
  EXPECT_TRUE(std::isinf(applied(Op::Mul, DType::Float8E5M2, {32768, 4})));
  std::mt19937 rng(3);
  for (int i = 0; i < 2000; i++) {
    const float a = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
    const float b = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
    if (std::isnan(a) || std::isnan(b)) continue;
    const double sum = applied(Op::Add, DType::Float32, {a, b});
    EXPECT_TRUE(sum == static_cast<double>(a + b) || (std::isnan(sum) && std::isnan(a + b)));
    EXPECT_EQ(applied(Op::MulAdd, DType::Float32, {a, b, 1}),
              static_cast<double>(std::fma(a, b, 1.0f)));
  }
}

TEST(Eval, NanWinsAndZerosHaveAnOrder) {
  const double nan = std::nan("");
  for (DType t : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    EXPECT_TRUE(std::isnan(applied(Op::Max, t, {nan, 1})));
    EXPECT_TRUE(std::isnan(applied(Op::Min, t, {1, nan})));
    EXPECT_FALSE(std::signbit(applied(Op::Max, t, {-0.0, 0.0})));
    EXPECT_FALSE(std::signbit(applied(Op::Max, t, {0.0, -0.0})));
    EXPECT_TRUE(std::signbit(applied(Op::Min, t, {0.0, -0.0})));
    EXPECT_TRUE(std::isnan(applied(Op::Mul, t, {0, INFINITY})));
    EXPECT_FALSE(eval(Op::Eq, DType::Bool, t, std::vector<i64>{bits_of(nan, t), bits_of(nan, t)}));
    EXPECT_TRUE(eval(Op::Ne, DType::Bool, t, std::vector<i64>{bits_of(nan, t), bits_of(nan, t)}));
  }
}

TEST(Eval, CastsTruncateSaturateAndWrap) {
  const auto cast = [](double v, DType t) {
    return convert(bits_of(v, DType::Float64), DType::Float64, t);
  };
  EXPECT_EQ(cast(-1.9, DType::Int8), -1);
  EXPECT_EQ(cast(300, DType::Int8), 127);
  EXPECT_EQ(cast(-300, DType::UInt8), 0);
  EXPECT_EQ(cast(1e30, DType::Int64), INT64_MAX);
  EXPECT_EQ(cast(1e30, DType::UInt64), -1);
  EXPECT_EQ(cast(std::nan(""), DType::Int32), 0);
  EXPECT_EQ(cast(0.5, DType::Bool), 1);
  EXPECT_EQ(convert(300, DType::Int32, DType::UInt8), 44);
  EXPECT_EQ(convert(-1, DType::Int8, DType::UInt64), -1);
  EXPECT_EQ(convert(4, DType::Int8, DType::Bool), 1);
  EXPECT_EQ(std::bit_cast<double>(convert(-1, DType::UInt64, DType::Float64)), 0x1p64);
  // One rounding: a tie of bfloat16 plus a bit that a double would lose.
  const i64 just_above = (i64{1} << 62) + (i64{1} << 54) + 1;
  EXPECT_EQ(std::bit_cast<double>(bits_of(just_above, DType::BFloat16)), 0x1p62 + 0x1p55);
}

TEST(Eval, BoolsAreZeroOrOne) {
  EXPECT_EQ(apply(Op::Add, DType::Bool, {1, 1}), 1);
  EXPECT_EQ(apply(Op::Mul, DType::Bool, {1, 0}), 0);
  EXPECT_EQ(apply(Op::Not, DType::Bool, {1}), 0);
  EXPECT_EQ(apply(Op::Xor, DType::Bool, {1, 1}), 0);
}

TEST(Eval, MemoryHoldsTheBitsOfEveryDtype) {
  const struct {
    DType t;
    double value;
    std::uint64_t bits;
  } cases[] = {{DType::Float32, 1.5, 0x3fc00000}, {DType::Float16, -2, 0xc000},
               {DType::BFloat16, 1, 0x3f80},      {DType::Float8E4M3, 448, 0x7e},
               {DType::Float8E5M2, 1, 0x3c},      {DType::Float8E4M3FNUZ, 1, 0x40},
               {DType::Int16, -2, 0xfffe},        {DType::Bool, 1, 1}};
  for (const auto& c : cases) {
    std::uint64_t memory = 0;
    store_bits(bits_of(c.value, c.t), c.t, &memory);
    EXPECT_EQ(memory, c.bits) << name_of(c.t);
    EXPECT_EQ(load_bits(&memory, c.t), bits_of(c.value, c.t)) << name_of(c.t);
  }
}

// Known answers of the Random123 distribution.
// The types "fn" and "fnuz" have no infinity.
TEST(Eval, ReductionsStartFromANumberThatAnyOtherReplaces) {
  const auto start = [](Op op, DType t) { return std::bit_cast<double>(identity_of(op, t)); };
  EXPECT_EQ(start(Op::Max, DType::Float8E4M3), -448);
  EXPECT_EQ(start(Op::Min, DType::Float8E4M3), 448);
  EXPECT_EQ(start(Op::Max, DType::Float8E4M3FNUZ), -240);
  EXPECT_EQ(start(Op::Min, DType::Float8E5M2FNUZ), 57344);
  EXPECT_EQ(start(Op::Max, DType::Float8E5M2), -INFINITY);
  EXPECT_EQ(start(Op::Min, DType::Float32), INFINITY);
  EXPECT_EQ(start(Op::Mul, DType::Float8E4M3), 1);
}

TEST(Eval, ThreefryGivesThePublishedVectors) {
  EXPECT_EQ(threefry2x32(0, 0), 0x99ba4efe6b200159u);
  EXPECT_EQ(threefry2x32(~0ull, ~0ull), 0xbb002be71cb996fcu);
  EXPECT_EQ(threefry2x32(0x85a308d3243f6a88u, 0x0370734413198a2eu), 0x483df7a0c4923a9cu);
}

}  // namespace
}  // namespace croze
