// Arithmetic, promotion, broadcasting and maths, against the reference and the C++ library.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include "croze/base/half.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor of(std::initializer_list<float> values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}
Tensor ints(std::initializer_list<int> values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}
Tensor typed(DType t) { return Tensor::ones({2}, {.dtype = t}); }

TEST(Elementwise, Computes) {
  const Tensor a = of({1, -2, 3}), b = of({4, 5, -6});
  expect_numbers(a + b, {5, 3, -3});
  expect_numbers(a - b, {-3, -7, 9});
  expect_numbers(a * b, {4, -10, -18});
  expect_numbers(b / a, {4, -2.5, -2});
  expect_numbers(-a, {-1, 2, -3});
  expect_numbers(1 - a, {0, 3, -2});
  expect_numbers(6 / a, {6, -3, 2});
  expect_numbers(maximum(a, b), {4, 5, 3});
  expect_numbers(minimum(a, 0), {0, -2, 0});
  expect_numbers(a.add(b).mul(2), {10, 6, -6});
  expect_numbers(lerp(a, b, 0.5), {2.5, 1.5, -1.5});
}

TEST(Elementwise, DividesIntegersAsPythonDoes) {
  const Tensor a = ints({7, -7, 7, -7}), b = ints({2, 2, -2, -2});
  expect_numbers(a / b, {3.5, -3.5, -3.5, 3.5});
  EXPECT_EQ((a / b).dtype(), DType::Float32);
  expect_numbers(floor_divide(a, b), {3, -4, -4, 3});
  expect_numbers(a % b, {1, 1, -1, -1});
  expect_numbers(floor_divide(a, 0), {0, 0, 0, 0});
  expect_numbers(a % 0, {7, -7, 7, -7});
  expect_numbers(of({7.5f, -7.5f}) % 2, {1.5, 0.5});
  expect_numbers(floor_divide(of({7.5f, -7.5f}), 2), {3, -4});
}

TEST(Elementwise, PromotesAsPyTorchDoes) {
  const auto result = [](DType a, DType b) { return (typed(a) + typed(b)).dtype(); };
  EXPECT_EQ(result(DType::Bool, DType::Int8), DType::Int8);
  EXPECT_EQ(result(DType::Int8, DType::UInt8), DType::Int16);
  EXPECT_EQ(result(DType::Int64, DType::Float16), DType::Float16);
  EXPECT_EQ(result(DType::Float16, DType::BFloat16), DType::Float32);
  EXPECT_EQ(result(DType::Float32, DType::Float64), DType::Float64);
  EXPECT_EQ(result(DType::Bool, DType::Bool), DType::Bool);
}

TEST(Elementwise, ANumberNeverWidens) {
  EXPECT_EQ((typed(DType::Int8) + 1).dtype(), DType::Int8);
  EXPECT_EQ((typed(DType::Int32) + 2.5).dtype(), DType::Float32);
  EXPECT_EQ((typed(DType::Float16) * 2.0).dtype(), DType::Float16);
  EXPECT_EQ((typed(DType::Float64) * 2.0f).dtype(), DType::Float64);
  EXPECT_EQ((typed(DType::Bool) + 1).dtype(), DType::Int64);
  EXPECT_EQ((typed(DType::UInt8) & true).dtype(), DType::UInt8);
  EXPECT_EQ((1 - typed(DType::BFloat16)).dtype(), DType::BFloat16);
}

TEST(Elementwise, ATensorWithoutAxesRanksBelowOneWith) {
  const Tensor number = Tensor::scalar(2.5, {.dtype = DType::Float64});
  EXPECT_EQ((typed(DType::Float16) * number).dtype(), DType::Float16);
  EXPECT_EQ((typed(DType::Int32) * number).dtype(), DType::Float64);
  EXPECT_EQ((number * Tensor::scalar(1, {.dtype = DType::Float32})).dtype(), DType::Float64);
}

