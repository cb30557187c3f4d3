// Items of a group that reduce together.
#include <gtest/gtest.h>

#include "croze/codegen/edits/item_axes.h"
#include "croze/codegen/edits/transform.h"
#include "croze/run/devices.h"
#include "edits/kernels.h"
#include "edits/run_edited.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

void expect_same(const SmallKernel& kernel, const char* edits) {
  const auto device = make_interpreter(gpu_shaped_caps());
  const Edited edited =
      run_edited(*device, kernel, [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
  EXPECT_EQ(edited.result, kernel.expected) << kernel.name << ": " << edits;
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
