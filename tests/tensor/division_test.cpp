// Quotients, rests, integer powers, rounding and the bits of floats.
#include <cmath>
#include <limits>
#include <numeric>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Division, RestsOfFloatsAreExact) {
  std::vector<double> as, bs, fmods, remainders;
  for (double a : {5.5, -5.5, 1e10, 1.0, 0.3, 7.0, -0.0, 1e-3, inf, nan}) {
    for (double b : {2.0, -2.0, 0.1, 3.0, 1e-4, inf, 0.0}) {
      as.push_back(a);
      bs.push_back(b);
      const double rest = std::fmod(a, b);
      fmods.push_back(rest);
      remainders.push_back(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
  }
  const Shape shape{static_cast<std::int64_t>(as.size())};
  const Tensor a = Tensor::from_data(as, shape), b = Tensor::from_data(bs, shape);
  expect_numbers(fmod(a, b), fmods, 0);
  expect_numbers(remainder(a, b), remainders, 0);
  const Tensor f = a.cast(DType::Float32), g = b.cast(DType::Float32);
  const std::vector<float> fs = f.to_vector<float>(), gs = g.to_vector<float>();
  std::vector<double> singles;
  for (std::size_t i = 0; i < fs.size(); i++) singles.push_back(std::fmod(fs[i], gs[i]));
  expect_numbers(fmod(f, g), singles, 0);
  const Tensor x = Tensor::from_data({7.5}, {1}), y = Tensor::from_data({2.}, {1});
  const std::vector<Tensor> gradients = fmod(x, y).sum().gradient({x, y});
  expect_numbers(gradients[0], {1});
  expect_numbers(gradients[1], {-3});
}

// A quotient looks at the sign of a product that has wrapped.
TEST(Division, OfEvenProductsThatWrap) {
  const Tensor x = Tensor::from_data({-8, -7, 1, 2, 8}, {5}).cast(DType::Int8).realize();
  expect_numbers(floor_divide(x * -114, -115), {0, -1, 0, -1, -1});
}

TEST(Division, RoundsAsAsked) {
  const Tensor a = Tensor::from_data({7, -7, 7, -7, 5}, {5});
  const Tensor b = Tensor::from_data({2, 2, -2, -2, 0}, {5});
  expect_numbers(div(a, b, Rounding::Trunc).narrow(0, 0, 4), {3, -3, -3, 3});
  expect_numbers(div(a, b, Rounding::Floor).narrow(0, 0, 4), {3, -4, -4, 3});
  expect_numbers(fmod(a, b).narrow(0, 0, 4), {1, -1, 1, -1});
  expect_numbers(remainder(a, b).narrow(0, 0, 4), {1, 1, -1, -1});
  EXPECT_EQ(div(a, b, Rounding::Trunc).dtype(), DType::Int32);
  const Tensor x = Tensor::from_data({1.0, -1.0, 6.0}, {3}),
               y = Tensor::from_data({0.1, 0.1, 2.0}, {3});
  expect_numbers(floor_divide(x, y), {9, -10, 3});
  expect_numbers(floor_divide(Tensor::from_data({1., -1., 0.}, {3}), 0.0), {inf, -inf, nan});
}

TEST(Division, CommonDivisors) {
  std::vector<std::int64_t> a, b;
  std::vector<double> gcds, lcms;
  for (std::int64_t i : {0, 1, -12, 18, 1 << 20, 832040, 7}) {
    for (std::int64_t j : {0, 8, 30, -27, 514229, 49}) {
      a.push_back(i);
      b.push_back(j);
      gcds.push_back(static_cast<double>(std::gcd(i, j)));
      lcms.push_back(static_cast<double>(std::lcm(i, j)));
    }
  }
  const Shape shape{static_cast<std::int64_t>(a.size())};
  expect_numbers(gcd(Tensor::from_data(a, shape), Tensor::from_data(b, shape)), gcds);
  expect_numbers(lcm(Tensor::from_data(a, shape), Tensor::from_data(b, shape)), lcms);
}

TEST(Division, IntegerPowersWrapAndInvert) {
  const Tensor base = Tensor::from_data({2, -3, 1, -1, 5, 0}, {6});
  expect_numbers(pow(base, Tensor::from_data({10, 3, -5, -3, -2, 0}, {6})),
                 {1024, -27, 1, -1, 0, 1});
  expect_numbers(float_power(base.narrow(0, 0, 1), -1), {0.5});
  EXPECT_EQ(float_power(base, 2).dtype(), DType::Float64);
  error_of([&] { pow(base, -1); });
}

TEST(Rounding, DecimalsFractionsAndSigns) {
  expect_numbers(round(Tensor::from_data({1.25, 2.345, -1.55}, {3}), 1), {1.2, 2.3, -1.6}, 1e-9);
  expect_numbers(round(Tensor::from_data({1250., 2345.}, {2}), -2), {1200, 2300});
  expect_numbers(frac(Tensor::from_data({1.25, -1.25}, {2})), {0.25, -0.25});
  const Tensor x = Tensor::from_data({1., -1., 0., -0., nan}, {5});
  expect_numbers(signbit(x).narrow(0, 0, 4), {0, 1, 0, 1});
  expect_numbers(signbit(x.cast(DType::BFloat16)).narrow(0, 0, 4), {0, 1, 0, 1});
  const Tensor y = copysign(Tensor::from_data({3, -3}, {2}), Tensor::from_data({-0.f, 2.f}, {2}));
  expect_numbers(y, {-3, 3});
  EXPECT_EQ(y.dtype(), DType::Float32);
  expect_numbers(heaviside(x, 0.5).narrow(0, 0, 4), {1, 0, 0.5, 0.5});
}

TEST(Rounding, NeighboursOfFloats) {
  std::vector<float> a = {1, 1, -1, 0, 0, 65504, 1e30f, -1}, b = {2, 0, -2, 1, -1, 1e9f, 1e30f, 0};
  std::vector<double> expected;
  for (std::size_t i = 0; i < a.size(); i++) expected.push_back(std::nextafterf(a[i], b[i]));
  expect_numbers(nextafter(Tensor::from_data(a, {8}), Tensor::from_data(b, {8})), expected, 0);
}

TEST(Rounding, NumbersForWhatIsNone) {
  const Tensor x = Tensor::from_data({nan, inf, -inf, 2.}, {4}, {.dtype = DType::Float32});
  expect_numbers(nan_to_num(x), {0, 3.4028234663852886e38, -3.4028234663852886e38, 2});
  expect_numbers(nan_to_num(x, 1, 5, -5), {1, 5, -5, 2});
  expect_numbers(nan_to_num(x.cast(DType::Float16)), {0, 65504, -65504, 2});
  const Tensor one = Tensor::from_data({1.f}, {1});
  expect_numbers(fmax(x, one), {1, inf, 1, 2});
  expect_numbers(fmin(x, one), {1, 1, -inf, 1});
  expect_numbers(maximum(x, one), {nan, inf, 1, 2});
}

TEST(Comparison, IsClose) {
  const Tensor a = Tensor::from_data({1., 1., inf, nan, 0.}, {5});
  const Tensor b = Tensor::from_data({1.000001, 1.1, inf, nan, 1e-9}, {5});
  expect_numbers(isclose(a, b), {1, 0, 1, 0, 1});
  expect_numbers(isclose(a, b, {.equal_nan = true}), {1, 0, 1, 1, 1});
  EXPECT_FALSE(allclose(a, b));
  EXPECT_TRUE(allclose(a.narrow(0, 0, 1), b.narrow(0, 0, 1)));
}

}  // namespace
}  // namespace croze
