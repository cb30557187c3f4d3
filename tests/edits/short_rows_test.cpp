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

}  // namespace
}  // namespace croze
