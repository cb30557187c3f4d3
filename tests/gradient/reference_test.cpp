// The reference evaluator against values worked out by hand.
#include "support/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "croze/graph/graph.h"

namespace croze {
namespace {

using test::Reference;
using Numbers = std::vector<double>;

struct ReferenceTest : testing::Test {
  Graph graph;
  Reference reference;
  std::int64_t next = 0;

  UOp input(const Dims& shape, const Numbers& values, DType t = DType::Float32) {
    const UOp buffer = graph.buffer(t, next++, static_cast<std::int64_t>(values.size()), 0);
    reference.bind(buffer, values);
    return graph.movement(Op::Reshape, buffer, shape);
  }
  Numbers numbers(UOp u) { return reference.evaluate(u).numbers(); }
  UOp move(Op op, UOp x, std::initializer_list<std::int64_t> arg) {
    return graph.movement(op, x, Dims(arg));
  }
};

TEST_F(ReferenceTest, MovesElements) {
  const UOp x = input({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(numbers(move(Op::Reshape, x, {3, 2})), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(numbers(move(Op::Permute, x, {1, 0})), (Numbers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(numbers(move(Op::Flip, x, {0, 1})), (Numbers{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(numbers(move(Op::Pad, x, {1, 0, 0, 1})), (Numbers{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_EQ(numbers(move(Op::Shrink, x, {1, 2, 0, 2})), (Numbers{4, 5}));
  EXPECT_EQ(numbers(move(Op::Expand, input({1, 2}, {7, 8}), {2, 2})), (Numbers{7, 8, 7, 8}));
}

TEST_F(ReferenceTest, PermutesThreeAxes) {
  const UOp x = input({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  // Axis k of the result is axis order[k] of the source.
  EXPECT_EQ(numbers(move(Op::Permute, x, {2, 0, 1})), (Numbers{1, 4, 2, 5, 3, 6}));
}

TEST_F(ReferenceTest, WindowsOverlapAndUnwindowPutsThemBack) {
  const UOp x = input({5}, {1, 2, 3, 4, 5});
  const UOp windows = move(Op::Window, x, {0, 3, 2, 1});
  EXPECT_EQ(numbers(windows), (Numbers{1, 2, 3, 3, 4, 5}));
  EXPECT_EQ(numbers(move(Op::Window, x, {0, 2, 1, 3})), (Numbers{1, 4, 2, 5}));
  // Row p, column k: the window element that came from x[p].
  EXPECT_EQ(numbers(move(Op::Unwindow, windows, {0, 5, 2, 1})),
            (Numbers{1, 0, 0, 0, 2, 0, 3, 0, 3, 0, 4, 0, 0, 0, 5}));
}

TEST_F(ReferenceTest, ReducesAndKeepsTheAxis) {
  const UOp x = input({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::int64_t rows[] = {0}, both[] = {0, 1};
  EXPECT_EQ(numbers(graph.reduce_axes(Op::Add, x, rows)), (Numbers{5, 7, 9}));
  EXPECT_EQ(numbers(graph.reduce_axes(Op::Mul, x, both)), (Numbers{720}));
  EXPECT_EQ(numbers(graph.reduce_axes(Op::Max, x, both)), (Numbers{6}));
  EXPECT_EQ(numbers(graph.reduce_axes(Op::Min, x, rows)), (Numbers{1, 2, 3}));
  const UOp with_nan = input({2}, {1, NAN});
  EXPECT_TRUE(std::isnan(numbers(graph.reduce_axes(Op::Max, with_nan, rows))[0]));
}

TEST_F(ReferenceTest, RoundsToTheDtype) {
  const UOp third = input({1}, {1.0 / 3}, DType::Float16);
  EXPECT_EQ(numbers(third)[0], 1365.0 / 4096);
  const UOp bytes = input({1}, {200}, DType::UInt8);
  EXPECT_EQ(numbers(bytes + bytes)[0], 144);
  EXPECT_EQ(numbers(cast(input({1}, {-2.7}), DType::Int32))[0], -2);
}

TEST_F(ReferenceTest, GathersAndScatters) {
  const UOp x = input({2, 3}, {1, 2, 3, 4, 5, 6});
  const UOp row = input({3}, {1, 0, 7}, DType::Int64), column = input({3}, {2, 0, 0}, DType::Int64);
  EXPECT_EQ(numbers(graph.make(Op::Gather, x.dtype(), {x, row, column})), (Numbers{6, 1, 0}));
  const UOp base = input({3}, {10, 20, 30}), value = input({3}, {1, 2, 3});
  const UOp twice = input({3}, {1, 1, -1}, DType::Int64);
  EXPECT_EQ(numbers(graph.make(Op::Scatter, base.dtype(), {base, value, twice}, Arg(0))),
            (Numbers{10, 2, 30}));
  EXPECT_EQ(numbers(graph.make(Op::Scatter, base.dtype(), {base, value, twice},
                               Arg(static_cast<std::int64_t>(Op::Add)))),
            (Numbers{10, 23, 30}));
}

TEST_F(ReferenceTest, StoresIntoViews) {
  const UOp x = input({2, 3}, {1, 2, 3, 4, 5, 6}), value = input({2, 1}, {8, 9});
  const UOp stores[] = {
      graph.store(move(Op::Flip, move(Op::Shrink, x, {0, 2, 1, 2}), {1, 0}), value)};
  EXPECT_EQ(numbers(graph.after(x, stores)), (Numbers{1, 9, 3, 4, 8, 6}));
}

TEST_F(ReferenceTest, CountsWithIota) {
  EXPECT_EQ(reference.evaluate(graph.iota(3) * 2 + 1).integers(),
            (std::vector<std::int64_t>{1, 3, 5}));
}

}  // namespace
}  // namespace croze
