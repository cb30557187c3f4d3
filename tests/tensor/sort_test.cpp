// Sorting, ranks, search and counting against the standard library.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using Numbers = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// NaN last, -0 equal to 0.
bool precedes(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

std::vector<std::int64_t> stable_order(const Numbers& x, bool descending) {
  std::vector<std::int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const double u = x[static_cast<std::size_t>(a)], v = x[static_cast<std::size_t>(b)];
    return descending ? precedes(v, u) : precedes(u, v);
  });
  return order;
}

void expect_sorted(const Tensor& x) {
  const Numbers xs = x.to_vector<double>();
  for (bool descending : {false, true}) {
    const std::vector<std::int64_t> order = stable_order(xs, descending);
    Numbers sorted;
    for (std::int64_t i : order) sorted.push_back(xs[static_cast<std::size_t>(i)]);
    const auto [values, indices] = sort(x, -1, descending);
    expect_numbers(indices, Numbers(order.begin(), order.end()), 0);
    expect_numbers(values, sorted, 0);
    EXPECT_EQ(values.dtype(), x.dtype());
    EXPECT_EQ(indices.dtype(), DType::Int64);
  }
}

TEST(Sort, IsStableWithNanLast) {
  expect_sorted(Tensor::from_data({3., nan, -0., 0., -inf, inf, nan, 1., -5., 0.}, {10}));
  expect_sorted(Tensor::from_data({3., nan, -0., 0., -inf, inf, nan, 1., -5., 0.}, {10},
                                  {.dtype = DType::Float32}));
}

TEST(Sort, AllDTypes) {
  std::mt19937 random(7);
  for (DType t : {DType::Bool, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32,
                  DType::UInt32, DType::Int64, DType::Float16, DType::BFloat16, DType::Float32,
                  DType::Float64, DType::Float8E5M2}) {
    Numbers x;
    const double low = is_unsigned(t) ? 0 : -20;
    for (int i = 0; i < 40; i++) {
      x.push_back(std::floor(std::uniform_real_distribution<double>(low, 20)(random)));
    }
    expect_sorted(Tensor::from_data(x, {40}).cast(t));
  }
  expect_sorted(Tensor::from_data(
      std::vector<std::int64_t>{INT64_MAX - 1, INT64_MIN, 0, -1, std::int64_t{1} << 40, 7}, {6}));
}

TEST(Sort, LongAxesAndManyRows) {
  for (std::int64_t n : {1, 2, 32, 33, 100, 1000, 5000}) {
    SCOPED_TRACE(n);
    expect_sorted(
        (random_tensor({n}, -50, 50, {}, static_cast<std::uint32_t>(n)) * 4).round().realize());
  }
  const Tensor x = random_tensor({3, 70, 2}, -1, 1);
  const Tensor sorted = sort(x, 1).values;
  for (std::int64_t i = 0; i < 3; i++) {
    for (std::int64_t k = 0; k < 2; k++) {
      Numbers column = x.index({i, Slice{}, k}).to_vector<double>();
      std::sort(column.begin(), column.end());
      expect_numbers(sorted.index({i, Slice{}, k}), column, 0);
    }
  }
}

// With many equal ones, of which the first are taken; blocks are looked at where there are many.
TEST(Sort, TheFirstOfTheOrderAreThoseOfAllOfIt) {
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{10, 3},   {31, 31},   {40, 1},  {100, 40},
                                                         {500, 70}, {1000, 20}, {3001, 3}};
  for (const auto& [n, k] : sizes) {
    SCOPED_TRACE(n);
    const Tensor x = (random_tensor({n}, -9, 9, {}, static_cast<std::uint32_t>(n)) * 4)
                         .round()
                         .cast(DType::Float32)
                         .realize();
    const Numbers xs = x.to_vector<double>();
    for (bool largest : {false, true}) {
      std::vector<std::int64_t> order = stable_order(xs, largest);
      order.resize(static_cast<std::size_t>(k));
      expect_numbers(topk(x, k, -1, largest).indices, Numbers(order.begin(), order.end()), 0);
    }
  }
}

TEST(Sort, TheFirstOfEachColumn) {
  const Tensor x = random_tensor({700, 3}, -1, 1).cast(DType::Float32).realize();
  const Tensor found = topk(x, 5, 0).indices;
  EXPECT_EQ(found.shape(), (Shape{5, 3}));
  for (std::int64_t i = 0; i < 3; i++) {
    const Numbers column = x.index({Slice{}, i}).to_vector<double>();
    std::vector<std::int64_t> order = stable_order(column, true);
    order.resize(5);
    expect_numbers(found.index({Slice{}, i}), Numbers(order.begin(), order.end()), 0);
  }
  EXPECT_EQ(topk(x, 0, 0).values.shape(), (Shape{0, 3}));
}

