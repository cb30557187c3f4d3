// CROZE_CHECK_INDICES and CROZE_CHECK_NAN: what is wrong is named with its function and line.
#include <cmath>
#include <limits>

#include "croze/base/options.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void expect_named(int line, const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  const std::string place = "watch_test.cpp:" + std::to_string(line);
  EXPECT_NE(text.find(place), std::string::npos) << text;
}

// ---- indices ----------------------------------------------------------------------------------

class CheckIndices : public testing::Test {
 protected:
  // Not known before they are computed.
  static Tensor computed(const std::vector<std::int64_t>& values) {
    return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())}) * 1;
  }

  const Tensor x_ = Tensor::arange(12).cast(DType::Float32).reshape({4, 3}).contiguous().realize();
  Options::Scope scope_{{Option::CheckIndices, true}};
};

TEST_F(CheckIndices, NamesFunctionValueRangeAndLine) {
  const Tensor bad = computed({0, 4}), low = computed({-1, 2}), square = bad.reshape({2, 1});
  const Tensor other = computed({4, 0}), third = computed({4, 1}), below = low.reshape({2, 1});
  const Tensor scores = x_.transpose().contiguous(), classes = computed({0, 1, 4});
  // Each on one line: it is the line that is asked for.
  const auto expect = [&](int line, std::initializer_list<const char*> parts, auto misuse) {
    expect_named(line, error_of(misuse), parts);
  };
  expect(__LINE__, {"index: index 4", "axis 0 of size 4"}, [&] { x_[bad].realize(); });
  expect(__LINE__, {"gather: index 4", "size 4"}, [&] { x_.gather(0, square).realize(); });
  expect(__LINE__, {"gather: index -1"}, [&] { x_.gather(0, below).realize(); });
  expect(__LINE__, {"scatter: index 4"}, [&] { x_.scatter(0, square, 1).realize(); });
  expect(__LINE__, {"scatter_add: index 4"}, [&] { x_.scatter_add(0, square, 1).realize(); });
  expect(__LINE__, {"index_select: index 4"}, [&] { index_select(x_, 0, other).realize(); });
  expect(__LINE__, {"embedding: index 4"}, [&] { embedding(x_, third).realize(); });
  expect(__LINE__, {"take: index 12"}, [&] { take(x_, computed({12})).realize(); });
  expect(__LINE__, {"one_hot: index 4"}, [&] { one_hot(bad, 4).realize(); });
  expect(__LINE__, {"cross_entropy: index 4"}, [&] { cross_entropy(scores, classes).realize(); });
  expect(__LINE__, {"index: index -5", "size 4"}, [&] { x_[computed({-5})].realize(); });
}

TEST_F(CheckIndices, LeavesAloneWhatIsInRange) {
  EXPECT_NO_THROW(x_[computed({0, -4, 3})].realize());
  EXPECT_NO_THROW(x_.gather(1, computed({2, 0}).reshape({2, 1})).realize());
  EXPECT_NO_THROW(masked_select(x_, x_ > 4).realize());
  EXPECT_NO_THROW(one_hot(computed({0, 3})).realize());
  expect_numbers(sort(x_, 0, true).values, {9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2});
  EXPECT_NO_THROW(cross_entropy(x_, computed({0, 2, -100, 1})).realize());
}

TEST_F(CheckIndices, FindsThemWhenTheTensorsAreComputedLater) {
  const Tensor index = computed({1, 9});
  const int line = __LINE__ + 1;
  const Tensor rows = x_[index];
  const Tensor base = (x_ + 1).realize();  // replaces nodes of the graph
  expect_named(line, error_of([&] { (rows.sum() + base.sum()).item<float>(); }), {"index 9"});
}

TEST_F(CheckIndices, StoresHaveHappenedOnce) {
  Tensor total = Tensor::zeros({1}).realize();
  total += x_[computed({5})].sum().reshape({1});
  total += 1;
  error_of([&] { total.realize(); });
  EXPECT_EQ(total.item<float>(), 1);  // what is out of range counts 0
}

