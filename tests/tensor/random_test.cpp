// Random numbers: distribution, seeds, independence.
#include <cmath>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

struct Moments {
  double mean = 0, var = 0, low = 1e300, high = -1e300;
};

Moments moments_of(const Tensor& t) {
  Moments m;
  const std::vector<double> v = t.to_vector<double>();
  for (double x : v) {
    m.mean += x / static_cast<double>(v.size());
    m.low = std::fmin(m.low, x);
    m.high = std::fmax(m.high, x);
  }
  for (double x : v) m.var += (x - m.mean) * (x - m.mean) / static_cast<double>(v.size());
  return m;
}

TEST(Random, IsUniform) {
  manual_seed(1);
  for (DType t : {DType::Float32, DType::Float64, DType::Float16}) {
    const Moments m = moments_of(Tensor::rand({100, 200}, {.dtype = t}));
    EXPECT_NEAR(m.mean, 0.5, 0.01);
    EXPECT_NEAR(m.var, 1.0 / 12, 0.003);
    EXPECT_GE(m.low, 0);
    EXPECT_LT(m.high, 1);
  }
}

TEST(Random, IsNormal) {
  manual_seed(1);
  const Moments m = moments_of(Tensor::randn({200, 200}));
  EXPECT_NEAR(m.mean, 0, 0.02);
  EXPECT_NEAR(m.var, 1, 0.03);
  EXPECT_GT(m.high, 3);
  EXPECT_LT(m.high, 7);
}

TEST(Random, DrawsIntegersFromTheWholeInterval) {
  manual_seed(1);
  const std::vector<int> v = Tensor::randint(-2, 3, {5000}).to_vector<int>();
  int counts[5] = {};
  for (int x : v) {
    ASSERT_TRUE(-2 <= x && x < 3);
    counts[x + 2]++;
  }
  for (int c : counts) EXPECT_NEAR(c, 1000, 150);
  EXPECT_EQ(Tensor::randint(0, 9, {2}, {.dtype = DType::Int8}).dtype(), DType::Int8);
  const Moments wide = moments_of(Tensor::randint(0, std::int64_t{1} << 40, {2000}));
  EXPECT_NEAR(wide.mean / 0x1p40, 0.5, 0.03);
}

TEST(Random, RepeatsForASeedAndNotOtherwise) {
  manual_seed(7);
  const auto a = Tensor::rand({8}).to_vector<float>(), b = Tensor::rand({8}).to_vector<float>();
  EXPECT_NE(a, b);
  manual_seed(7);
  EXPECT_EQ(Tensor::rand({8}).to_vector<float>(), a);
  EXPECT_EQ(Tensor::rand({8}).to_vector<float>(), b);
  manual_seed(8);
  EXPECT_NE(Tensor::rand({8}).to_vector<float>(), a);
}

TEST(Random, FollowsAStateThatIsSetAgain) {
  manual_seed(11);
  Tensor::rand({3}).realize();
  const RandomState state = random_state();
  EXPECT_EQ(state.seed, 11u);
  const auto draw = [] {
    std::vector<float> numbers = Tensor::randn({5}).to_vector<float>();
    const auto order = randperm(6).to_vector<float>();
    numbers.insert(numbers.end(), order.begin(), order.end());
    return numbers;
  };
  const auto first = draw(), second = draw();
  EXPECT_NE(first, second);
  set_random_state(state);
  EXPECT_EQ(random_state(), state);
  EXPECT_EQ(draw(), first);
  EXPECT_EQ(draw(), second);
}

TEST(Random, ATensorKeepsItsNumbers) {
  const Tensor x = Tensor::rand({4});
  expect_numbers(x - x, {0, 0, 0, 0});
  const auto first = (x + 0).to_vector<float>();
  EXPECT_EQ(x.to_vector<float>(), first);
}

TEST(Random, AnElementDependsOnItsPositionAlone) {
  const auto drawn = [](const Shape& shape) {
    manual_seed(9);
    auto values = Tensor::rand(shape).to_vector<float>();
    const auto normal = Tensor::randn(shape).to_vector<float>();
    values.resize(60);
    values.insert(values.end(), normal.begin(), normal.begin() + 60);
    return values;
  };
  const auto first = drawn({60});
  EXPECT_EQ(drawn({64}), first);
  EXPECT_EQ(drawn({1000}), first);
  EXPECT_EQ(drawn({33, 100}), first);
}

// Elements that a call of Threefry gives together are of no more use for guessing each other than
// any others.
TEST(Random, ElementsThatLieARunApartAreIndependent) {
  manual_seed(2);
  constexpr std::int64_t count = 1 << 16, apart = 32;
  for (const Tensor& x : {Tensor::rand({count}) - 0.5, Tensor::randn({count})}) {
    for (const Tensor& y : {x, abs(x), x * x}) {
      const Tensor z = y - mean(y);
      for (std::int64_t lag : {std::int64_t{1}, apart, 2 * apart}) {
        const Tensor products = narrow(z, 0, 0, count - lag) * narrow(z, 0, lag, count - lag);
        EXPECT_LT(std::fabs((mean(products) / mean(z * z)).item<double>()), 0.02) << lag;
      }
    }
  }
}

TEST(Random, IsThreefryOfThePosition) {
  manual_seed(5);
  expect_reference(Tensor::rand({16}), 0);
  expect_reference(Tensor::randint(0, 1000, {16}));
  expect_reference(Tensor::randn({16}), 1e-6);
  for (const Shape& shape : {Shape{128}, Shape{100}, Shape{6, 50}, Shape{3, 2001}}) {
    expect_reference(Tensor::rand(shape), 0);
    expect_reference(Tensor::randn(shape), 1e-6);
    expect_reference(sum(Tensor::rand(shape), -1), 1e-4);
  }
}

}  // namespace
}  // namespace croze