TEST(Sort, GradientsGoWhereTheValuesStood) {
  const Tensor x = Tensor::from_data({3., 1., 2.}, {3}),
               w = Tensor::from_data({1., 10., 100.}, {3});
  expect_numbers((sort(x).values * w).sum().gradient({x})[0], {100, 1, 10});
  expect_numbers(topk(x, 2).values.sum().gradient({x})[0], {1, 0, 1});
  const Tensor many = random_tensor({600}, -1, 1).cast(DType::Float32).realize();
  const Tensor least = sort(many).values.index({Slice{0, 4}});
  const Tensor expected = (many <= least.max()).cast(DType::Float32);
  expect_numbers(topk(many, 4, -1, false).values.sum().gradient({many})[0],
                 expected.to_vector<double>());
}

TEST(Sort, RanksAndMiddles) {
  const Tensor x = Tensor::from_data({5., 1., 4., 1., 3.}, {5});
  expect_numbers(topk(x, 2).values, {5, 4});
  expect_numbers(topk(x, 2, -1, false).indices, {1, 3});
  expect_numbers(kthvalue(x, 3).values, {3});
  expect_numbers(median(x), {3});
  expect_numbers(median(Tensor::from_data({4., 1., 2., 3.}, {4})), {2});
  expect_numbers(median(Tensor::from_data({4., nan, 2.}, {3})), {nan});
  expect_numbers(nanmedian(Tensor::from_data({4., nan, 2.}, {3})), {2});
  expect_numbers(median(Tensor::from_data({4., nan, 2.}, {1, 3}), 1).indices, {1});
  const auto [value, index] = mode(Tensor::from_data({3, 1, 3, 1, 2}, {5}));
  expect_numbers(value, {1});
  expect_numbers(index, {3});
  expect_numbers(max_with_indices(x, 0).indices, {0});
  expect_numbers(min_with_indices(x, 0).indices, {1});
  expect_numbers(argsort(x), {1, 3, 4, 2, 0});
  EXPECT_EQ(kthvalue(random_tensor({2, 3}, 0, 1), 1, 0, true).values.shape(), (Shape{1, 3}));
  error_of([&] { topk(x, 6); });
  error_of([&] { kthvalue(x, 0); });
}

TEST(Sort, Quantiles) {
  const Tensor x = Tensor::from_data({4., 1., 3., 2.}, {4});
  expect_numbers(quantile(x, 0.5), {2.5});
  expect_numbers(quantile(x, Tensor::from_data({0., 0.4, 1.}, {3})), {1, 2.2, 4}, 1e-12);
  using I = QuantileOptions::Interpolation;
  const std::pair<I, double> cases[] = {
      {I::Lower, 2}, {I::Higher, 3}, {I::Midpoint, 2.5}, {I::Nearest, 2}};
  for (const auto& [i, expected] : cases) {
    expect_numbers(quantile(x, 0.4, {.interpolation = i}), {expected});
  }
  const Tensor m = Tensor::from_data({1., nan, 3., 4., 5., 6.}, {2, 3});
  expect_numbers(quantile(m, 0.5, {.axis = 1}), {nan, 5});
  expect_numbers(nanquantile(m, 0.5, {.axis = 1}), {2, 5});
  EXPECT_EQ(quantile(m, Tensor::from_data({0.1, 0.2}, {2}), {.axis = 1, .keepdim = true}).shape(),
            (Shape{2, 2, 1}));
  EXPECT_EQ(quantile(m, 0.1, {.axis = 0}).shape(), (Shape{3}));
}

TEST(Search, FindsPlaces) {
  const Tensor sorted = Tensor::from_data({1., 3., 3., 7.}, {4});
  const Tensor v = Tensor::from_data({0., 1., 3., 5., 7., 9., nan}, {7});
  expect_numbers(searchsorted(sorted, v), {0, 0, 1, 3, 3, 4, 4});
  expect_numbers(searchsorted(sorted, v, true), {0, 1, 3, 3, 4, 4, 4});
  expect_numbers(bucketize(v, sorted), {0, 0, 1, 3, 3, 4, 4});
  const Tensor rows = Tensor::from_data({1, 2, 3, 10, 20, 30}, {2, 3});
  expect_numbers(searchsorted(rows, Tensor::from_data({2, 25}, {2, 1})), {1, 2});
  expect_numbers(isin(v, sorted), {0, 1, 1, 0, 1, 0, 0});
  const Tensor many = Tensor::arange(0, 200, 2).realize();
  expect_numbers(isin(Tensor::from_data({3, 4, 198, 200}, {4}), many), {0, 1, 1, 0});
  expect_numbers(isin(Tensor::from_data({3, 4}, {2}), many, true), {1, 0});
}

