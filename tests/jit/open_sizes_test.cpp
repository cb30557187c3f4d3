// Captured steps whose inputs have open sizes: one compile for all, and never another value than
// the function has.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "croze/jit/dim.h"
#include "croze/run/statistics.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;
using Function = std::function<Tensor(const Tensor&)>;

Tensor numbers(const Shape& shape) {
  const std::int64_t n = shape.numel();
  return (Tensor::arange(n, DType::Float32) * 0.37).sin().reshape(shape).realize();
}

void expect_near(const Tensor& got, const Tensor& want, const std::string& where) {
  ASSERT_EQ(got.shape(), want.shape()) << where;
  const auto a = got.to_vector<double>(), b = want.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); i++) {
    ASSERT_NEAR(a[i], b[i], 1e-4 * (1 + std::abs(b[i]))) << where << ", element " << i;
  }
}

// Calls a captured step with inputs of many sizes.  From the third on nothing is scheduled, but for
// the size 1, along which a sum is recorded as none.
void expect_one_compile(const Function& f, const std::function<Shape(std::int64_t)>& shape,
                        std::int64_t axis, std::int64_t most = 200) {
  auto step = capture(f);
  step.open("input 0", axis, Dim("n", 1, most));
  std::int64_t calls = 0;
  for (std::int64_t n : {37, 52, 1, 2, 8, 16, 53, 64, 100, 127, 128, 129, 200, 3}) {
    const Tensor x = numbers(shape(n));
    const auto before = run_statistics().schedules_built;
    const Tensor y = step(x).realize();
    const auto planned = run_statistics().schedules_built - before;
    if (calls++ >= 2 && n > 1) {
      EXPECT_EQ(planned, 0) << "n = " << n;
    }
    expect_near(y, f(x), "n = " + std::to_string(n));
  }
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(OpenSizes, Elementwise) {
  expect_one_compile([](const Tensor& x) { return (x * 2 + 1).exp(); },
                     [](std::int64_t n) { return Shape{n}; }, 0);
}

TEST(OpenSizes, SoftmaxAlongTheSize) {
  expect_one_compile([](const Tensor& x) { return softmax(x, -1); },
                     [](std::int64_t n) {
                       return Shape{5, n};
                     },
                     1);
}

TEST(OpenSizes, SumAndMean) {
  expect_one_compile([](const Tensor& x) { return x.sum(0) + x.mean(0); },
                     [](std::int64_t n) {
                       return Shape{n, 6};
                     },
                     0);
}

TEST(OpenSizes, LayerNormOfRows) {
  const Tensor w = numbers({32}), b = numbers({32});
  expect_one_compile([&](const Tensor& x) { return layer_norm(x, 1, w, b); },
                     [](std::int64_t n) {
                       return Shape{2, n, 32};
                     },
                     1);
}

TEST(OpenSizes, Product) {
  const Tensor w = numbers({48, 33});
  expect_one_compile([&](const Tensor& x) { return x.matmul(w).relu(); },
                     [](std::int64_t n) {
                       return Shape{n, 48};
                     },
                     0);
}

TEST(OpenSizes, ProductOverTheSize) {
  expect_one_compile([&](const Tensor& x) { return x.transpose().matmul(x); },
                     [](std::int64_t n) {
                       return Shape{n, 24};
                     },
                     0);
}

TEST(OpenSizes, CausalAttention) {
  expect_one_compile(
      [](const Tensor& x) {
        return scaled_dot_product_attention(x, x * 0.5, x + 1, {.causal = true});
      },
      [](std::int64_t n) {
        return Shape{2, 3, n, 16};
      },
      2);
}

TEST(OpenSizes, Convolution) {
  const Tensor w = numbers({4, 3, 3, 3});
  expect_one_compile([&](const Tensor& x) { return conv2d(x, w, {}, {.stride = 2, .padding = 1}); },
                     [](std::int64_t n) {
                       return Shape{1, 3, n, 20};
                     },
                     2);
}

// Without padding there is no result for the least sizes.
TEST(OpenSizes, ConvolutionOfTheInside) {
  const Tensor w = numbers({4, 3, 5});
  auto step = capture([&](const Tensor& x) { return relu(conv1d(x, w)).narrow(2, 1, 3); });
  step.open("input 0", 2, Dim("n", 1, 500));
  std::int64_t calls = 0;
  for (std::int64_t n : {37, 52, 40, 500, 499, 9, 10, 8}) {
    const Tensor x = numbers({2, 3, n});
    const auto before = run_statistics().schedules_built;
    const Tensor y = step(x).realize();
    const auto planned = run_statistics().schedules_built - before;
    if (calls++ >= 2 && n > 36) {
      EXPECT_EQ(planned, 0) << n;
    }
    expect_near(y, relu(conv1d(x, w)).narrow(2, 1, 3), "n = " + std::to_string(n));
  }
}

// Two sizes that were always one: what is an equal axis in one call is a repeated one in another.
TEST(OpenSizes, SizesThatComeApart) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x.exp() + y.sin(); };
  auto step = capture(f);
  step.open("input 0", 1, Dim("n", 1, 500)).open("input 1", 1, Dim("m", 1, 500));
  const std::int64_t sizes[][2] = {{7, 7}, {9, 9}, {1, 9}, {9, 1}, {1, 1}, {12, 12}, {1, 300}};
  for (const auto& [n, m] : sizes) {
    const Tensor x = numbers({4, n}), y = numbers({4, m});
    expect_near(step(x, y), f(x, y), std::to_string(n) + ' ' + std::to_string(m));
  }
}

