// Functions with a gradient of the user's: against differences, differentiated again, over
// containers, inside of captured steps.
#include "croze/tensor/custom_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "croze/croze.h"
#include "croze/tensor/gradient.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;
using Doubles = std::vector<double>;

Tensor doubles(const Doubles& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

// The derivative of f, elementwise, by central differences.
double difference(const std::function<Tensor(const Tensor&)>& f, double x) {
  const double h = 1e-5;
  const auto at = [&](double v) { return f(doubles({v})).item<double>(); };
  return (at(x + h) - at(x - h)) / (2 * h);
}

void expect_gradient_of_differences(const std::function<Tensor(const Tensor&)>& f) {
  const Doubles places{-1.5, -0.2, 0.3, 2};
  const Tensor x = doubles(places);
  const Doubles g = f(x).sum().gradient({x})[0].to_vector<double>();
  for (std::size_t i = 0; i < places.size(); i++) {
    EXPECT_NEAR(g[i], difference(f, places[i]), 1e-8 * (1 + std::abs(g[i])));
  }
}

Tensor derivative(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  return f(x).sum().gradient({x})[0];
}

const auto softplus = custom_gradient(
    [](const Tensor& x) { return log1p(exp(x)); },
    [](const Tensor&, const Tensor& y, const Tensor& g) { return g * (1 - exp(-y)); });

TEST(CustomGradient, AgreesWithDifferences) { expect_gradient_of_differences(softplus); }

TEST(CustomGradient, ThroughTheOutputCanBeDifferentiatedAgain) {
  const auto first = [](const Tensor& x) { return derivative(softplus, x); };
  const auto second = [&](const Tensor& x) { return derivative(first, x); };
  expect_gradient_of_differences(first);
  expect_gradient_of_differences(second);
}

// The forward function has no gradient of use, so all derivatives come from the given one.
TEST(CustomGradient, IsThatOfTheOutputInItsOwnGradientToo) {
  const auto own_exp =
      custom_gradient([](const Tensor& x) { return exp(x).detach(); },
                      [](const Tensor&, const Tensor& y, const Tensor& g) { return g * y; });
  const auto first = [&](const Tensor& x) { return derivative(own_exp, x); };
  const auto second = [&](const Tensor& x) { return derivative(first, x); };
  for (const auto& f : std::vector<std::function<Tensor(const Tensor&)>>{own_exp, first, second}) {
    expect_gradient_of_differences(f);
  }
}

TEST(CustomGradient, OfRoundingMayBeThatOfTheIdentity) {
  const auto rounded =
      custom_gradient([](const Tensor& x) { return round(x); },
                      [](const Tensor&, const Tensor&, const Tensor& g) { return g; });
  const Tensor x = doubles({0.4, 1.6}), w = doubles({3, 5});
  const Tensor loss = (rounded(x) * w).sum();
  EXPECT_EQ(loss.item<double>(), 10);
  EXPECT_EQ(loss.gradient({x})[0].to_vector<double>(), (Doubles{3, 5}));
}

TEST(CustomGradient, TakesSeveralInputsAndNumbers) {
  const auto scaled = custom_gradient(
      [](const Tensor& a, const Tensor& b, double factor) { return a * b * factor; },
      [](const Tensor& a, const Tensor& b, double factor, const Tensor&, const Tensor& g) {
        return std::pair(g * b * factor, g * a * factor);
      });
  const Tensor a = doubles({2, 3}), b = doubles({5, 7});
  const std::vector<Tensor> g = scaled(a, b, 10.).sum().gradient({a, b});
  EXPECT_EQ(g[0].to_vector<double>(), (Doubles{50, 70}));
  EXPECT_EQ(g[1].to_vector<double>(), (Doubles{20, 30}));
}

struct Affine {
  std::vector<Tensor> weights;
  Tensor bias;
};

TEST(CustomGradient, TakesContainers) {
  const auto apply = custom_gradient(
      [](const Affine& f, const Tensor& x) {
        Tensor y = f.weights[0] * x + f.weights[1] * x * x;
        return f.bias.defined() ? y + f.bias : y;
      },
      [](const Affine& f, const Tensor& x, const Tensor&, const Tensor& g) {
        const Tensor bias = f.bias.defined() ? g : Tensor();
        const Tensor by_x = g * (f.weights[0] + 2 * f.weights[1] * x);
        return std::pair(Affine{{g * x, g * x * x}, bias}, by_x);
      });
  const Tensor u = doubles({2}), v = doubles({3}), b = doubles({1}), x = doubles({5});
  const std::vector<Tensor> g = apply(Affine{{u, v}, b}, x).sum().gradient({u, v, b, x});
  const Doubles expected{5, 25, 1, 2 + 2 * 3 * 5};
  for (std::size_t i = 0; i < 4; i++) EXPECT_EQ(g[i].item<double>(), expected[i]) << i;
  const Tensor without = apply(Affine{{u, v}, {}}, x);
  EXPECT_EQ(without.item<double>(), 85);
  EXPECT_EQ(without.sum().gradient({x})[0].item<double>(), 32);
}

TEST(CustomGradient, OfIntegersIsLeftOut) {
  const auto pick =
      custom_gradient([](const Tensor& x, const Tensor& i) { return x * i.cast(DType::Float64); },
                      [](const Tensor&, const Tensor& i, const Tensor&, const Tensor& g) {
                        return std::pair(g * i.cast(DType::Float64), Tensor());
                      });
  const Tensor x = doubles({1, 2}), i = Tensor::from_data({3, 4}, {2});
  EXPECT_EQ(pick(x, i).sum().gradient({x})[0].to_vector<double>(), (Doubles{3, 4}));
}

TEST(CustomGradient, DoesNotReachWhatTheFunctionClosesOver) {
  const Tensor w = doubles({2}).realize(), x = doubles({3});
  const auto times =
      custom_gradient([&](const Tensor& t) { return t * w; },
                      [&](const Tensor&, const Tensor&, const Tensor& g) { return g * w; });
  const Tensor loss = times(x).sum();
  EXPECT_EQ(loss.gradient({x})[0].item<double>(), 2);
  EXPECT_EQ(loss.gradient({w})[0].item<double>(), 0);
}

TEST(CustomGradient, OfWrongNumberOrShapeIsAnErrorOnItsLine) {
  const Tensor x = doubles({1, 2});
  const auto returned = [&](const std::vector<Tensor>& gradients) {
    const auto f =
        custom_gradient([](const Tensor& t) { return t * 2; },
                        [&](const Tensor&, const Tensor&, const Tensor&) { return gradients; });
    return error_of([&] { f(x).sum().gradient({x}); });
  };
  for (const std::string& error : {returned({}), returned({x, x})}) {
    EXPECT_NE(error.find("gradients were returned for 1 inputs"), std::string::npos) << error;
    EXPECT_NE(error.find("custom_gradient_test.cpp"), std::string::npos) << error;
  }
  const std::string shape = returned({doubles({1})});
  EXPECT_NE(shape.find("(1,)"), std::string::npos) << shape;
  EXPECT_NE(shape.find("(2,)"), std::string::npos) << shape;
  const auto whole =
      custom_gradient([](const Tensor& t) { return t.cast(DType::Int32); },
                      [](const Tensor&, const Tensor&, const Tensor& g) { return g; });
  EXPECT_NE(error_of([&] { whole(x); }).find("float"), std::string::npos);
}

}  // namespace
}  // namespace croze
