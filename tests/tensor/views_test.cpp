// Views share memory, as in PyTorch.  (tests/fuzz has random programs of views and assignments.)
#include <optional>

#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

Tensor counting(const Shape& shape) {
  return Tensor::arange(static_cast<double>(shape.numel())).reshape(shape).contiguous().realize();
}

TEST(Views, AssignmentsShowOnBothSides) {
  Tensor x = counting({2, 3});
  Tensor row = x[1], column = x.select(1, 0);
  row.fill_(9);
  expect_numbers(x, {0, 1, 2, 9, 9, 9});
  expect_numbers(column, {0, 9});
  column += 1;
  expect_numbers(x, {1, 1, 2, 10, 9, 9});
  expect_numbers(row, {10, 9, 9});
  x.zero_();
  expect_numbers(row, {0, 0, 0});
}

TEST(Views, ChainsOfViewsReachTheRoot) {
  Tensor x = counting({4, 4});
  x.narrow(0, 1, 2).transpose().slice(0, {0, std::nullopt, 2}).reshape({2, 1, 2}).assign(-1);
  expect_numbers(x, {0, 1, 2, 3, -1, 5, -1, 7, -1, 9, -1, 11, 12, 13, 14, 15});
  x.unsqueeze(0).permute({0, 2, 1})[0][3] *= 2;
  expect_numbers(x.select(1, 3), {6, 14, 22, 30});
}

TEST(Views, OfWhatIsNotComputedYet) {
  Tensor x = counting({4}) * 2;
  Tensor half = x.narrow(0, 0, 2);
  half.assign(7);
  expect_numbers(x, {7, 7, 4, 6});
  const Tensor y = x + 1;
  half.zero_();
  expect_numbers(y, {8, 8, 5, 7});
  expect_numbers(x, {0, 0, 4, 6});
}

TEST(Views, WhatPyTorchCopiesIsNoView) {
  Tensor x = counting({2, 3});
  Tensor copied = x.transpose().reshape({6});
  copied.zero_();
  Tensor flipped = x.flip(0);
  flipped.zero_();
  Tensor whole = x.contiguous();
  whole.zero_();
  expect_numbers(x, {0, 1, 2, 3, 4, 5});
  Tensor wide = counting({1, 3}).expand({2, 3});
  EXPECT_NE(error_of([&] { wide.zero_(); }).find("assign"), std::string::npos);
}

TEST(Views, AViewKeepsItsRoot) {
  Tensor part;
  {
    const Tensor x = counting({4});
    part = x.narrow(0, 1, 2);
  }
  part += 1;
  expect_numbers(part, {2, 3});
}

TEST(Views, AnElementOfARepeatedOneReachesTheRoot) {
  const Tensor x = counting({1}) + 20;  // computed, not yet in memory
  x.expand({3}).select(0, 1) += 3;
  expect_numbers(x, {23});
}

TEST(Views, BackwardsSlicesAreAssignedTo) {
  Tensor x = counting({3, 3});
  x.index_put_({0, Slice{3, -4, -2}}, -9);
  expect_numbers(x, {-9, 1, -9, 3, 4, 5, 6, 7, 8});
}

TEST(Views, AnotherCopyOfWhatWasComputedIsNotWrittenThrough) {
  const Tensor x = counting({3}) * 2;
  Tensor first = x.contiguous();
  first.realize();
  first.fill_(7);
  const Tensor second = x.contiguous();  // the same node as the first one
  realize({first, second});
  expect_numbers(first, {7, 7, 7});
  expect_numbers(second, {0, 2, 4});
}

TEST(Views, NothingIsAssignedToAnEmptyPart) {
  Tensor x = counting({2, 1}).expand({2, 3});
  x.index_put_({indexing::Ellipsis, Slice{2, 1}}, 7);
  expect_numbers(x, {0, 0, 0, 1, 1, 1});
}

TEST(Views, GradientsFlowThroughAssignments) {
  const Tensor x = Tensor::from_data({1., 2., 3.}, {3});
  Tensor y = x * 2;
  y.narrow(0, 0, 1).assign(x.narrow(0, 2, 1) * 10);
  expect_numbers(y.sum().gradient({x})[0], {0, 2, 12});
}

// A part may be computed before the whole, which is made from memory that nothing else reads.
TEST(Views, AViewThatWasComputedStillHasItsRoot) {
  Tensor part;
  {
    const Tensor x = counting({4}) * 2;
    part = x.narrow(0, 1, 2);
  }
  part.index_put_({Tensor::from_data<std::int64_t>({1}, {1})}, -7);
  part.realize();
  {
    GraphLock lock;
    Registry::instance().collect();
  }
  part += 5;
  expect_numbers(part, {7, -2});
}

// So many that they are written into memory.
TEST(Views, ManyPartsOfWhatIsNotInMemory) {
  const Tensor source = Tensor::from_data({1., 2., 3.}, {3}), scale = Tensor::from_data({2.}, {});
  Tensor x = Tensor::zeros({40, 3}, {.dtype = DType::Float64}) + scale;
  const Tensor before = x * 10, row = x[7];
  for (int i = 0; i < 30; i++) x[i] = source * i + (i > 0 ? x[i - 1] : scale);
  expect_numbers(before.sum(), {40 * 3 * 20});
  expect_numbers(row, {30, 58, 86});
  const std::vector<Tensor> gradients = x.sum().gradient({source, scale});
  double sums = 0;  // of 0, 1, 3, 6, ..
  for (int i = 0, sum = 0; i < 30; i++) sums += sum += i;
  expect_numbers(gradients[0], {sums, sums, sums});
  expect_numbers(gradients[1], {40 * 3});
  expect_numbers(x[29], {437, 872, 1307});
  expect_numbers(x[39], {2, 2, 2});
}

TEST(Views, OfASliceBackwardsShareItsCopy) {
  const Tensor x = Tensor::arange(8).reshape({2, 4}).contiguous().realize();
  Tensor backwards = x.slice(1, {std::nullopt, std::nullopt, -2});
  const Tensor flat = backwards.reshape({4});
  backwards += 10;
  expect_numbers(backwards, {13, 11, 17, 15});
  expect_numbers(flat, {13, 11, 17, 15});
  expect_numbers(x, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_numbers(x.slice(1, {1, 1, -1}), {});
}

}  // namespace
}  // namespace croze