TEST(Elementwise, Broadcasts) {
  const Tensor column = Tensor::from_data({1.f, 2.f}, {2, 1}), row = of({10, 20, 30});
  expect_numbers(column + row, {11, 21, 31, 12, 22, 32});
  EXPECT_EQ((Tensor::zeros({0, 1}) + row).shape(), (Shape{0, 3}));
  EXPECT_EQ((Tensor::zeros({4, 1, 3}) + Tensor::zeros({2, 1})).shape(), (Shape{4, 2, 3}));
}

TEST(Elementwise, RaisesToPowers) {
  expect_numbers(pow(of({2, -3}), 2), {4, 9});
  expect_numbers(pow(of({4, 9}), 0.5), {2, 3});
  expect_numbers(pow(of({2, 4}), -1), {0.5, 0.25});
  expect_numbers(pow(of({2, 3}), of({3, 2})), {8, 9}, 1e-5);
  expect_numbers(pow(2, of({3, -1})), {8, 0.5}, 1e-5);
  expect_numbers(pow(ints({2, -3}), 5), {32, -243});
  expect_numbers(pow(ints({2, 0}), 0), {1, 1});
  expect_numbers(pow(of({0, 2}), 0), {1, 1});
}

TEST(Elementwise, WorksOnBits) {
  const Tensor a = ints({12, -1}), b = ints({10, 3});
  expect_numbers(a & b, {8, 3});
  expect_numbers(a | b, {14, -1});
  expect_numbers(a ^ b, {6, -4});
  expect_numbers(~a, {-13, 0});
  expect_numbers(a << 2, {48, -4});
  expect_numbers(a >> 1, {6, -1});
  const Tensor t = Tensor::from_data({true, false}, {2});
  expect_numbers(~t, {0, 1});
  expect_numbers(t + t, {1, 0});
  expect_numbers(logical_and(a, b - 3), {1, 0});
  expect_numbers(logical_or(a - 12, b - 3), {1, 1});
  expect_numbers(logical_xor(t, true), {0, 1});
  expect_numbers(!a, {0, 0});
}

TEST(Elementwise, Compares) {
  const Tensor a = of({1, 2, nanf("")}), b = of({2, 2, 2});
  expect_numbers(a < b, {1, 0, 0});
  expect_numbers(a <= b, {1, 1, 0});
  expect_numbers(a > b, {0, 0, 0});
  expect_numbers(a >= b, {0, 1, 0});
  expect_numbers(a == b, {0, 1, 0});
  expect_numbers(a != b, {1, 0, 1});
  EXPECT_EQ((a < 1).dtype(), DType::Bool);
}

TEST(Elementwise, Chooses) {
  const Tensor a = of({1, 2, 3});
  expect_numbers(where(a > 1, a, -a), {-1, 2, 3});
  expect_numbers(where(a > 1, 7, 0.5), {0.5, 7, 7});
  EXPECT_EQ(where(a > 1, 7, 8).dtype(), DType::Int64);
  expect_numbers(a.masked_fill(a == 2, -1), {1, -1, 3});
  expect_numbers(a.clamp(1.5, 2.5), {1.5, 2, 2.5});
  expect_numbers(a.clamp({}, 2), {1, 2, 2});
  expect_numbers(ints({1, 5}).clamp(2), {2, 5});
}

TEST(Elementwise, Rounds) {
  const Tensor a = of({-2.5f, -1.5f, -0.5f, -0.3f, 0.f, 0.5f, 1.5f, 2.5f, 2.7f, 1e9f});
  expect_numbers(round(a), {-2, -2, 0, 0, 0, 0, 2, 2, 3, 1e9});
  expect_numbers(floor(a), {-3, -2, -1, -1, 0, 0, 1, 2, 2, 1e9});
  expect_numbers(ceil(a), {-2, -1, 0, 0, 0, 1, 2, 3, 3, 1e9});
  expect_numbers(trunc(a), {-2, -1, 0, 0, 0, 0, 1, 2, 2, 1e9});
  EXPECT_TRUE(std::signbit(round(of({-0.3f})).item<float>()));
  EXPECT_TRUE(std::signbit(ceil(of({-0.3f})).item<float>()));
  for (const auto f : {round, floor, ceil, trunc}) {
    expect_numbers(f(Tensor::from_data({inf, -inf, nan}, {3}), {}), {inf, -inf, nan});
    EXPECT_EQ(f(ints({3}), {}).dtype(), DType::Int32);
  }
}

