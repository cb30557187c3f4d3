// Several rows are computed at once.
#include "croze/codegen/choose/interleave_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// out[i, j] = x[i, j] minus the largest of its row; r0, r1, r2 are i, j and the row's loop.
SmallKernel below_maximum(std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"below the maximum", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(rows * columns, 2)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp n = g.range(2, columns, LoopKind::Reduce);
  const UOp in = g.param(DType::Int32, 1, rows * columns);
  const UOp most = g.reduce(Op::Max, g.load(g.place(in, i * columns + n)), std::vector<UOp>{n});
  const UOp x = g.load(g.place(in, i * columns + j));
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  k.sink = g.sink(std::vector<UOp>{g.store(out, x - most, std::vector<UOp>{i, j})});
  for (std::int64_t r = 0; r < rows; r++) {
    const auto row =
        std::span(k.buffers[1])
            .subspan(static_cast<std::size_t>(r * columns), static_cast<std::size_t>(columns));
    for (std::int32_t v : row) k.expected.push_back(v - std::ranges::max(row));
  }
  return k;
}

// out[i] = sum over j of (nibble j of row i of `packed`) * x[j]: byte b of a row holds the nibbles
// b and b + columns / 2.  r0, r1 are i and j.
SmallKernel packed_matrix(std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"packed", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t half = columns / 2;
  k.buffers = {numbers(rows, 1), numbers(rows * half, 2), numbers(columns, 3)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Reduce);
  const UOp byte = g.load(g.place(g.param(DType::Int32, 1, rows * half), i * half + j % half));
  const UOp place = cast(j / half * 4, DType::Int32);
  const UOp nibble = g.alu(Op::Shr, {byte, place}) & g.constant(DType::Int32, std::int64_t{15});
  const UOp x = g.load(g.place(g.param(DType::Int32, 2, columns), j));
  const UOp sum = g.reduce(Op::Add, nibble * x, std::vector<UOp>{j});
  k.sink = g.sink(std::vector<UOp>{
      g.store(g.place(g.param(DType::Int32, 0, rows), i), sum, std::vector<UOp>{i})});
  for (std::int64_t row = 0; row < rows; row++) {
    std::int32_t total = 0;
    for (std::int64_t c = 0; c < columns; c++) {
      const std::int32_t b = k.buffers[1][static_cast<std::size_t>(row * half + c % half)];
      total += (b >> (c / half * 4) & 15) * k.buffers[2][static_cast<std::size_t>(c)];
    }
    k.expected.push_back(total);
  }
  return k;
}

// out[i] = sum of the window of x that begins at i * step; r0, r1 are i and the window's loop.
SmallKernel sums_of_windows(std::int64_t windows, std::int64_t width, std::int64_t step) {
  SmallKernel k{"windows", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t length = windows * step + width;
  k.buffers = {numbers(windows, 1), numbers(length, 2)};
  const UOp i = g.range(0, windows, LoopKind::Parallel), n = g.range(1, width, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, length), i * step + n));
  const UOp sum = g.reduce(Op::Add, x, std::vector<UOp>{n});
  k.sink = g.sink(std::vector<UOp>{
      g.store(g.place(g.param(DType::Int32, 0, windows), i), sum, std::vector<UOp>{i})});
  for (std::int64_t w = 0; w < windows; w++) {
    const auto first = k.buffers[1].begin() + w * step;
    k.expected.push_back(std::accumulate(first, first + width, 0));
  }
  return k;
}

std::size_t unrolled_before_lanes(const std::string& edits) {
  return edits.substr(0, edits.find("lane")).find("unroll");
}

TEST(InterleaveRows, TwoShortRowsAreCopiesOfTheCode) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const SmallKernel kernel = below_maximum(6, 64);
  const Edited edited = run_edited(*device, kernel, choose_edits);
  EXPECT_NE(unrolled_before_lanes(edited.edits), std::string::npos) << edited.edits;
  EXPECT_EQ(edited.result, kernel.expected);
}

TEST(InterleaveRows, LongRowsAndOddNumbersOfThemStayAlone) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  for (const SmallKernel& kernel : {below_maximum(6, 1024), below_maximum(5, 64)}) {
    const Edited edited = run_edited(*device, kernel, choose_edits);
    EXPECT_EQ(unrolled_before_lanes(edited.edits), std::string::npos) << edited.edits;
    EXPECT_EQ(edited.result, kernel.expected);
  }
}

// Lanes are windows: none of them has to be summed up at the end.
TEST(InterleaveRows, WindowsAreNoRows) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const SmallKernel kernel = sums_of_windows(64, 32, 1);
  const Edited edited = run_edited(*device, kernel, choose_edits);
  EXPECT_TRUE(edited.edits.starts_with("split r0 by ")) << edited.edits;
  EXPECT_EQ(unrolled_before_lanes(edited.edits), std::string::npos) << edited.edits;
  EXPECT_EQ(edited.result, kernel.expected);
}

// Both nibbles of a byte, in four rows, use it and the vector while they are there.
TEST(InterleaveRows, FourRowsOfAMatrixShareTheVectorAndFieldsTheirBytes) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const SmallKernel kernel = packed_matrix(12, 256);
  const Edited edited = run_edited(*device, kernel, [](KernelState& k) {
    split(k, closed_ranges(reduces(k.sink)[0])[0], 128);
    simplify(k);
    choose_edits(k);
  });
  EXPECT_NE(edited.edits.find("split r0 by 4; bind r5 unroll"), std::string::npos) << edited.edits;
  EXPECT_NE(edited.edits.find("bind r2 unroll"), std::string::npos) << edited.edits;
  EXPECT_EQ(edited.result, kernel.expected);
}

// A row that is read once has copies of the code for all its vectors, and no loop.
TEST(InterleaveRows, AShortRowThatIsOnlyReducedIsWhole) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const std::int64_t lanes = device->caps().vector_bytes / 4;
  const SmallKernel kernel = sums_of_windows(64, 8 * lanes, 8 * lanes);
  const Edited edited = run_edited(*device, kernel, choose_edits);
  EXPECT_NE(edited.edits.find("split_reduction r4 by 8; bind r4 unroll"), std::string::npos)
      << edited.edits;
  EXPECT_EQ(edited.result, kernel.expected);
}

TEST(InterleaveRows, WhatIsKeptHasARowForEachCopy) {
  const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
  const SmallKernel kernel = squares_kernel();
  for (const char* edits : {"bind r0 unroll; keep r2 r1 by 1", "bind r0 unroll; keep r2 r1 by 8"}) {
    const auto edit = [&](KernelState& k) { apply_all(k, parse_edits(edits)); };
    EXPECT_EQ(run_edited(*device, kernel, edit).result, kernel.expected) << edits;
  }
}

}  // namespace
}  // namespace croze
