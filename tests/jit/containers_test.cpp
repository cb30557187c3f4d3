// Captured steps over containers: inputs and results of every form, and refusal of another form
// than that of the first call.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "croze/croze.h"
#include "croze/jit/capture.h"
#include "support/errors.h"

namespace croze {
namespace {

using test::error_of;
using Floats = std::vector<float>;

Tensor floats(const Floats& values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}
Floats values_of(const Tensor& t) { return t.to_vector<float>(); }

struct Batch {
  Tensor features;
  std::optional<Tensor> mask;
  std::map<std::string, Tensor> extras;
};

// The three forms that a decoder's cache may have, in one.
struct Cache {
  std::vector<std::pair<Tensor, Tensor>> layers;
  int heads = 0;
  std::string kind;
};

TEST(Containers, OfEveryKindMayBeInputs) {
  int calls = 0;
  auto step = capture([&](const std::vector<Tensor>& list, const std::array<Tensor, 2>& two,
                          const Batch& batch, const std::tuple<Tensor, double>& pair) {
    calls++;
    Tensor sum = list[0] + 10 * list[1] + 100 * two[0] + 1000 * two[1];
    sum = sum + 10000 * batch.features + 100000 * *batch.mask;
    return sum + std::get<1>(pair) * std::get<0>(pair) + batch.extras.at("b") -
           batch.extras.at("a");
  });
  for (float v : {1.f, 2.f}) {
    const auto one = [&](float x) { return floats({x * v}); };
    const Batch batch{one(5), one(6), {{"a", one(3)}, {"b", one(3)}}};
    const Tensor y = step(std::vector{one(1), one(2)}, std::array{one(3), one(4)}, batch,
                          std::tuple(one(2), 0.25));
    EXPECT_EQ(values_of(y), (Floats{654321 * v + 0.5f * v}));
  }
  EXPECT_EQ(calls, 1);
}

TEST(Containers, OfEveryKindMayBeResults) {
  struct Result {
    Tensor doubled;
    std::vector<Tensor> powers;
    std::optional<Tensor> absent;
    std::map<std::string, std::pair<Tensor, int>> named;
    Tensor undefined;
  };
  auto step = capture([](const Tensor& x) {
    return Result{x * 2, {x, x * x}, {}, {{"sum", {x.sum(), 7}}}, {}};
  });
  for (float v : {2.f, 3.f}) {
    const Result r = step(floats({v, 1}));
    EXPECT_EQ(values_of(r.doubled), (Floats{2 * v, 2}));
    ASSERT_EQ(r.powers.size(), 2u);
    EXPECT_EQ(values_of(r.powers[1]), (Floats{v * v, 1}));
    EXPECT_FALSE(r.absent.has_value());
    EXPECT_EQ(values_of(r.named.at("sum").first), (Floats{v + 1}));
    EXPECT_EQ(r.named.at("sum").second, 7);
    EXPECT_FALSE(r.undefined.defined());
  }
}

TEST(Containers, WhatFunctionsOfTheLibraryReturnIsAResultAndAnInput) {
  auto sorted = capture([](const Tensor& x) { return sort(x); });
  auto swapped = capture([](const ValuesAndIndices& s) { return std::pair(s.indices, s.values); });
  for (const Floats& x : {Floats{3, 1, 2}, Floats{1, 3, 2}}) {
    const auto [indices, values] = swapped(sorted(floats(x)));
    EXPECT_EQ(values_of(values), (Floats{1, 2, 3}));
    EXPECT_EQ(indices.to_vector<int>()[2], x[0] == 3 ? 0 : 1);
  }
}

TEST(Containers, KeepTheTensorsOfTheCaller) {
  Batch batch{floats({1}), floats({2}), {}};
  const Tensor before = batch.features;
  auto step = capture([](const Batch& b) { return b.features + *b.mask; });
  EXPECT_EQ(values_of(step(batch)), (Floats{3}));
  EXPECT_TRUE(batch.features.is_same(before));
}

// ---- another form -------------------------------------------------------------------------------

void expect_in(const std::string& error, std::initializer_list<const char*> texts) {
  for (const char* text : texts) EXPECT_NE(error.find(text), std::string::npos) << error;
}

TEST(ContainerForm, OfAnotherSizeIsRefused) {
  auto step = capture([](const std::vector<Tensor>& list) { return stack(list).sum(); });
  EXPECT_EQ(step(std::vector{floats({1}), floats({2})}).item<float>(), 3);
  expect_in(error_of([&] { step(std::vector{floats({1})}); }),
            {"input 0", "a list of 2", "a list of 1", "containers_test.cpp"});
  EXPECT_EQ(step(std::vector{floats({3}), floats({4})}).item<float>(), 7);
}

TEST(ContainerForm, OfOtherKeysIsRefused) {
  auto step = capture([](const Tensor& x, const std::map<std::string, Tensor>& named) {
    Tensor sum = x;
    for (const auto& [name, t] : named) sum = sum + t;
    return sum;
  });
  const Tensor x = floats({1});
  EXPECT_EQ(step(x, std::map<std::string, Tensor>{{"a", x}, {"b", x}}).item<float>(), 3);
  expect_in(error_of([&] {
              step(x, std::map<std::string, Tensor>{{"a", x}, {"c", x}});
            }),
            {"input 1", "\"a\", \"b\"", "\"a\", \"c\""});
}

TEST(ContainerForm, WithMoreOrLessPresentIsRefused) {
  auto step = capture([](const Batch& b) { return b.mask ? b.features * *b.mask : b.features; });
  const Tensor x = floats({2});
  EXPECT_EQ(step(Batch{x, {}, {}}).item<float>(), 2);
  expect_in(error_of([&] { step(Batch{x, x, {}}); }), {"input 0.mask", "absent", "float32"});
  expect_in(error_of([&] { step(Batch{Tensor(), {}, {}}); }), {"input 0.features", "absent"});
  auto with_mask = capture([](const Batch& b) { return b.features * *b.mask; });
  EXPECT_EQ(with_mask(Batch{x, x, {}}).item<float>(), 4);
  expect_in(error_of([&] { with_mask(Batch{x, {}, {}}); }), {"input 0.mask", "is absent now"});
}

TEST(ContainerForm, WithATensorOfAnotherShapeOrDtypeNamesItsPlace) {
  auto step = capture([](const Cache& c) { return c.layers[1].second.sum(); });
  const auto cache = [](const Tensor& last) {
    return Cache{{{floats({1}), floats({2})}, {floats({3}), last}}, 2, "full"};
  };
  EXPECT_EQ(step(cache(floats({4}))).item<float>(), 4);
  expect_in(error_of([&] {
              step(cache(floats({4, 5})));
            }),
            {"input 0.layers[1][1]", "(1,)", "(2,)"});
  expect_in(error_of([&] { step(cache(Tensor::from_data({1}, {1}))); }),
            {"input 0.layers[1][1]", "float32", "int32"});
}

// A step would go on with the number of its first call.
TEST(ContainerForm, WithOtherNumbersOrTextsIsRefused) {
  auto step = capture([](const Cache& c) { return c.layers[0].first * c.heads; });
  const auto cache = [](int heads, const std::string& kind) {
    return Cache{{{floats({1}), floats({2})}}, heads, kind};
  };
  EXPECT_EQ(step(cache(2, "full")).item<float>(), 2);
  expect_in(error_of([&] { step(cache(3, "full")); }), {"input 0.heads", "was 2", "is 3"});
  expect_in(error_of([&] { step(cache(2, "local")); }), {"input 0.kind", "\"full\"", "\"local\""});
  auto scaled = capture([](const Tensor& x, double factor) { return x * factor; });
  EXPECT_EQ(scaled(floats({1}), 0.1).item<float>(), 0.1f);
  expect_in(error_of([&] { scaled(floats({1}), 0.2); }), {"input 1", "0.1", "0.2"});
}

TEST(ContainerForm, OfAnotherTypeIsRefused) {
  auto step = capture([](const auto& x) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(x)>, Tensor>) {
      return x * 2;
    } else {
      return std::vector<Tensor>{x[0] * 2};
    }
  });
  EXPECT_EQ(step(floats({1})).item<float>(), 2);
  expect_in(error_of([&] { step(std::vector{floats({1})}); }), {"inputs of other types"});
  auto same = capture([](const auto& x) { return std::pair(x[0] * 2, 1); });
  EXPECT_EQ(same(std::vector{floats({1})}).first.item<float>(), 2);
  expect_in(error_of([&] { same(std::vector{floats({1}), floats({1})}); }), {"a list of 1"});
}

}  // namespace
}  // namespace croze