TEST(Elementwise, SignsAndSpecialValues) {
  const Tensor a = Tensor::from_data({-2., -0., 0., 3., inf, -inf, nan}, {7});
  expect_numbers(abs(a), {2, 0, 0, 3, inf, inf, nan});
  EXPECT_FALSE(std::signbit(abs(a).to_vector<double>()[1]));
  expect_numbers(sign(a), {-1, 0, 0, 1, 1, -1, 0});
  expect_numbers(isnan(a), {0, 0, 0, 0, 0, 0, 1});
  expect_numbers(isinf(a), {0, 0, 0, 0, 1, 1, 0});
  expect_numbers(isfinite(a), {1, 1, 1, 1, 0, 0, 0});
  expect_numbers(relu(a), {0, 0, 0, 3, inf, 0, nan});
  expect_numbers(maximum(a, 1), {1, 1, 1, 3, inf, 1, nan});
  expect_numbers(a.clamp(-1, 1), {-1, 0, 0, 1, 1, -1, nan});
  expect_numbers(abs(ints({-3, 2})), {3, 2});
  expect_numbers(a * 0, {0, 0, 0, 0, nan, nan, nan});
}

// ---- maths against the C++ library --------------------------------------------------------------

struct Maths {
  const char* name;
  Tensor (*f)(const Tensor&, Location);
  double (*truth)(double);
  std::vector<double> points;
  double ulp = 1;  // how far from the truth a Float32 may be
};

const std::vector<double> everywhere{-80,   -20, -5,   -2,   -1,  -0.7,  -0.3,  -0.1,  -1e-3,
                                     -1e-8, 0,   1e-8, 1e-3, 0.1, 0.249, 0.251, 0.499, 0.51,
                                     0.9,   1,   1.01, 2,    3,   5,     10,    20,    80};
const std::vector<double> positive{1e-30, 1e-8, 0.1, 0.5, 0.999, 1, 1.001, 2, 10, 1e8, 1e30};
const std::vector<double> unit{-1, -0.999, -0.7, -0.2, -1e-6, 0, 1e-6, 0.3, 0.5, 0.8, 0.9999, 1};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// clang-format off
const Maths maths[] = {
    {"exp", exp, std::exp, everywhere},        {"exp2", exp2, std::exp2, everywhere},
    {"expm1", expm1, std::expm1, everywhere},  {"log", log, std::log, positive},
    {"log2", log2, std::log2, positive},       {"log10", log10, std::log10, positive},
    {"log1p", log1p, std::log1p, {-0.99, -0.5, -0.26, -0.24, -1e-3, -1e-8, 0, 1e-8, 1e-3, 0.24, 0.26, 1, 10, 1e8}, 2},
    {"sqrt", sqrt, std::sqrt, positive},       {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, positive},
    {"reciprocal", reciprocal, [](double x) { return 1 / x; }, {-1e20, -2, -1, 0.1, 0.5, 3, 1e20}},
    {"sin", sin, std::sin, everywhere},        {"cos", cos, std::cos, everywhere},
    {"tan", tan, std::tan, {-1.5, -1, -0.1, 0, 0.1, 1, 1.5, 3}},
    {"asin", asin, std::asin, unit, 2},           {"acos", acos, std::acos, unit, 2},
    {"atan", atan, std::atan, everywhere, 3},     {"sinh", sinh, std::sinh, everywhere, 2},
    {"cosh", cosh, std::cosh, everywhere, 2},     {"tanh", tanh, std::tanh, everywhere},
    {"erf", erf, std::erf, everywhere},        {"sigmoid", sigmoid, sigmoid_of, everywhere},
    {"relu", relu, [](double x) { return std::fmax(x, 0); }, everywhere},
    {"relu6", relu6, [](double x) { return std::fmin(std::fmax(x, 0), 6); }, everywhere},
    {"silu", silu, [](double x) { return x * sigmoid_of(x); }, everywhere, 2},
    {"gelu", [](const Tensor& x, Location) { return gelu(x); }, [](double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }, everywhere, 3},
    {"gelu_tanh", [](const Tensor& x, Location) { return gelu(x, Gelu::Tanh); },
     [](double x) { return x * sigmoid_of(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)); }, everywhere, 2},
    {"elu", [](const Tensor& x, Location) { return elu(x, 1.5); }, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }, everywhere},
    {"leaky_relu", [](const Tensor& x, Location) { return leaky_relu(x); }, [](double x) { return x > 0 ? x : 0.01 * x; }, everywhere},
    {"softplus", [](const Tensor& x, Location) { return softplus(x, 2); },
     [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-2 * std::abs(x))) / 2; }, everywhere, 2},
    {"hardtanh", [](const Tensor& x, Location) { return hardtanh(x); }, [](double x) { return std::fmin(std::fmax(x, -1), 1); }, everywhere},
    {"hardswish", hardswish, [](double x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }, everywhere, 2},
    {"mish", mish, [](double x) { return x * std::tanh(std::fmax(x, 0) + std::log1p(std::exp(-std::abs(x)))); }, everywhere},
};
// clang-format on

