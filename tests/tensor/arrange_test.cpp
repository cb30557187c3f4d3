// Rearrangements against positions worked out by hand.
#include "support/check.h"

namespace croze {
namespace {

using namespace test;

Tensor counting(const Shape& shape) {
  return Tensor::arange(shape.numel()).reshape(shape).realize();
}

TEST(Arrange, AxesMove) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(movedim(x, 0, -1).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(movedim(x, {0, 1}, {2, 0}).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(unflatten(x, 2, {2, -1}).shape(), (Shape{2, 3, 2, 2}));
  EXPECT_EQ(atleast_3d(counting({5})).shape(), (Shape{1, 5, 1}));
  expect_numbers(roll(counting({2, 3}), {1}, 1), {2, 0, 1, 5, 3, 4});
  expect_numbers(roll(counting({2, 3}), {-1}), {1, 2, 3, 4, 5, 0});
  expect_numbers(roll(counting({2, 3}), {1, 1}, {0, 1}), {5, 3, 4, 2, 0, 1});
  expect_numbers(rot90(counting({2, 2})), {1, 3, 0, 2});
  expect_numbers(rot90(counting({2, 2}), -1), {2, 0, 3, 1});
  expect_numbers(rot90(counting({2, 3}), 2), {5, 4, 3, 2, 1, 0});
  error_of([&] { movedim(x, 0, {1, 2}); });
}

TEST(Arrange, Repeats) {
  expect_numbers(tile(counting({2}), {2}), {0, 1, 0, 1});
  EXPECT_EQ(tile(counting({2, 3}), {2}).shape(), (Shape{2, 6}));
  expect_numbers(repeat_interleave(counting({2, 2}), 2, 1), {0, 0, 1, 1, 2, 2, 3, 3});
  expect_numbers(repeat_interleave(counting({3}), Tensor::from_data({2, 0, 3}, {3}), 0),
                 {0, 0, 2, 2, 2});
  const Tensor lines[] = {counting({2}), counting({3})};
  const std::vector<Tensor> grid = meshgrid(lines);
  expect_numbers(grid[0], {0, 0, 0, 1, 1, 1});
  expect_numbers(grid[1], {0, 1, 2, 0, 1, 2});
  EXPECT_EQ(meshgrid(lines, MeshIndexing::XY)[0].shape(), (Shape{3, 2}));
  expect_numbers(cartesian_prod(lines), {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2});
}

TEST(Arrange, JoinsAndCuts) {
  const Tensor a = counting({2}), parts[] = {a, a + 5};
  expect_numbers(hstack(parts), {0, 1, 5, 6});
  EXPECT_EQ(vstack(parts).shape(), (Shape{2, 2}));
  EXPECT_EQ(dstack(parts).shape(), (Shape{1, 2, 2}));
  expect_numbers(column_stack(parts), {0, 5, 1, 6});
  expect_numbers(block_diag(parts), {0, 1, 0, 0, 0, 0, 5, 6});
  EXPECT_EQ(unbind(counting({3, 2})).size(), 3U);
  const std::vector<Tensor> split = tensor_split(counting({7}), 3);
  EXPECT_EQ(split[0].numel(), 3);
  EXPECT_EQ(split[2].numel(), 2);
  expect_numbers(tensor_split(counting({7}), Shape{2, 5})[1], {2, 3, 4});
}

TEST(Arrange, Diagonals) {
  const Tensor x = counting({3, 4});
  expect_numbers(diagonal(x), {0, 5, 10});
  expect_numbers(diagonal(x, 2), {2, 7});
  expect_numbers(diagonal(x, -1), {4, 9});
  EXPECT_EQ(diagonal(x, 4).shape(), (Shape{0}));
  EXPECT_EQ(diagonal(counting({2, 3, 4}), 0, 0, 2).shape(), (Shape{3, 2}));
  expect_numbers(diagonal(counting({2, 2, 2}), 0, 0, 2), {0, 5, 2, 7});
  expect_numbers(diag_embed(counting({2}) + 1, 1), {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_numbers(diag(counting({2}) + 1, -1), {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_numbers(diagonal(diag_embed(counting({2, 3}), -2), -2, 1, 2), {0, 1, 2, 3, 4, 5});
  expect_numbers(tril_indices(2, 2), {0, 1, 1, 0, 0, 1});
  expect_numbers(triu_indices(2, 3, 1), {0, 0, 1, 1, 2, 2});
}

TEST(Arrange, Borders) {
  const Tensor x = counting({4});
  expect_numbers(pad(x, {2, 3}, PadMode::Reflect), {2, 1, 0, 1, 2, 3, 2, 1, 0});
  expect_numbers(pad(x, {2, 1}, PadMode::Replicate), {0, 0, 0, 1, 2, 3, 3});
  expect_numbers(pad(x, {2, 1}, PadMode::Circular), {2, 3, 0, 1, 2, 3, 0});
  expect_numbers(pad(x, {-1, 2}, PadMode::Replicate), {1, 2, 3, 3, 3});
  expect_numbers(pad(x, {1, 1}, PadMode::Constant, 9), {9, 0, 1, 2, 3, 9});
  expect_numbers(pad(counting({2, 2}), {1, 0, 0, 1}, PadMode::Reflect),
                 {1, 0, 1, 3, 2, 3, 1, 0, 1});
  error_of([&] { pad(x, {4, 0}, PadMode::Reflect); });
}

}  // namespace
}  // namespace croze