TEST(OpenSizes, RollsAndConcatenations) {
  expect_one_compile(
      [](const Tensor& x) {
        return cat({x.flip(0), x * 2}, 0);
      },
      [](std::int64_t n) {
        return Shape{n, 4};
      },
      0);
}

// Recorded otherwise for sizes of other orders of magnitude: each is what the function says.
TEST(OpenSizes, FunctionsThatDependOnTheSize) {
  const Dim n("n", 1, 1000);
  const Function sums = [](const Tensor& x) { return x.cumsum(1); };
  const Function branch = [](const Tensor& x) { return x.size(1) > 100 ? x * 2 : x.exp(); };
  for (const Function& f : {sums, branch}) {
    auto step = capture(f).open("input 0", 1, n);
    for (std::int64_t size : {37, 52, 1, 128, 129, 200, 2, 1000, 999, 101, 100}) {
      const Tensor x = numbers({3, size});
      expect_near(step(x), f(x), "n = " + std::to_string(size));
    }
  }
}

TEST(OpenSizes, ArgMax) {
  expect_one_compile([](const Tensor& x) { return x.argmax(1).cast(DType::Float32); },
                     [](std::int64_t n) {
                       return Shape{3, n};
                     },
                     1);
}

TEST(OpenSizes, Gradients) {
  const Tensor w = numbers({12, 7});
  expect_one_compile(
      [&](const Tensor& x) {
        const Tensor loss = softmax(x.matmul(w), 1).square().mean();
        return loss.gradient({w})[0];
      },
      [](std::int64_t n) {
        return Shape{n, 12};
      },
      0);
}

TEST(OpenSizes, GathersAndMasks) {
  const Tensor table = numbers({50, 9});
  expect_one_compile(
      [&](const Tensor& x) {
        const Tensor tokens = (x * 20).abs().cast(DType::Int64);
        const Tensor rows = embedding(table, tokens);
        const Tensor places = Tensor::arange(x.size(1), DType::Float32);
        return rows.sum(2) * places + where(places.lt(5), 1.0, x);
      },
      [](std::int64_t n) {
        return Shape{2, n};
      },
      1);
}

TEST(OpenSizes, SeveralOfThem) {
  const Tensor w = numbers({16, 24});
  const auto f = [&](const Tensor& x, const Tensor& y) {
    const Tensor q = x.matmul(w), k = y.matmul(w);
    return scaled_dot_product_attention(q, k, k).mean({1, 2});
  };
  auto step = capture(f);
  const Dim batch("batch", 1, 64), length("length", 1, 300), keys("keys", 8, 800, 8);
  step.open("input 0", 0, batch).open("input 0", 1, length);
  step.open("input 1", 0, batch).open("input 1", 1, keys);
  std::int64_t calls = 0;
  const std::int64_t sizes[][3] = {{2, 10, 16}, {3, 30, 64}, {5, 7, 24},  {7, 300, 8},
                                   {9, 2, 800}, {3, 3, 8},   {64, 9, 16}, {2, 64, 72}};
  for (const auto& [b, n, m] : sizes) {
    const Tensor x = numbers({b, n, 16}), y = numbers({b, m, 16}) * 0.5;
    y.realize();
    const auto before = run_statistics().schedules_built;
    const Tensor z = step(x, y).realize();
    const auto planned = run_statistics().schedules_built - before;
    if (calls++ >= 2) {
      EXPECT_EQ(planned, 0) << b << ' ' << n << ' ' << m;
    }
    expect_near(z, f(x, y), std::to_string(b) + ' ' + std::to_string(n));
  }
}

