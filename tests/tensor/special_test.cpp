// Maths and special functions against the C library in double.
#include "croze/tensor/elementwise/special.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Unary = std::function<double(double)>;

std::vector<double> mapped(const std::vector<double>& x, const Unary& f) {
  std::vector<double> y;
  for (double v : x) y.push_back(f(v));
  return y;
}

// f over [low, high] in Float64 (to `tolerance`) and in Float32 (to `narrow_tolerance`).
void expect_function(const std::function<Tensor(const Tensor&)>& f, const Unary& g, double low,
                     double high, double tolerance = 1e-12, double narrow_tolerance = 3e-6) {
  std::vector<double> x;
  for (int i = 0; i <= 200; i++) x.push_back(low + (high - low) * i / 200);
  const Tensor wide = Tensor::from_data(x, {201});
  expect_numbers(f(wide), mapped(x, g), tolerance);
  const Tensor narrow = wide.cast(DType::Float32);
  expect_numbers(f(narrow), mapped(narrow.to_vector<double>(), g), narrow_tolerance);
  EXPECT_EQ(f(narrow).dtype(), DType::Float32);
}

// f' against the central difference of g.
void expect_derivative(const std::function<Tensor(const Tensor&)>& f, const Unary& g,
                       const std::vector<double>& x, double tolerance = 1e-6) {
  const Tensor t = Tensor::from_data(x, {static_cast<std::int64_t>(x.size())});
  const double h = 1e-5;
  expect_numbers(f(t).sum().gradient({t})[0],
                 mapped(x, [&](double v) { return (g(v + h) - g(v - h)) / (2 * h); }), tolerance);
}

double digamma_of(double x) {
  double sum = 0;
  for (; x < 20; x += 1) sum -= 1 / x;
  const double q = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - q * (1. / 12 - q * (1. / 120 - q * (1. / 252 - q / 240)));
}

TEST(Special, InverseHyperbolicFunctions) {
  const auto f = [](const Tensor& x) { return asinh(x); };
  expect_function(
      f, [](double x) { return std::asinh(x); }, -30, 30);
  expect_function(
      f, [](double x) { return std::asinh(x); }, -1e-3, 1e-3, 1e-16);
  expect_function([](const Tensor& x) { return acosh(x); }, [](double x) { return std::acosh(x); },
                  1, 50);
  expect_function([](const Tensor& x) { return atanh(x); }, [](double x) { return std::atanh(x); },
                  -0.99, 0.99);
  expect_numbers(asinh(Tensor::from_data({inf, -inf, 1e30}, {3})), {inf, -inf, std::asinh(1e30)});
  expect_numbers(atanh(Tensor::from_data({1., -1., 2.}, {3})), {inf, -inf, nan});
}

TEST(Special, ErrorFunctions) {
  expect_function([](const Tensor& x) { return erfc(x); }, [](double x) { return std::erfc(x); },
                  -6, 6);
  const Tensor tail = Tensor::from_data({5., 10., 20.}, {3});
  const std::vector<double> got = erfc(tail).to_vector<double>();
  EXPECT_NEAR(got[1] / std::erfc(10.), 1, 1e-12);
  EXPECT_NEAR(got[2] / std::erfc(20.), 1, 1e-12);
  // erf(erfinv(x)) == x.
  expect_function([](const Tensor& x) { return erf(erfinv(x)); }, [](double x) { return x; },
                  -0.999, 0.999);
  expect_numbers(erfinv(Tensor::from_data({0., 0.5, 0.999999, 1., -1., 2.}, {6})),
                 {0, 0.4769362762044699, 3.4589107372754988, inf, -inf, nan}, 1e-13);
  expect_function([](const Tensor& x) { return ndtr(ndtri(x)); }, [](double x) { return x; }, 0.001,
                  0.999);
  expect_numbers(ndtri(Tensor::from_data({0., 1., 1e-20, 0.975}, {4})),
                 {-inf, inf, -9.262340089798408, 1.959963984540054}, 1e-12);
  expect_function([](const Tensor& x) { return log_ndtr(x); },
                  [](double x) { return std::log(0.5 * std::erfc(-x / std::numbers::sqrt2)); }, -25,
                  5, 1e-12);
}

