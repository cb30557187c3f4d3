// Indexing, gathers and scatters, against numbers and the reference.
#include "support/check.h"

namespace croze {
namespace {

using namespace test;
using namespace indexing;

Tensor counted(const Shape& shape) {
  return Tensor::arange(shape.numel()).reshape(shape).realize();
}
Tensor ids(std::initializer_list<int> values) {
  return Tensor::from_data(values, {static_cast<std::int64_t>(values.size())});
}

TEST(Indexing, TakesBasicIndices) {
  const Tensor x = counted({3, 4});
  expect_numbers(x[1], {4, 5, 6, 7});
  expect_numbers(x[-1], {8, 9, 10, 11});
  expect_numbers(x[Slice{0, 2}], {0, 1, 2, 3, 4, 5, 6, 7});
  expect_numbers(x.index({1, 2}), {6});
  EXPECT_EQ(x.index({1, 2}).ndim(), 0);
  expect_numbers(x.index({Slice{}, 1}), {1, 5, 9});
  expect_numbers(x.index({Ellipsis, Slice{None, None, -2}}), {3, 1, 7, 5, 11, 9});
  EXPECT_EQ(x.index({None, 0}).shape(), (Shape{1, 4}));
  EXPECT_EQ(x.index({Ellipsis, None}).shape(), (Shape{3, 4, 1}));
  EXPECT_EQ(counted({2, 3, 4}).index({0, Ellipsis, 0}).shape(), (Shape{3}));
}

TEST(Indexing, TakesTensors) {
  const Tensor x = counted({3, 4});
  expect_numbers(x[ids({2, 0})], {8, 9, 10, 11, 0, 1, 2, 3});
  expect_numbers(x[ids({-1})], {8, 9, 10, 11});
  expect_numbers(x[ids({5})], {0, 0, 0, 0});
  expect_numbers(x.index({ids({0, 1, 2}), ids({3, 2, 1})}), {3, 6, 9});
  expect_numbers(x.index({Slice{1, 3}, ids({0, 3})}), {4, 7, 8, 11});
  expect_numbers(x.index({ids({0, 2}).reshape({2, 1}), ids({1, 3})}), {1, 3, 9, 11});
}

TEST(Indexing, WhatIsTakenOfNothingIsOnItsDevice) {
  const TensorOptions options{.device = "INTERP"};
  const Tensor x = Tensor::arange(3, options).contiguous().realize().narrow(0, 0, 0);
  Tensor taken = x.index({Tensor::from_data({0, 0}, {2}, options)});
  taken.realize();
  EXPECT_EQ(taken.device(), "INTERP");
  expect_numbers(taken, {0, 0});
}

TEST(Indexing, PlacesTheAxesOfTensorsAsPyTorchDoes) {
  const Tensor x = counted({2, 3, 4, 5});
  const Tensor i = Tensor::zeros({7}, {.dtype = DType::Int64}),
               j = i.reshape({7, 1}).expand({7, 6});
  EXPECT_EQ(x.index({Slice{}, i}).shape(), (Shape{2, 7, 4, 5}));
  EXPECT_EQ(x.index({Slice{}, i, i}).shape(), (Shape{2, 7, 5}));
  EXPECT_EQ(x.index({Slice{}, j}).shape(), (Shape{2, 7, 6, 4, 5}));
  EXPECT_EQ(x.index({i, Slice{}, i}).shape(), (Shape{7, 3, 5}));
  EXPECT_EQ(x.index({Slice{}, i, Slice{}, i}).shape(), (Shape{7, 2, 4}));
  EXPECT_EQ(x.index({j, i.narrow(0, 0, 6)}).shape(), (Shape{7, 6, 4, 5}));
  const Tensor k = ids({1, 0}), l = ids({2, 1});
  expect_reference(x.index({Slice{}, k, l}));
  expect_reference(x.index({k, Slice{}, l}));
  expect_reference(x.index({Slice{}, k, None, l}));
  expect_reference(x.index({Ellipsis, l.reshape({2, 1}), k}));
}

TEST(Indexing, Gathers) {
  const Tensor x = counted({2, 3});
  expect_numbers(x.gather(1, Tensor::from_data({0, 2, 1, 1}, {2, 2})), {0, 2, 4, 4});
  expect_numbers(x.gather(0, Tensor::from_data({1, 0, 1}, {1, 3})), {3, 1, 5});
  expect_numbers(x.gather(1, Tensor::from_data({0, 7}, {2, 1})), {0, 0});
  expect_numbers(take_along_dim(x, x.argmax(1, true), 1), {2, 5});
  expect_numbers(take_along_dim(x, Tensor::from_data({1}, {1, 1}), 1), {1, 4});
  expect_numbers(x.index_select(1, ids({2, 2, 0})), {2, 2, 0, 5, 5, 3});
}

TEST(Indexing, EmbedsAndEncodes) {
  const Tensor weight = counted({4, 2}).cast(DType::Float32);
  const Tensor tokens = Tensor::from_data({3, 0, 1, 1}, {2, 2});
  expect_numbers(embedding(weight, tokens), {6, 7, 0, 1, 2, 3, 2, 3});
  EXPECT_EQ(embedding(weight, tokens).shape(), (Shape{2, 2, 2}));
  expect_numbers(one_hot(ids({2, 0}), 3), {0, 0, 1, 1, 0, 0});
}

TEST(Indexing, Scatters) {
  const Tensor x = Tensor::zeros({2, 3}), at = Tensor::from_data({0, 2, 1, 1}, {2, 2});
  const Tensor v = Tensor::from_data({1.f, 2.f, 3.f, 4.f}, {2, 2});
  expect_numbers(x.scatter(1, at, v), {1, 0, 2, 0, 4, 0});
  expect_numbers(x.scatter_add(1, at, v), {1, 0, 2, 0, 7, 0});
  expect_numbers(x.scatter(1, at, 9), {9, 0, 9, 0, 9, 0});
  expect_numbers(x.scatter_add(0, Tensor::from_data({1, 5}, {1, 2}), v), {0, 0, 0, 1, 0, 0});
  const Tensor many = random_tensor({50}, 0, 4).cast(DType::Int64).realize();
  expect_reference(Tensor::ones({4}).scatter_add(0, many, random_tensor({50}, -1, 1)), 1e-5);
}

TEST(Indexing, GradientsOfRepeatedIndicesAddUp) {
  const Tensor w = random_tensor({3, 2}, -1, 1);
  const Tensor rows = embedding(w, ids({1, 1, 0}));
  expect_numbers(
      (rows * Tensor::from_data({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2})).sum().gradient({w})[0],
      {5, 6, 4, 6, 0, 0});
}

TEST(Indexing, WritesIntoMemory) {
  Tensor x = Tensor::from_data({0.f, 1.f, 2.f, 3.f, 4.f, 5.f}, {2, 3});
  x.index_put_({1}, 9);
  expect_numbers(x, {0, 1, 2, 9, 9, 9});
  x.index_put_({Slice{}, Slice{0, 3, 2}}, Tensor::from_data({7.f, 8.f}, {2, 1}));
  expect_numbers(x, {7, 1, 7, 8, 9, 8});
  x.index_put_({0, Slice{None, None, -1}}, Tensor::from_data({1.f, 2.f, 3.f}, {3}));
  expect_numbers(x, {3, 2, 1, 8, 9, 8});
  x.index_put_({1, 1}, -1);
  x.index_put_({1, 2}, -2);
  expect_numbers(x, {3, 2, 1, 8, -1, -2});
}

TEST(Indexing, WritesIntoValues) {
  Tensor x = Tensor::zeros({2, 3});
  x.index_put_({Slice{}, 1}, 5);
  expect_numbers(x, {0, 5, 0, 0, 5, 0});
  Tensor y = Tensor::from_data({0.f, 1.f, 2.f, 3.f}, {4});
  const Tensor before = y + 0;
  y.index_put_({ids({3, 0, 17})}, Tensor::from_data({8.f, 9.f, 10.f}, {3}));
  expect_numbers(y, {9, 1, 2, 8});
  expect_numbers(before, {0, 1, 2, 3});
}

TEST(Indexing, AChainOfWritesReadsWhatWasWritten) {
  Tensor x = Tensor::from_data({1.f, 1.f, 0.f, 0.f, 0.f, 0.f}, {6});
  for (int i = 2; i < 6; i++) x.index_put_({i}, x[i - 1] + x[i - 2]);
  expect_numbers(x, {1, 1, 2, 3, 5, 8});
}

}  // namespace
}  // namespace croze
