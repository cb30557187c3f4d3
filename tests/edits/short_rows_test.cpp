// Images whose rows are too short for a vector.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// out[c, y, x] = the sum of the 9 x 9 neighbours of in[c, y, x] that there are: more than are worth
// a copy with a border.
constexpr std::int64_t side = 9, reach = side / 2;
SmallKernel windows(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"windows", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t count = channels * rows * columns;
  k.buffers = {numbers(count, 1), numbers(count, 2)};
  const UOp c = g.range(0, channels, LoopKind::Parallel), y = g.range(1, rows, LoopKind::Parallel);
  const UOp x = g.range(2, columns, LoopKind::Parallel);
  const UOp dy = g.range(3, side, LoopKind::Reduce), dx = g.range(4, side, LoopKind::Reduce);
  const UOp row = y + dy, column = x + dx, before = g.index(reach - 1);
  const UOp gate = less(before, row) & less(row, rows + reach) & less(before, column) &
                   less(column, columns + reach);
  const UOp from = (c * rows + row - reach) * columns + column - reach;
  const UOp term = where(gate, g.load(g.place(g.param(DType::Int32, 1, count), from, gate)),
                         g.constant(DType::Int32, std::int64_t{0}));
  const UOp place = g.place(g.param(DType::Int32, 0, count), (c * rows + y) * columns + x);
  const UOp sum = g.reduce(Op::Add, term, std::vector<UOp>{dy, dx});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{c, y, x})});
  for (std::int64_t n = 0; n < count; n++) {
    std::int32_t total = 0;
    for (std::int64_t d = 0; d < side * side; d++) {
      const std::int64_t r = n / columns % rows + d / side - reach;
      const std::int64_t at = n % columns + d % side - reach;
      if (r < 0 || r >= rows || at < 0 || at >= columns) continue;
      const std::int64_t from_place = (n / columns / rows * rows + r) * columns + at;
      total += k.buffers[1][static_cast<std::size_t>(from_place)];
    }
    k.expected.push_back(total);
  }
  return k;
}

std::string edits_for(const SmallKernel& kernel) {
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = 64;
  caps.masked_vectors = true;
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const auto [result, edits] = run_edited(*device, kernel, choose_edits);
  EXPECT_EQ(result, kernel.expected);
  return edits;
}

TEST(ShortRows, AreJoinedWhereOnlyGatesTellThemApart) {
  const std::string edits = edits_for(windows(6, 25, 5));
  EXPECT_NE(edits.find("merge r1 r2"), std::string::npos) << edits;
}

TEST(ShortRows, ThatFillAVectorStayRows) {
  const std::string edits = edits_for(windows(6, 5, 14));
  EXPECT_EQ(edits.find("merge r1 r2"), std::string::npos) << edits;
}

// out = in with a column before and after each row, which hold nothing.
SmallKernel spaced(std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"spaced", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t wide = columns + 2;
  k.buffers = {numbers(rows * wide, 1), numbers(rows * columns, 2)};
  const UOp y = g.range(0, rows, LoopKind::Parallel), x = g.range(1, columns, LoopKind::Parallel);
  const UOp from = g.place(g.param(DType::Int32, 1, rows * columns), y * columns + x);
  const UOp to = g.place(g.param(DType::Int32, 0, rows * wide), y * wide + x + 1);
  k.sink = g.sink(std::vector<UOp>{g.store(to, g.load(from), std::vector<UOp>{y, x})});
  k.expected = k.buffers[0];
  for (std::int64_t n = 0; n < rows * columns; n++) {
    const auto at = static_cast<std::size_t>(n / columns * wide + n % columns + 1);
    k.expected[at] = k.buffers[1][static_cast<std::size_t>(n)];
  }
  return k;
}

// Of three vectors of a row two are full.
TEST(ShortRows, AreCopiesOfTheCodeWhereTheLastVectorIsMasked) {
  const std::string edits = edits_for(spaced(6, 35));
  EXPECT_NE(edits.find("unroll"), std::string::npos) << edits;
  const std::string even = edits_for(spaced(6, 48));
  EXPECT_EQ(even.find("unroll"), std::string::npos) << even;
  const std::string many = edits_for(spaced(2, 16 * 20 + 1));
  EXPECT_EQ(many.find("unroll"), std::string::npos) << many;
}

// 4099 vectors, a prime number of them.
TEST(Tasks, OfASizeWithoutDivisorsAreFew) {
  const std::string edits = edits_for(spaced(1, 4099 * 16));
  EXPECT_NE(edits.find("pad r2 by"), std::string::npos) << edits;
}

}  // namespace
}  // namespace croze