TEST(Special, GammaFunctions) {
  const auto f = [](const Tensor& x) { return lgamma(x); };
  expect_function(
      f, [](double x) { return std::lgamma(x); }, 0.01, 60);
  expect_function(
      f, [](double x) { return std::lgamma(x); }, -4.95, -0.05, 1e-11, 1e-5);
  expect_numbers(f(Tensor::from_data({0., -3., inf, 1., 2.}, {5})), {inf, inf, inf, 0, 0}, 1e-14);
  expect_function([](const Tensor& x) { return digamma(x); }, digamma_of, 0.1, 40, 1e-12);
  expect_numbers(digamma(Tensor::from_data({1., 0.5, -0.5, 0., -2.}, {5})),
                 {-0.5772156649015329, -1.9635100260214235, 0.03648997397857652, -inf, nan}, 1e-12);
  expect_numbers(
      polygamma(1, Tensor::from_data({1., 2., -0.5}, {3})),
      {std::pow(std::numbers::pi, 2) / 6, std::pow(std::numbers::pi, 2) / 6 - 1, 8.934802200544679},
      1e-12);
  expect_numbers(polygamma(2, Tensor::from_data({1.}, {1})), {-2.404113806319188}, 1e-12);
  expect_derivative(
      f, [](double x) { return std::lgamma(x); }, {0.3, 1, 2.5, 20, -1.3}, 1e-5);
  expect_numbers(mvlgamma(Tensor::from_data({3.}, {1}), 2),
                 {std::lgamma(3.) + std::lgamma(2.5) + 0.5 * std::log(std::numbers::pi)}, 1e-12);
}

TEST(Special, BesselFunctions) {
  const auto series = [](double x, int order) {
    double term = order ? x / 2 : 1, sum = term;
    for (int k = 1; k < 200; k++) sum += term *= x * x / 4 / (k * (k + order));
    return sum;
  };
  expect_function([](const Tensor& x) { return i0e(x); },
                  [&](double x) { return series(x, 0) * std::exp(-std::abs(x)); }, -40, 40);
  expect_function([](const Tensor& x) { return i1e(x); },
                  [&](double x) { return series(x, 1) * std::exp(-std::abs(x)); }, -40, 40);
  expect_numbers(i0(Tensor::from_data({0., 1.}, {2})), {1, 1.2660658777520084}, 1e-14);
  expect_numbers(i1(Tensor::from_data({0., 1.}, {2})), {0, 0.5651591039924851}, 1e-14);
}

TEST(Special, LogarithmsAndSinc) {
  expect_function([](const Tensor& x) { return logit(x); },
                  [](double x) { return std::log(x / (1 - x)); }, 0.01, 0.99);
  expect_numbers(logit(Tensor::from_data({0., 1.}, {2}), 0.25), {-std::log(3), std::log(3)}, 1e-12);
  expect_function([](const Tensor& x) { return sinc(x); },
                  [](double x) {
                    const double t = x * std::numbers::pi;
                    return t == 0 ? 1 : std::sin(t) / t;
                  },
                  -5, 5);
  const Tensor x = Tensor::from_data({0., 2., 0., 1.}, {4}),
               y = Tensor::from_data({0., 3., nan, 0.}, {4});
  expect_numbers(xlogy(x, y), {0, 2 * std::log(3), nan, -inf}, 1e-12);
  expect_numbers(xlog1py(x, y), {0, 2 * std::log(4), nan, 0}, 1e-12);
  expect_numbers(entr(Tensor::from_data({0., 1., 0.5, -1.}, {4})), {0, 0, 0.5 * std::log(2), -inf},
                 1e-12);
}

TEST(Special, AnglesAndLengthsInAllQuadrants) {
  const std::vector<double> values = {-inf, -2, -1, -0., 0., 1, 2, inf, nan};
  std::vector<double> ys, xs, angles, lengths;
  for (double y : values) {
    for (double x : values) {
      ys.push_back(y);
      xs.push_back(x);
      angles.push_back(std::atan2(y, x));
      lengths.push_back(std::hypot(y, x));
    }
  }
  const Tensor y = Tensor::from_data(ys, {81}), x = Tensor::from_data(xs, {81});
  expect_numbers(atan2(y, x), angles, 1e-14);
  expect_numbers(hypot(y, x), lengths, 1e-14);
  const Tensor p = Tensor::from_data({3.}, {1}), q = Tensor::from_data({-4.}, {1});
  const std::vector<Tensor> g = atan2(p, q).sum().gradient({p, q});
  expect_numbers(g[0], {-4. / 25}, 1e-12);
  expect_numbers(g[1], {-3. / 25}, 1e-12);
}

TEST(Special, LogarithmsOfSums) {
  const Tensor a = Tensor::from_data({0., 1000., -inf, inf}, {4});
  const Tensor b = Tensor::from_data({1., 1000., -inf, 0.}, {4});
  expect_numbers(logaddexp(a, b), {std::log(1 + std::exp(1.)), 1000 + std::log(2.), -inf, inf},
                 1e-12);
  expect_numbers(logaddexp2(a, b), {std::log2(3), 1001, -inf, inf}, 1e-12);
}

}  // namespace
}  // namespace croze
