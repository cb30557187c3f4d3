// Gradients that are given by functions, and gradients of several tensors at once.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "croze/croze.h"
#include "croze/run/statistics.h"
#include "croze/tensor/gradient.h"
#include "support/errors.h"

namespace croze {
namespace {

using Floats = std::vector<float>;
using test::error_of;

Tensor floats(const Floats& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

Floats gradient(const Tensor& loss, const Tensor& target) {
  return loss.gradient({target})[0].to_vector<float>();
}

// The sign, with the gradient of the identity.
Tensor straight_through(const Tensor& x) {
  return with_gradient(sign(x), {x},
                       [](const GradientRequest& r) { return std::vector{r.gradients[0]}; });
}

// exp with its gradient, from its value.
Tensor own_exp(const Tensor& x) {
  const Tensor y = exp(x);
  return with_gradient(y, {x, y}, [](const GradientRequest& r) {
    return std::vector{r.gradients[0] * own_exp(r.inputs[0]), Tensor()};
  });
}

TEST(WithGradient, TheValueIsTheValueAndTheGradientIsTheGivenOne) {
  const Tensor x = floats({-2, 3}), w = floats({5, 7});
  const Tensor y = straight_through(x);
  EXPECT_EQ(gradient((y * w).sum(), x), (Floats{5, 7}));
  EXPECT_EQ(gradient((y * w).sum(), w), (Floats{-1, 1}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{-1, 1}));
  EXPECT_EQ(gradient((y * w).sum(), x), (Floats{5, 7})) << "after it was computed";
}

TEST(WithGradient, StandsAmidOtherOperationsBeforeAndAfter) {
  const Tensor x = floats({-2, 3});
  const Tensor loss = (straight_through(x * 4.).square() + straight_through(x) * x).sum();
  // 2 sign(4x) 4 + x + sign(x)
  EXPECT_EQ(gradient(loss, x), (Floats{-8 - 2 - 1, 8 + 3 + 1}));
  loss.realize();
  EXPECT_EQ(gradient(loss, x), (Floats{-8 - 2 - 1, 8 + 3 + 1}));
}

TEST(WithGradient, OfTheIdentityReversesOrScales) {
  const auto reversed = [](const Tensor& x) {
    return with_gradient(x, {x},
                         [](const GradientRequest& r) { return std::vector{-r.gradients[0]}; });
  };
  const Tensor x = floats({1, 2});
  const Tensor y = reversed(x);
  EXPECT_EQ(gradient((y * y).sum(), x), (Floats{-2, -4}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(gradient((y * y).sum(), x), (Floats{-2, -4}));
  EXPECT_EQ(gradient((reversed(reversed(x)) * 3.).sum(), x), (Floats{3, 3}));
  const Tensor turned = reversed(x.reshape({2, 1})).reshape({2});
  EXPECT_EQ(turned.to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(gradient((turned * 3.).sum(), x), (Floats{-3, -3}));
  EXPECT_EQ(gradient((reversed(x.narrow(0, 1, 1)) * 3.).sum(), x), (Floats{0, -3}));
}

TEST(WithGradient, CanBeDifferentiatedAgain) {
  const Tensor x = floats({0, 0.5f});
  const Tensor first = own_exp(x * 2.).sum().gradient({x})[0];
  const Tensor second = first.sum().gradient({x})[0];
  const Tensor third = second.sum().gradient({x})[0];
  for (int i = 0; i < 2; i++) {
    const double e = std::exp(i);
    EXPECT_NEAR(first.to_vector<float>()[i], 2 * e, 1e-5);
    EXPECT_NEAR(second.to_vector<float>()[i], 4 * e, 1e-5);
    EXPECT_NEAR(third.to_vector<float>()[i], 8 * e, 1e-5);
  }
}

TEST(WithGradient, IsAskedOnceForAllValuesAndOnlyForWhatIsWanted) {
  const Tensor a = floats({2}), b = floats({3}), c = floats({5});
  int calls = 0;
  std::vector<bool> wanted;
  const Tensor values[] = {a * b, a + b, b * 7.}, inputs[] = {a, b};
  const auto results = with_gradient(values, inputs, [&](const GradientRequest& r) {
    calls++;
    wanted = r.wanted;
    const Tensor &x = r.inputs[0], &y = r.inputs[1], &g = r.gradients[0], &h = r.gradients[1];
    EXPECT_EQ(r.gradients[2].to_vector<float>(), Floats{0});
    return std::vector{g * y + h, g * x + h};
  });
  // The second value is used by what the first is multiplied with.
  const Tensor loss = (results[0] * (results[1] * results[1] + c)).sum();
  EXPECT_EQ(gradient(loss, a), Floats{3 * 30 + 6 * 10});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(wanted, (std::vector{true, false}));
  EXPECT_EQ(gradient(loss, c), Floats{6});
  EXPECT_EQ(calls, 1);
  const std::vector<Tensor> both = loss.gradient({a, b});
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(both[1].to_vector<float>(), Floats{2 * 30 + 6 * 10});
}

TEST(WithGradient, CallsThatDependOnEachOtherAreAskedFromTheLastToTheFirst) {
  const Tensor x = floats({1});
  std::string order;
  const auto named = [&](char name, const Tensor& in) {
    return with_gradient(in * 1., {in}, [&order, name](const GradientRequest& r) {
      order += name;
      return std::vector{r.gradients[0] * 2.};
    });
  };
  const Tensor a = named('a', x), b = named('b', a), c = named('c', a + b);
  EXPECT_EQ(gradient((a + b + c).sum(), x), Floats{2 * (1 + 2 * 1 + 2 + 2 * 2)});
  EXPECT_EQ(order, "cba");
  order.clear();
  EXPECT_EQ(gradient((a + b + c).sum(), b), Floats{3});
  EXPECT_EQ(order, "c");
}

TEST(WithGradient, MayComputeInsideOfTheFunction) {
  const Tensor x = floats({1, 2}), w = floats({3, 4});
  const Tensor y = with_gradient(x * w, {x, w}, [](const GradientRequest& r) {
    const Tensor gx = (r.gradients[0] * r.inputs[1]).realize();
    for (int i = 0; i < 30; i++) Tensor::rand({100'000}).realize();  // memory is freed meanwhile
    return std::vector{gx * static_cast<double>(gx.sum().item<float>() > 0), Tensor()};
  });
  const Tensor loss = (y * y + x).sum();
  EXPECT_EQ(gradient(loss, x), (Floats{2 * 9 + 1, 2 * 2 * 16 + 1}));
  EXPECT_EQ(gradient(loss, w), (Floats{0, 0}));
}

TEST(WithGradient, OfWhatWasAssignedToMeanwhileIsAnError) {
  Tensor w = floats({3, 4}).realize();
  const Tensor x = floats({1, 2});
  const Tensor y = with_gradient(x * w, {x, w}, [](const GradientRequest& r) {
    return std::vector{r.gradients[0] * r.inputs[1], r.gradients[0] * r.inputs[0]};
  });
  const Tensor loss = y.sum();
  EXPECT_EQ(gradient(loss, x), (Floats{3, 4}));
  w += 1;
  w.realize();
  EXPECT_EQ(loss.item<float>(), 11);
  EXPECT_NE(error_of([&] { loss.gradient({x}); }).find("assigned to at"), std::string::npos);
  EXPECT_NE(error_of([&] { loss.gradient({w}); }).find("was assigned to"), std::string::npos);
}

TEST(WithGradient, NamesTheShapesOfAGradientThatDoesNotFit) {
  const Tensor x = floats({1, 2});
  const auto returned = [&](const std::vector<Tensor>& gradients) {
    const Tensor y = with_gradient(x * 2., {x}, [&](const GradientRequest&) { return gradients; });
    return error_of([&] { y.sum().gradient({x}); });
  };
  const std::string shape = returned({floats({1, 2, 3})});
  EXPECT_NE(shape.find("input 0, float32 of shape (2,), is float32 of shape (3,)"),
            std::string::npos)
      << shape;
  EXPECT_NE(returned({floats({1, 2}).cast(DType::Float64)}).find("float64"), std::string::npos);
  EXPECT_NE(returned({}).find("0 gradients were returned for 1 inputs"), std::string::npos);
  EXPECT_NE(error_of([&] { with_gradient(Tensor::arange(3), {x}, {}); }).find("not a float tensor"),
            std::string::npos);
}

TEST(WithGradient, FunctionsAndWhatTheyHoldGoWithTheResults) {
  const auto held = std::make_shared<int>(1);
  const Tensor x = floats({1, 2});
  {
    const Tensor y = with_gradient(
        x * 2., {x}, [held](const GradientRequest& r) { return std::vector{r.gradients[0]}; });
    y.sum().gradient({x})[0].realize();
  }
  EXPECT_GT(held.use_count(), 1);
  for (int i = 0; i < 20; i++) Tensor::rand({100'000}).realize();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(WithGradient, FusesAsTheValueAlone) {
  const Tensor x = floats({-1, 2}).realize();
  straight_through(x * 2.).sum().item<float>();
  const std::int64_t before = run_statistics().kernels;
  (straight_through(x * 3.) + 1.).realize();
  EXPECT_EQ(run_statistics().kernels - before, 1);
}

TEST(Vjp, WeightsEachElementOfEachOutput) {
  const Tensor x = floats({1, 2}), y = floats({3, 4});
  const auto g = vjp({x * y, x.square().sum()}, {floats({10, 100}), Tensor::scalar(5.f)}, {x, y});
  EXPECT_EQ(g[0].to_vector<float>(), (Floats{30 + 10, 400 + 20}));
  EXPECT_EQ(g[1].to_vector<float>(), (Floats{10, 200}));
  EXPECT_EQ(vjp({x * y, x}, {y, x}, {x})[0].to_vector<float>(), (Floats{9 + 1, 16 + 2}));
  EXPECT_NE(error_of([&] {
              vjp({x}, {floats({1, 2, 3})}, {x});
            }).find("differ in shape"),
            std::string::npos);
  EXPECT_NE(error_of([&] { vjp({x}, {}, {x}); }).find("1 outputs with 0 weights"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