class MathsTest : public testing::TestWithParam<Maths> {};

// The largest error in units of the last place of the result, or of 1e-6 if that is smaller.
double worst_error(const Maths& m, DType t) {
  const std::int64_t count = static_cast<std::int64_t>(m.points.size());
  const Tensor x = Tensor::from_data(m.points, {count}).cast(t).realize();
  const std::vector<double> at = x.to_vector<double>(), got = m.f(x, {}).to_vector<double>();
  const int digits = t == DType::Float32 ? 24 : 53;
  double worst = 0;
  for (std::size_t i = 0; i < at.size(); i++) {
    const double truth = m.truth(at[i]);
    if (std::isinf(truth) || std::abs(truth) > 3e38) continue;
    EXPECT_FALSE(std::isnan(got[i])) << m.name << "(" << at[i] << ")";
    const int exponent = std::ilogb(std::fmax(std::abs(truth), 1e-6));
    worst = std::fmax(worst, std::ldexp(std::abs(got[i] - truth), digits - 1 - exponent));
  }
  return worst;
}

TEST_P(MathsTest, IsAccurateInFloat32) {
  EXPECT_LE(worst_error(GetParam(), DType::Float32), GetParam().ulp) << GetParam().name;
}

// The truth, a double, is off by as much again.
TEST_P(MathsTest, IsAccurateInFloat64) {
  EXPECT_LE(worst_error(GetParam(), DType::Float64), 2 * GetParam().ulp) << GetParam().name;
}

TEST_P(MathsTest, HasTheGradientOfTheLibraryFunction) {
  const Maths& m = GetParam();
  const std::int64_t count = static_cast<std::int64_t>(m.points.size());
  const Tensor x = Tensor::from_data(m.points, {count});
  const std::vector<double> got = m.f(x, {}).sum().gradient({x})[0].to_vector<double>();
  for (std::size_t i = 0; i < got.size(); i++) {
    const double p = m.points[i], step = 1e-5 * std::fmax(std::abs(p), 1e-2);
    const double left = (m.truth(p) - m.truth(p - step)) / step;
    const double right = (m.truth(p + step) - m.truth(p)) / step;
    if (!std::isfinite(left) || !std::isfinite(right)) continue;
    const double low = std::fmin(left, right), high = std::fmax(left, right);
    const double slack = 1e-4 * std::fmax(1, std::abs(high)) + (high - low) * 0.5;
    EXPECT_GE(got[i], low - slack) << m.name << "'(" << p << ")";
    EXPECT_LE(got[i], high + slack) << m.name << "'(" << p << ")";
  }
}

