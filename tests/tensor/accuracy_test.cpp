// accuracy_test.cpp -- elementary functions as compiled kernels against the C library in a wider
// type.  `croze-bench ulp` does the same for all 2^32 numbers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "support/check.h"

namespace croze::test {
namespace {

// The distance from the truth in units of its last place as a number of type T.
template <typename T, typename Wide>
Wide ulps(T value, Wide truth) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(truth)) return std::isnan(value) ? 0 : Limits::infinity();
  if (std::isinf(truth)) return value == truth ? 0 : Limits::infinity();
  const Wide beyond = std::ldexp(Wide{1}, Limits::max_exponent);
  if (std::isinf(value))
    return std::abs(truth) >= beyond - std::ldexp(beyond, -25) ? 0 : Limits::infinity();
  int exponent = 0;
  std::frexp(truth, &exponent);
  exponent = std::max(exponent, Limits::min_exponent);
  return std::ldexp(std::abs(value - truth), Limits::digits - exponent);
}

struct Function {
  const char* name;
  Tensor (*compute)(const Tensor&, Location);
  double (*truth)(double);
  long double (*wide_truth)(long double);
  double most;  // ulp
};

const Function functions[] = {
    {"exp2", exp2, std::exp2, std::exp2, 1}, {"log2", log2, std::log2, std::log2, 1},
    {"sin", sin, std::sin, std::sin, 1},     {"cos", cos, std::cos, std::cos, 1},
    {"sqrt", sqrt, std::sqrt, std::sqrt, 1}, {"exp", exp, std::exp, std::exp, 1},
    {"log", log, std::log, std::log, 1},     {"tanh", tanh, std::tanh, std::tanh, 1},
    {"erf", erf, std::erf, std::erf, 1.25}};

class Accuracy : public testing::TestWithParam<Function> {};

template <typename T, typename Truth>
void expect_accurate(const std::vector<T>& x, Tensor (*compute)(const Tensor&, Location),
                     Truth truth, double most) {
  const std::vector<T> y = compute(Tensor::from_data(x, {static_cast<std::int64_t>(x.size())}), {})
                               .template to_vector<T>();
  for (std::size_t i = 0; i < x.size(); i++) {
    ASSERT_LE(ulps(y[i], truth(x[i])), most) << "of " << x[i];
  }
}

TEST_P(Accuracy, OfFloat32Holds) {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 6007) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (float v = 0.5f; v < 2; v += 0x1p-17f) x.push_back(v);
  expect_accurate(x, GetParam().compute, GetParam().truth, GetParam().most);
}

TEST_P(Accuracy, OfFloat64Holds) {
  std::mt19937_64 random(3);
  std::vector<double> x;
  for (int i = 0; i < 50'000; i++) {
    x.push_back(std::bit_cast<double>(random()));
    x.push_back(std::ldexp(static_cast<double>(random()), -62) - 2);
  }
  expect_accurate(x, GetParam().compute, GetParam().wide_truth, GetParam().most);
}

TEST(Zeros, KeepTheirSigns) {
  for (auto f : {sin, tanh, erf, sqrt}) {
    for (DType t : {DType::Float32, DType::Float64}) {
      const Tensor zeros = Tensor::from_data({0.0, -0.0}, {2}, {.dtype = t});
      const std::vector<double> values = f(zeros, {}).to_vector<double>();
      EXPECT_FALSE(std::signbit(values[0]));
      EXPECT_TRUE(std::signbit(values[1]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Accuracy, testing::ValuesIn(functions),
                         [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace croze::test
