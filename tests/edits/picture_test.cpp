// Which edits convolutions of pictures get, and that they compute what they mean.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// A square picture of `in` channels, a window of 3x3, zeros beyond the border.
struct Picture {
  std::int64_t channels, in, size, step;
  std::int64_t out_size() const { return (size - 1) / step + 1; }
};

UOp within(UOp place, std::int64_t size) { return less(place * -1, 1) & less(place, size); }

// out[c, y, x] = sum over d, ky, kx of w[c, d, ky, kx] * p[d, y * step + ky - 1, x * step + kx -
// 1], where p has one channel, c, for each of the result's, if `in` is 1.
UOp convolution_sink(Graph& g, const Picture& p) {
  const std::int64_t out = p.out_size(), area = p.size * p.size;
  const std::int64_t sources = p.in == 1 ? p.channels : p.in;
  const UOp c = g.range(0, p.channels, LoopKind::Parallel);
  const UOp y = g.range(1, out, LoopKind::Parallel), x = g.range(2, out, LoopKind::Parallel);
  const UOp d = p.in == 1 ? g.index(0) : g.range(3, p.in, LoopKind::Reduce);
  const UOp ky = g.range(4, 3, LoopKind::Reduce), kx = g.range(5, 3, LoopKind::Reduce);
  const UOp row = y * p.step + ky - 1, column = x * p.step + kx - 1;
  const UOp gate = within(row, p.size) & within(column, p.size);
  const UOp index = (p.in == 1 ? c : d) * area + row * p.size + column;
  const UOp pixel = g.load(g.place(g.param(DType::Int32, 1, sources * area), index, gate));
  const UOp weight = g.load(
      g.place(g.param(DType::Int32, 2, p.channels * p.in * 9), ((c * p.in + d) * 3 + ky) * 3 + kx));
  std::vector<UOp> closed{ky, kx};
  if (p.in > 1) closed.insert(closed.begin(), d);
  const UOp place =
      g.place(g.param(DType::Int32, 0, p.channels * out * out), (c * out + y) * out + x);
  const UOp sum = g.reduce(Op::Add, pixel * weight, closed);
  return g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{c, y, x})});
}

std::int32_t expected_at(const SmallKernel& k, const Picture& p, std::int64_t c, std::int64_t y,
                         std::int64_t x) {
  std::int32_t total = 0;
  for (std::int64_t n = 0; n < p.in * 9; n++) {
    const std::int64_t d = n / 9, row = y * p.step + n % 9 / 3 - 1, column = x * p.step + n % 3 - 1;
    if (row < 0 || row >= p.size || column < 0 || column >= p.size) continue;
    const std::int64_t source = p.in == 1 ? c : d;
    total += k.buffers[1][static_cast<std::size_t>((source * p.size + row) * p.size + column)] *
             k.buffers[2][static_cast<std::size_t>(c * p.in * 9 + n)];
  }
  return total;
}

SmallKernel convolution(const Picture& p) {
  SmallKernel k{"convolution", std::make_shared<Graph>(), {}, {}, {}};
  const std::int64_t out = p.out_size(), sources = p.in == 1 ? p.channels : p.in;
  k.buffers = {numbers(p.channels * out * out, 1), numbers(sources * p.size * p.size, 2),
               numbers(p.channels * p.in * 9, 3)};
  k.sink = convolution_sink(*k.graph, p);
  for (std::int64_t n = 0; n < p.channels * out * out; n++) {
    k.expected.push_back(expected_at(k, p, n / out / out, n / out % out, n % out));
  }
  return k;
}

std::string edits_for(const Picture& picture, int vector_bytes = 64) {
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = vector_bytes;
  caps.vector_registers = 32;
  caps.l1_bytes = 32 << 10;
  caps.l2_bytes = 1 << 20;
  const SmallKernel kernel = convolution(picture);
  const auto [result, edits] = run_edited(*make_interpreter(caps), kernel, choose_edits);
  EXPECT_EQ(result, kernel.expected) << edits;
  return edits;
}

bool has(const std::string& edits, const char* text) { return edits.find(text) != edits.npos; }

TEST(Picture, WindowsOfAChannelSlideOverACopyWithABorder) {
  for (const Picture& p : {Picture{4, 1, 33, 1}, Picture{4, 1, 40, 2}}) {
    const std::string edits = edits_for(p);
    EXPECT_TRUE(has(edits, "stage") && has(edits, "unroll")) << edits;
  }
  for (const Picture& p : {Picture{4, 1, 24, 1}, Picture{6, 1, 14, 1}, Picture{16, 1, 7, 1}}) {
    const std::string edits = edits_for(p, 32);  // masks are dear
    EXPECT_TRUE(has(edits, "stage") && has(edits, "unroll")) << edits;
  }
}

TEST(Picture, EachVectorOfASmallOneHasCodeOfItsOwn) {
  for (const Picture& p : {Picture{4, 1, 24, 1}, Picture{4, 1, 20, 1}, Picture{6, 1, 14, 1},
                           Picture{16, 1, 7, 1}, Picture{64, 1, 5, 1}}) {
    const std::string edits = edits_for(p);
    EXPECT_TRUE(has(edits, "merge r1 r2") && !has(edits, "stage")) << edits;
  }
}

TEST(Picture, EveryOtherPlaceForManyChannelsIsCopiedInTwoPhases) {
  for (const Picture& p : {Picture{64, 8, 32, 2}, Picture{64, 4, 56, 2}, Picture{48, 4, 45, 2}}) {
    const std::string edits = edits_for(p);
    EXPECT_TRUE(has(edits, "lane") && has(edits, "stage")) << edits;
  }
}

// Masks of a window that is all copies of the code are the same in each channel.
TEST(Picture, WindowsWithMasksBecomeCopiesOfTheCode) {
  const std::string edits = edits_for({16, 8, 14, 1});
  EXPECT_TRUE(has(edits, "bind r5 unroll; bind r4 unroll")) << edits;
}

TEST(Picture, EveryOtherPlaceOfShortLinesIsReadAsItLies) {
  EXPECT_FALSE(has(edits_for({32, 1, 14, 2}), "stage"));
}

TEST(Picture, ALargeOneIsCopiedInBlocksOfLines) {
  EXPECT_TRUE(has(edits_for({2, 1, 96, 1}), "split r1 by 48"));
}

TEST(Picture, LinesThatMakeNoVectorsAreOneLoop) {
  EXPECT_TRUE(has(edits_for({64, 8, 7, 1}), "merge r1 r2")) << edits_for({64, 8, 7, 1});
  EXPECT_FALSE(has(edits_for({16, 4, 32, 1}), "merge"));
}

}  // namespace
}  // namespace croze