TEST(KnownIndices, AreCheckedAlways) {
  const Tensor weight = Tensor::ones({4, 2}).realize();
  const Tensor bad = Tensor::from_data({0, 7}, {2}), good = Tensor::from_data({-4, 3}, {2});
  expect_named(__LINE__, error_of([&] { embedding(weight, bad); }), {"embedding", "index 7"});
  EXPECT_NO_THROW(embedding(weight, good));
  const Tensor scores = Tensor::ones({2, 4});
  expect_named(__LINE__, error_of([&] { cross_entropy(scores, bad); }), {"cross_entropy", "7"});
  expect_named(__LINE__, error_of([&] { nll_loss(scores, good); }), {"nll_loss", "index -4"});
  EXPECT_NO_THROW(cross_entropy(scores, Tensor::from_data({3, -100}, {2})));
  EXPECT_NO_THROW(cross_entropy(scores, Tensor::from_data({3, -1}, {2}), {.ignore_index = -1}));
}

// ---- NaN --------------------------------------------------------------------------------------

class CheckNan : public testing::Test {
 protected:
  static Tensor numbers(const std::vector<float>& values) {
    return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
  }

  Options::Scope scope_{{Option::CheckNan, true}};
};

TEST_F(CheckNan, NamesTheFirstCallThatMadeOne) {
  const Tensor x = numbers({1, 0, -1});
  const int line = __LINE__ + 1;
  const Tensor y = log(x);
  const Tensor z = (y * 2 + 1).sum();
  expect_named(line, error_of([&] { z.item<float>(); }), {"log: ", "NaN", "(2)", "kernel"});
}

TEST_F(CheckNan, NamesAnInfinity) {
  const Tensor x = numbers({1, 0, 2});
  const int line = __LINE__ + 1;
  const Tensor y = 1 / x;
  expect_named(line, error_of([&] { (y + 1).realize(); }), {"div: ", "an infinity", "(1)"});
}

TEST_F(CheckNan, NamesTheInfinityThatBecameNan) {
  const Tensor x = numbers({0, 100});
  const int line = __LINE__ + 1;
  const Tensor y = exp(x);
  const Tensor z = y - y;
  expect_named(line, error_of([&] { z.realize(); }), {"exp: ", "an infinity", "(1)"});
}

TEST_F(CheckNan, NamesTheCallOfTheGradient) {
  const Tensor x = numbers({0, 4}).realize();
  const Tensor loss = sqrt(x).sum();
  const int line = __LINE__ + 1;
  const Tensor g = loss.gradient({x})[0];
  expect_named(line, error_of([&] { g.realize(); }), {"gradient: ", "an infinity"});
}

TEST_F(CheckNan, LeavesAloneWhatIsThereOnPurpose) {
  const Tensor given = numbers({1, static_cast<float>(nan), static_cast<float>(inf)});
  EXPECT_NO_THROW((given * 2 + 1).realize());
  const Tensor mask = numbers({0, 1, 0}) > 0;
  EXPECT_NO_THROW(numbers({1, 2, 3}).masked_fill(mask, -inf).realize());
  EXPECT_NO_THROW(softmax(numbers({1, 2, 3}).masked_fill(mask, -inf)).realize());
  EXPECT_NO_THROW(sigmoid(numbers({-200, 200})).realize());
  expect_numbers(exp(numbers({0, 1})).sum(), {1 + std::exp(1)}, 1e-6);
}

TEST_F(CheckNan, WatchesAssignmentsAndCarriesThemOutOnce) {
  Tensor w = numbers({1, 2}).realize();
  w += 1;
  w.realize();
  expect_numbers(w, {2, 3});
  const int line = __LINE__ + 1;
  w /= numbers({0, 1});
  expect_named(line, error_of([&] { w.realize(); }), {"an infinity"});
}

}  // namespace
}  // namespace croze
