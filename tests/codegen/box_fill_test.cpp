// box_fill_test.cpp -- which axes a buffer has for boxes, found in an index and its gate.
#include "croze/codegen/edits/warps/box_fill.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/text/print.h"

namespace croze {
namespace {

class BoxAxesOfPlaces : public testing::Test {
 protected:
  // "72 by 1, 50 by 72: 3 behind", the sizes and strides, and constants of coordinates.
  std::string axes_of(UOp index, UOp gate = {}, std::int64_t elements = 1 << 20,
                      DType t = DType::BFloat16) {
    const UOp buffer = g.param(t, 1, elements);
    const auto axes =
        box_axes(gate ? g.place(buffer, index, gate) : g.place(buffer, index), along, across);
    if (!axes) return "none";
    std::string text;
    for (const BoxAxis& a : *axes) {
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", a.size, a.stride);
      if (a.coordinate.constant != 0) text += fmt::format(" from {} on", a.coordinate.constant);
    }
    return text;
  }

  Graph g;
  const UOp group = g.range(0, 4, LoopKind::Group), turn = g.range(1, 3, LoopKind::Reduce),
            across = g.range(2, 64, LoopKind::Parallel), along = g.range(3, 64, LoopKind::Depth),
            batch = g.range(4, 5, LoopKind::Group);
  const UOp line = group * 64 + across, term = turn * 64 + along;
};

TEST_F(BoxAxesOfPlaces, OfAMatrixAreRowsAndPlacesInThem) {
  EXPECT_EQ(axes_of(line * 192 + term), "192 by 1, 256 by 192");
}

TEST_F(BoxAxesOfPlaces, EndWhereTheGateSays) {
  EXPECT_EQ(axes_of(line * 136 + term, less(term, 136)), "136 by 1, 256 by 136");
  EXPECT_EQ(axes_of(line * 136 + term, less(term, 136) & less(line, 200)), "136 by 1, 200 by 136");
  EXPECT_EQ(axes_of(line * 192 + term, less(line, 200)), "192 by 1, 200 by 192");
}

TEST_F(BoxAxesOfPlaces, HaveAThirdOneWhereTheGateIsOfOneMatrix) {
  EXPECT_EQ(axes_of((batch * 200 + line) * 192 + term, less(line, 200)),
            "192 by 1, 200 by 192, 5 by 38400");
  EXPECT_EQ(axes_of((batch * 256 + line) * 192 + term), "192 by 1, 1280 by 192");
}

TEST_F(BoxAxesOfPlaces, OfAViewBeginInside) {
  EXPECT_EQ(axes_of(line * 256 + term + 3 * 256 + 5), "197 by 1 from 5 on, 259 by 256 from 3 on");
}

TEST_F(BoxAxesOfPlaces, AreNoneOfWhatTheDeviceCannotCopy) {
  EXPECT_EQ(axes_of(line * 100 + term, less(term, 100)), "none");  // 200 bytes from row to row
  EXPECT_EQ(axes_of(line * 192 + term * 2), "none");               // every other element
  EXPECT_EQ(axes_of(line * 192 + term, less(g.index(3), term)), "none");
  EXPECT_EQ(axes_of(line * 192 + term - 1, less(g.index(0), term)), "none");
  EXPECT_EQ(axes_of((line / 3) * 192 + term), "none");
  EXPECT_EQ(axes_of(line + term), "none");
  const UOp row = g.cast(g.load(g.place(g.param(DType::Int32, 2, 256), line)), DType::Index);
  EXPECT_EQ(axes_of(row * 192 + term), "none");
}

}  // namespace
}  // namespace croze
