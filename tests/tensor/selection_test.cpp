// Index puts, scatters with reductions, masks and tables, against loops.
#include <cmath>
#include <limits>

#include "support/check.h"

namespace croze {
namespace {

using namespace test;

Tensor ids(const std::vector<int>& values, const Shape& shape) {
  return Tensor::from_data(values, shape);
}
Tensor ids(const std::vector<int>& values) {
  return ids(values, {static_cast<std::int64_t>(values.size())});
}
Tensor counting(const Shape& shape) {
  return Tensor::arange(0., static_cast<double>(shape.numel())).reshape(shape).realize();
}

TEST(Selection, ReadsFlatPositions) {
  const Tensor x = counting({3, 4});
  expect_numbers(take(x, ids({0, -1, 5, 5}, {2, 2})), {0, 11, 5, 5});
  expect_numbers(put(x, ids({1, 4}), Tensor::from_data({50.f, 60.f}, {2})),
                 {0, 50, 2, 3, 60, 5, 6, 7, 8, 9, 10, 11});
  expect_numbers(put(x, ids({1, 1}), Tensor::from_data({50.f, 60.f}, {2}), true).narrow(0, 0, 1),
                 {0, 111, 2, 3});
}

// Positions that several kernels want are stored once; Index is no dtype of memory.
TEST(Selection, PositionsMayBeStored) {
  const Tensor x = counting({2}), source = Tensor::from_data({7.f, 8.f, 9.f, 10.f}, {2, 2});
  source.realize();
  const Tensor mask = Tensor::from_data({false, true, true, true}, {2, 2});
  const Tensor y = masked_scatter(x, mask, source);
  const Tensor gradient = (y * y).sum().gradient({source})[0];
  realize({y, gradient});
  expect_numbers(y, {0, 7, 8, 9});
  expect_numbers(gradient, {14, 16, 18, 0});
}

TEST(Selection, PutsSlicesAlongAnAxis) {
  const Tensor x = counting({3, 2}), s = Tensor::from_data({10.f, 20.f, 30.f, 40.f}, {2, 2});
  expect_numbers(index_copy(x, 0, ids({2, 0}), s), {30, 40, 2, 3, 10, 20});
  expect_numbers(index_add(x, 0, ids({1, 1}), s), {0, 1, 42, 63, 4, 5});
  expect_numbers(index_add(x, 0, ids({1, 1}), s, 2), {0, 1, 82, 123, 4, 5});
  expect_numbers(index_fill(x, 1, ids({-1}), 7), {0, 7, 2, 7, 4, 7});
  expect_numbers(index_reduce(x, 0, ids({0, 0}), s, ScatterReduce::Mean, false),
                 {20, 30, 2, 3, 4, 5});
  expect_numbers(index_reduce(x, 0, ids({0, 2}), s, ScatterReduce::Prod), {0, 20, 2, 3, 120, 200});
  EXPECT_EQ(index_add(x.cast(DType::Int32), 0, ids({1, 1}), s.cast(DType::Int32)).dtype(),
            DType::Int32);
  error_of([&] { index_add(x, 0, ids({1}), s); });
  error_of([&] { index_copy(x, 2, ids({1}), s); });
}

TEST(Selection, ReducesWhatMeetsInOnePlace) {
  const Tensor x = Tensor::from_data({1.f, 2.f, 3.f}, {3});
  const Tensor index = ids({0, 0, 2, 9}), s = Tensor::from_data({5.f, 7.f, -1.f, 100.f}, {4});
  const auto reduce = [&](ScatterReduce r, bool self) {
    return scatter_reduce(x, 0, index, s, r, self);
  };
  expect_numbers(reduce(ScatterReduce::Sum, true), {13, 2, 2});
  expect_numbers(reduce(ScatterReduce::Sum, false), {12, 2, -1});
  expect_numbers(reduce(ScatterReduce::Prod, true), {35, 2, -3});
  expect_numbers(reduce(ScatterReduce::Amax, true), {7, 2, 3});
  expect_numbers(reduce(ScatterReduce::Amax, false), {7, 2, -1});
  expect_numbers(reduce(ScatterReduce::Amin, true), {1, 2, -1});
  expect_numbers(reduce(ScatterReduce::Mean, true), {13. / 3, 2, 1});
  expect_numbers(reduce(ScatterReduce::Mean, false), {6, 2, -1});
  const Tensor nan = Tensor::from_data({std::nanf(""), 1.f}, {2});
  EXPECT_TRUE(
      std::isnan(scatter_reduce(x, 0, ids({1, 1}), nan, ScatterReduce::Amax)[1].item<double>()));
}

TEST(Selection, GradientsOfReducingScatters) {
  const Tensor x = Tensor::from_data({1., 2., 3.}, {3}),
               w = Tensor::from_data({1., 10., 100.}, {3});
  const Tensor index = ids({0, 0, 2, 2}), s = Tensor::from_data({5., 0., 3., -1.}, {4});
  const auto gradients = [&](ScatterReduce r, bool self = true) {
    return (scatter_reduce(x, 0, index, s, r, self) * w).sum().gradient({x, s});
  };
  // Place 0 holds 1 * 5 * 0, place 2 holds 3 * 3 * -1.
  expect_numbers(gradients(ScatterReduce::Prod)[0], {0, 10, -300});
  expect_numbers(gradients(ScatterReduce::Prod)[1], {0, 5, -300, 900});
  // Place 0: 5 is the greatest; place 2: x and a value share 3.
  expect_numbers(gradients(ScatterReduce::Amax)[0], {0, 10, 50});
  expect_numbers(gradients(ScatterReduce::Amax)[1], {1, 0, 50, 0});
  expect_numbers(gradients(ScatterReduce::Mean, false)[1], {0.5, 0.5, 50, 50});
  expect_numbers(gradients(ScatterReduce::Mean, false)[0], {0, 10, 0});
}

TEST(Selection, PutsWhereTheIndexSays) {
  const Tensor x = counting({2, 3});
  expect_numbers(index_put(x, {ids({0, 1}), ids({2, 0})}, Tensor::from_data({9.f, 8.f}, {2})),
                 {0, 1, 9, 8, 4, 5});
  expect_numbers(index_put(x, {ids({0, 0}), ids({2, 2})}, 1, true), {0, 1, 4, 3, 4, 5});
  expect_numbers(index_put(x, {Slice{}, ids({-1})}, 7), {0, 1, 7, 3, 4, 7});
  expect_numbers(index_put(x, {1, Slice{1}}, 7), {0, 1, 2, 3, 7, 7});
  expect_numbers(index_put(x, {x > 3}, -1), {0, 1, 2, 3, -1, -1});
  expect_numbers(index_put(x, {x > 3}, Tensor::from_data({7.f, 8.f}, {2})), {0, 1, 2, 3, 7, 8});
  error_of([&] { index_put(x, {ids({0, 1})}, Tensor::zeros({2, 2})); });
}

TEST(Selection, ReplacesViews) {
  const Tensor x = counting({2, 3});
  expect_numbers(select_scatter(x, Tensor::zeros({2}), 1, 1), {0, 0, 2, 3, 0, 5});
  expect_numbers(slice_scatter(x, Tensor::zeros({2, 2}), 1, {0, std::nullopt, 2}),
                 {0, 1, 0, 0, 4, 0});
  expect_numbers(diagonal_scatter(x, Tensor::zeros({2}), 1), {0, 0, 2, 3, 4, 0});
}

TEST(Selection, Masks) {
  const Tensor x = Tensor::from_data({0.f, 3.f, 0.f, -1.f, 5.f, 0.f}, {2, 3});
  const Tensor places = nonzero(x);
  EXPECT_EQ(places.shape(), (Shape{3, 2}));
  EXPECT_EQ(places.dtype(), DType::Int64);
  expect_numbers(places, {0, 1, 1, 0, 1, 1});
  expect_numbers(masked_select(x, x != 0), {3, -1, 5});
  expect_numbers(masked_select(x, Tensor::from_data({true, false, true}, {3})), {0, 0, -1, 0});
  EXPECT_EQ(nonzero(Tensor::zeros({4})).shape(), (Shape{0, 1}));
  EXPECT_EQ(nonzero(Tensor::zeros({0, 3})).shape(), (Shape{0, 2}));
  expect_numbers(masked_scatter(x, x != 0, counting({6})), {0, 0, 0, 1, 2, 0});
  expect_numbers(x[x > 0], {3, 5});
  expect_numbers(x.index({Slice{}, Tensor::from_data({true, false, true}, {3})}), {0, 0, -1, 0});
  const Tensor v = Tensor::from_data({1., 2., 3.}, {3});
  expect_numbers(masked_select(v, v > 1).square().sum().gradient({v})[0], {0, 4, 6});
  error_of([&] { masked_select(x, x); });
  error_of([&] { x[Tensor::from_data({true, false}, {2}).cast(DType::Float32)]; });
}

TEST(Selection, Tables) {
  const Tensor w = counting({4, 2});
  const Tensor index = ids({0, 2, 2, 3}, {2, 2});
  using Mode = EmbeddingBagOptions::Mode;
  expect_numbers(embedding_bag(w, index), {2, 3, 5, 6});
  expect_numbers(embedding_bag(w, index, {.mode = Mode::Sum}), {4, 6, 10, 12});
  expect_numbers(embedding_bag(w, index, {.mode = Mode::Max}), {4, 5, 6, 7});
  const Tensor flat = ids({0, 2, 2, 3}), offsets = ids({0, 3, 3});
  expect_numbers(embedding_bag(w, flat, {.mode = Mode::Sum, .offsets = offsets}),
                 {8, 11, 0, 0, 6, 7});
  expect_numbers(embedding_bag(w, flat, {.offsets = offsets, .padding_index = 2}),
                 {0, 1, 0, 0, 6, 7});
  expect_numbers(
      embedding_bag(w, index,
                    {.mode = Mode::Sum,
                     .per_sample_weights = Tensor::from_data({1.f, 2.f, 0.f, 1.f}, {2, 2})}),
      {8, 11, 6, 7});
  const Tensor rows = embedding(w, index, 2);
  expect_numbers(rows.sum().gradient({w})[0], {1, 1, 0, 0, 0, 0, 1, 1});
  EXPECT_EQ(one_hot(ids({1, 3})).shape(), (Shape{2, 4}));
}

}  // namespace
}  // namespace croze