// A step that trains: assignments, an optimizer's state, the gradient through attention.
TEST(OpenSizes, TrainingSteps) {
  const auto make = [] {
    return Tensor::from_data(numbers({144}).to_vector<float>(), {12, 12}).realize();
  };
  Tensor w = make(), expected_w = make();
  const auto train = [](Tensor& weight, const Tensor& x) {
    const Tensor h = x.matmul(weight);
    const Tensor loss = scaled_dot_product_attention(h, x, h, {.causal = true}).square().mean();
    weight -= loss.gradient({weight})[0] * 0.1;
    return loss;
  };
  auto step = capture([&](const Tensor& x) { return train(w, x); });
  step.open("input 0", 1, Dim("length", 1, 64)).open("input 0", 0, Dim("batch", 1, 64));
  std::int64_t calls = 0;
  const std::int64_t sizes[][2] = {{4, 5}, {7, 9}, {16, 16}, {3, 33}, {2, 64}, {64, 2}, {7, 9}};
  for (const auto& [batch, n] : sizes) {
    const Tensor x = numbers({batch, n, 12});
    const auto before = run_statistics().schedules_built;
    const Tensor loss = step(x).realize();
    const auto planned = run_statistics().schedules_built - before;
    if (calls++ >= 2) {
      EXPECT_EQ(planned, 0) << n;
    }
    expect_near(loss, train(expected_w, x), "n = " + std::to_string(n));
    expect_near(w, expected_w, "weights, n = " + std::to_string(n));
  }
}

TEST(OpenSizes, AreBounded) {
  auto step = capture([](const Tensor& x, const Tensor& y) { return x + y; });
  const Dim n("n", 2, 64, 2);
  step.open("input 0", 0, n).open("input 1", 0, n);
  const auto call = [&](const Shape& a, const Shape& b) {
    return test::error_if_any([&] { step(numbers(a), numbers(b)); });
  };
  EXPECT_EQ(call({4, 3}, {4, 3}), "");
  expect_part(call({66, 3}, {66, 3}), "input 0 of a captured step has 66 elements along axis 0");
  expect_part(call({66, 3}, {66, 3}), "the size n is from 2 to 64");
  expect_part(call({5, 3}, {5, 3}), "the size n is a multiple of 2");
  expect_part(call({4, 3}, {6, 3}),
              "input 1 of a captured step has 6 elements along axis 0: the "
              "size n is 4 elsewhere");
  expect_part(call({6, 4}, {6, 4}), "was float32 of shape (4, 3)");
  expect_part(error_of([&] { step.open("input 0", 1, Dim("m", 1, 2)); }), "after the first call");
}

// No number holds how many elements there could be.
TEST(OpenSizes, BeyondAllMemoryAreCompiledForEach) {
  const Function f = [](const Tensor& x) { return (x.exp() + x.sum(0, true)).mean({1, 2}); };
  constexpr std::int64_t most = std::int64_t{1} << 31;
  auto step = capture(f).open("input 0", 0, Dim("a", 1, most));
  step.open("input 0", 1, Dim("b", 1, most)).open("input 0", 2, Dim("c", 1, most));
  for (std::int64_t n : {3, 5, 7}) {
    const Tensor x = numbers({n, n + 1, n + 2});
    expect_near(step(x), f(x), "n = " + std::to_string(n));
  }
}

TEST(OpenSizes, MisuseIsRefused) {
  const auto f = [](const Tensor& x) { return x * 2; };
  expect_part(error_of([] { Dim("n", 0, 4); }), "the size n is bounded by 0 and 4");
  expect_part(error_of([] { Dim("n", 5, 4); }), "bounded by 5 and 4");
  expect_part(error_of([] { Dim("n", 9, 15, 16); }), "no multiple of 16");
  auto twice = capture(f).open("input 0", 0, Dim("n", 1, 4));
  expect_part(error_of([&] { twice.open("input 0", 0, Dim("m", 1, 4)); }), "is open already");
  expect_part(error_of([&] { twice.open("input 0", 1, Dim("n", 1, 8)); }), "elsewhere");
  auto nowhere = capture(f).open("input 1", 0, Dim("n", 1, 4));
  expect_part(error_of([&] { nowhere(numbers({3})); }), "the tensors are input 0");
  auto no_axis = capture(f).open("input 0", 1, Dim("n", 1, 4));
  expect_part(error_of([&] { no_axis(numbers({3})); }), "axis 1 of input 0");
}

}  // namespace
}  // namespace croze