TEST_P(MathsTest, GivesFloatsForIntegersAndHalvesForHalves) {
  EXPECT_EQ(GetParam().f(Tensor::ones({2}, {.dtype = DType::Float16}), {}).dtype(), DType::Float16);
  const DType of_ints = GetParam().f(Tensor::ones({2}, {.dtype = DType::Int32}), {}).dtype();
  const std::string name = GetParam().name;
  if (name == "relu" || name == "relu6" || name == "hardtanh") {
    EXPECT_EQ(of_ints, DType::Int32);
  } else {
    EXPECT_EQ(of_ints, DType::Float32);
  }
}

INSTANTIATE_TEST_SUITE_P(Elementwise, MathsTest, testing::ValuesIn(maths),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Elementwise, BoundedFunctionsHaveFiniteGradientsFarOut) {
  const Tensor x = Tensor::from_data({-1e4f, -200.f, 200.f, 1e4f}, {4});
  expect_numbers(sigmoid(x).sum().gradient({x})[0], {0, 0, 0, 0});
  expect_numbers(tanh(x).sum().gradient({x})[0], {0, 0, 0, 0});
  expect_numbers(erf(x).sum().gradient({x})[0], {0, 0, 0, 0});
  expect_numbers(gelu(x).sum().gradient({x})[0], {0, 0, 1, 1});
  expect_numbers(softplus(x).sum().gradient({x})[0], {0, 0, 1, 1});
  expect_numbers(elu(x).sum().gradient({x})[0], {0, 0, 1, 1});
}

TEST(Elementwise, GradientsAtCornersAreThoseOfPyTorch) {
  const Tensor x = Tensor::zeros({1}).realize();
  expect_numbers(abs(x).sum().gradient({x})[0], {0});
  expect_numbers(relu(x).sum().gradient({x})[0], {0});
  expect_numbers(sigmoid(x).sum().gradient({x})[0], {0.25});
  expect_numbers(tanh(x).sum().gradient({x})[0], {1});
  expect_numbers(softplus(x).sum().gradient({x})[0], {0.5});
  expect_numbers(x.clamp(0, 1).sum().gradient({x})[0], {1});
  expect_numbers(x.norm().gradient({x})[0], {0});
  expect_numbers((x * x).sum().gradient({x})[0], {0});
}

TEST(Elementwise, CastsRoundAndSaturate) {
  expect_numbers(of({2.7f, -2.7f, 300, nanf("")}).cast(DType::Int8), {2, -2, 127, 0});
  expect_numbers(of({0, 0.5f, -3}).cast(DType::Bool), {0, 1, 1});
  expect_numbers(ints({1, 300}).cast(DType::UInt8), {1, 44});
  expect_numbers(of({1}).bitcast(DType::Int32), {0x3f800000});
  expect_numbers(of({1.0009765625f}).cast(DType::BFloat16), {1});
}

// All of them.  A NaN stays one; its other bits are not kept where halfs are computed as doubles.
TEST(Elementwise, HalfsMadeOfBitsAreTheirNumbersAndTheirBits) {
  std::vector<std::uint16_t> bits(1 << 16);
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  const Tensor halfs = Tensor::from_data(bits, {1 << 16}).bitcast(DType::Float16);
  const std::vector<float> numbers = halfs.cast(DType::Float32).to_vector<float>();
  for (std::size_t i = 0; i < bits.size(); i++) {
    const float expected = f16_to_float(bits[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(numbers[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(numbers[i]), std::bit_cast<std::uint32_t>(expected));
    }
  }
  const Tensor stored = halfs.flip({0}).contiguous().realize();
  const auto back = stored.flip({0}).bitcast(DType::UInt16).to_vector<std::uint16_t>();
  for (std::size_t i = 0; i < bits.size(); i++) {
    ASSERT_TRUE(back[i] == bits[i] ||
                (std::isnan(f16_to_float(bits[i])) && std::isnan(f16_to_float(back[i]))))
        << i;
  }
}

}  // namespace
}  // namespace croze
