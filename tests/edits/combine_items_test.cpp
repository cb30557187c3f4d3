// Items of a group that reduce together.
#include <gtest/gtest.h>

#include "croze/codegen/edits/item_axes.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/kernels.h"
#include "edits/run_edited.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

// Of warps of so many items.
Caps warps_of(std::int64_t items) {
  Caps caps = gpu_shaped_caps();
  caps.warp_items = items;
  return caps;
}

void expect_same(const SmallKernel& kernel, const char* edits, std::int64_t warp = 32) {
  const auto device = make_interpreter(warps_of(warp));
  const Edited edited =
      run_edited(*device, kernel, [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
  EXPECT_EQ(edited.result, kernel.expected)
      << kernel.name << ": " << edits << ", warps of " << warp;
}

std::int64_t count(const LinearProgram& program, Op op) {
  return std::ranges::count_if(program.instructions, [&](UOp u) { return u.is(op); });
}

// How the items of rows_kernel() combine a maximum and a sum of eight terms.
LinearProgram rows_by_warps_of(std::int64_t items) {
  const auto share = [](KernelState& k) {
    apply_all(k, parse_edits("bind r0 group; bind r1 item; bind r2 item; bind r3 item"));
  };
  return make_program(rows_kernel().sink, warps_of(items), share);
}

ItemAxes axes_after(const SmallKernel& kernel, const char* edits) {
  const Caps caps = gpu_shaped_caps();
  KernelState k(kernel.sink, caps);
  apply_all(k, parse_edits(edits));
  return *item_axes(k.sink, k.loops);
}

TEST(CombineItems, AReductionIsSharedByTheItemsOfAGroup) {
  expect_same(product_kernel(), "bind r2 item");
  expect_same(product_kernel(), "split_reduction r2 by 2; bind r4 item");
  expect_same(product_kernel(), "bind r0 group; bind r1 item; bind r2 item");
  expect_same(product_kernel(), "bind r0 item; bind r1 item; bind r2 item");
}

TEST(CombineItems, SizesThatAreNoPowersOfTwoAreCombinedToo) {
  expect_same(position_kernel(), "pad r1 by 3; split_reduction r3 by 3; bind r5 item");
  expect_same(squares_kernel(), "bind r2 item");
  expect_same(cubes_kernel(), "bind r2 item");
}

TEST(CombineItems, OneReductionNeedsAnother) {
  expect_same(position_kernel(), "bind r1 item; bind r2 item");
  expect_same(position_kernel(), "bind r0 group; bind r1 item; bind r2 item");
}

TEST(CombineItems, AWarpShufflesAndNobodyWaits) {
  const LinearProgram program = rows_by_warps_of(8);
  EXPECT_EQ(count(program, Op::Shuffle), 2 * 3 - 1);  // both give x away first
  EXPECT_EQ(count(program, Op::Barrier), 0);
  EXPECT_EQ(count(program, Op::Local), 0);
}

TEST(CombineItems, SeveralWarpsMeetOnce) {
  const LinearProgram program = rows_by_warps_of(4);
  EXPECT_EQ(count(program, Op::Shuffle), 2 * (2 + 1) - 1);
  EXPECT_EQ(count(program, Op::Barrier), 1);  // between what they write and what they read
}

TEST(CombineItems, OfWarpsThatAreNotWholeThereIsATree) {
  const LinearProgram program = rows_by_warps_of(16);
  EXPECT_EQ(count(program, Op::Shuffle), 0);
  EXPECT_GT(count(program, Op::Barrier), 4);
}

TEST(CombineItems, WhetherSomethingHoldsIsVotedOn) {
  const auto share = [](KernelState& k) {
    apply_all(k, parse_edits("bind r0 group; bind r1 item; bind r2 item"));
  };
  const LinearProgram program = make_program(votes_kernel().sink, warps_of(8), share);
  EXPECT_EQ(count(program, Op::Ballot), 2);
  EXPECT_EQ(count(program, Op::Shuffle), 0);
  EXPECT_EQ(count(program, Op::Barrier), 0);
}

// A warp has several rows, of neighbours or of items that lie apart, or a row several warps.
TEST(CombineItems, EachRowHasItsBitsOfABallot) {
  for (std::int64_t warp : {4, 8, 16, 32, 64}) {
    for (const SmallKernel& kernel :
         {votes_kernel(8, 8), votes_kernel(4, 16), votes_kernel(3, 8)}) {
      expect_same(kernel, "bind r0 group; bind r1 item; bind r2 item", warp);
      expect_same(kernel, "bind r0 item; bind r1 item; bind r2 item", warp);
      expect_same(kernel, "bind r1 item; bind r0 item; bind r2 item", warp);
    }
  }
}

TEST(CombineItems, WarpsOfAllSizesComeToTheSame) {
  for (std::int64_t warp : {2, 4, 8, 16}) {
    expect_same(rows_kernel(), "bind r0 group; bind r1 item; bind r2 item; bind r3 item", warp);
    expect_same(product_kernel(), "bind r2 item", warp);
    expect_same(product_kernel(), "bind r0 item; bind r2 item", warp);
    expect_same(product_kernel(), "split r1 by 2; bind r4 item; bind r2 item", warp);
    expect_same(product_kernel(), "split_reduction r2 by 2; bind r4 item; bind r0 item", warp);
    expect_same(position_kernel(), "bind r0 group; bind r1 item; bind r2 item", warp);
  }
}

TEST(CombineItems, LanesOfOtherLoopsAreCombinedSideBySide) {
  Caps caps = gpu_shaped_caps();
  caps.vector_bytes = 8;
  const auto device = make_interpreter(caps);
  const SmallKernel kernel = product_kernel();
  const Edited edited = run_edited(*device, kernel, [](KernelState& k) {
    apply_all(k, parse_edits("split r1 by 2; bind r4 lane; bind r2 item"));
  });
  EXPECT_EQ(edited.result, kernel.expected);
}

TEST(CombineItems, ReductionsAndWhatIsMadeOfThemHaveTheSameItems) {
  const char* edits = "bind r0 group; bind r1 item; bind r2 item; bind r3 item";
  expect_same(rows_kernel(), edits);
  const ItemAxes items = axes_after(rows_kernel(), edits);
  EXPECT_EQ(items.axes.size(), 1u);
  EXPECT_FALSE(items.combining);
}

TEST(CombineItems, WhatNoOutputLoopIsForHasAnAxisOfItsOwn) {
  const ItemAxes items = axes_after(position_kernel(), "bind r0 item; bind r1 item; bind r2 item");
  ASSERT_EQ(items.axes.size(), 2u);
  EXPECT_EQ(items.axis_of.at(1), items.axis_of.at(2));
  EXPECT_NE(items.axis_of.at(0), items.axis_of.at(1));
  EXPECT_TRUE(items.combining);
}

TEST(CombineItems, NeighboursInAWarpWalkMemorySideBySide) {
  // A row of x is read along r1, whatever the output loop is.
  const ItemAxes rows = axes_after(position_kernel(), "bind r0 item; bind r1 item; bind r2 item");
  EXPECT_EQ(rows.axis_of.at(1), 0);
  // In a product r1 are the columns of the second operand and of the result.
  const ItemAxes columns = axes_after(product_kernel(), "bind r1 item; bind r0 item");
  EXPECT_EQ(columns.axis_of.at(1), 0);
}

}  // namespace
}  // namespace croze::test