TEST(Search, DifferentElements) {
  const Tensor x = Tensor::from_data({3, 1, 3, 2, 1, 1}, {2, 3});
  const UniqueResult u = unique(x);
  expect_numbers(u.values, {1, 2, 3});
  expect_numbers(u.inverse, {2, 0, 2, 1, 0, 0});
  expect_numbers(u.counts, {3, 1, 2});
  EXPECT_EQ(u.inverse.shape(), (Shape{2, 3}));
  const UniqueResult c = unique_consecutive(Tensor::from_data({1, 1, 2, 1, 1, 1}, {6}));
  expect_numbers(c.values, {1, 2, 1});
  expect_numbers(c.counts, {2, 1, 3});
  expect_numbers(c.inverse, {0, 0, 1, 2, 2, 2});
  const Tensor rows = Tensor::from_data({2, 1, 1, 5, 2, 1, 1, 4}, {4, 2});
  const UniqueResult r = unique(rows, 0);
  expect_numbers(r.values, {1, 4, 1, 5, 2, 1});
  expect_numbers(r.inverse, {2, 1, 2, 0});
  EXPECT_EQ(unique(Tensor::zeros({0})).values.numel(), 0);
}

TEST(Search, Counts) {
  const Tensor x = Tensor::from_data({1, 3, 1, 0}, {4});
  expect_numbers(bincount(x), {1, 2, 0, 1});
  expect_numbers(bincount(x, Tensor::from_data({1., 2., 3., 4.}, {4}), 6), {4, 4, 0, 2, 0, 0});
  expect_numbers(histc(Tensor::from_data({0., 1., 2., 2.5, 4., 9., -1.}, {7}), 4, 0, 4),
                 {1, 1, 2, 1});
  expect_numbers(histc(Tensor::from_data({1., 2., 1.}, {3}), 2), {2, 1});
  error_of([] { bincount(Tensor::from_data({-1, 2}, {2})); });
}

TEST(Scan, RunsThroughShortAndLongAxes) {
  for (std::int64_t n : {1, 5, 32, 33, 200, 3000}) {
    SCOPED_TRACE(n);
    const Tensor x =
        random_tensor({n}, -1, 1, {.dtype = DType::Float64}, static_cast<std::uint32_t>(n));
    const Numbers xs = x.to_vector<double>();
    Numbers sums, products, logs, greatest, places;
    double sum = 0, product = 1, exps = 0, top = -inf, place = 0;
    for (std::size_t i = 0; i < xs.size(); i++) {
      sums.push_back(sum += xs[i]);
      products.push_back(product *= xs[i] + 1.2);
      logs.push_back(std::log(exps += std::exp(xs[i])));
      if (xs[i] >= top) {
        top = xs[i];
        place = static_cast<double>(i);
      }
      greatest.push_back(top);
      places.push_back(place);
    }
    expect_numbers(cumsum(x, 0), sums, 1e-11);
    expect_numbers(cumprod(x + 1.2, 0), products, 1e-9);
    expect_numbers(logcumsumexp(x, 0), logs, 1e-11);
    expect_numbers(cummax(x, 0).values, greatest, 0);
    expect_numbers(cummax(x, 0).indices, places, 0);
    Numbers least;
    for (double v : greatest) least.push_back(-v);
    expect_numbers(cummin(-x, 0).values, least, 0);
  }
}

TEST(Scan, KeepsWhatIsSpecial) {
  const Tensor x = Tensor::from_data({1., 3., 3., nan, 5.}, {5});
  expect_numbers(cummax(x, 0).values, {1, 3, 3, nan, nan});
  expect_numbers(cummax(x, 0).indices, {0, 1, 2, 3, 3});
  expect_numbers(logcumsumexp(Tensor::from_data({-inf, 0., 1000.}, {3}), 0), {-inf, 0, 1000});
  EXPECT_EQ(cumsum(Tensor::ones({3}, {.dtype = DType::Int8}), 0).dtype(), DType::Int64);
  expect_numbers(cumprod(Tensor::from_data({2, 3, 4}, {3}), 0), {2, 6, 24});
  const Tensor zeros = Tensor::from_data({2., 0., 3.}, {3});
  // d/dx of 2 + 2 * 0 + 2 * 0 * 3.
  expect_numbers(cumprod(zeros, 0).sum().gradient({zeros})[0], {1, 2 + 2 * 3, 0});
  const Tensor w = Tensor::from_data({1., 10., 100., 0., 0.}, {5});
  expect_numbers((where(w > 0, cummax(x, 0).values, 0) * w).sum().gradient({x})[0],
                 {1, 10, 100, 0, 0});
  expect_numbers(diff(Tensor::from_data({1, 4, 9, 16}, {4}), 2), {2, 2});
  expect_numbers(trapezoid(Tensor::from_data({1., 2., 4.}, {3})), {4.5});
  expect_numbers(trapezoid(Tensor::from_data({1., 2.}, {2}), Tensor::from_data({0., 4.}, {2})),
                 {6});
  expect_numbers(cumulative_trapezoid(Tensor::from_data({1., 2., 4.}, {3})), {1.5, 4.5});
}

}  // namespace
}  // namespace croze
