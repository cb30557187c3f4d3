// What each kind of edit refuses, and the reason it gives.
#include "croze/codegen/edits/legality.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/transform.h"
#include "edits/kernels.h"
#include "support/errors.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

// out[i] = x[i] to the power of 4, as a product over k; r0 and r1 are i and k.
SmallKernel power_kernel() {
  SmallKernel k{"power", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp i = g.range(0, 8, LoopKind::Parallel), n = g.range(1, 4, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, 8), i));
  const UOp product = g.reduce(Op::Mul, x, std::vector<UOp>{n});
  const UOp out = g.place(g.param(DType::Int32, 0, 8), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, product, std::vector<UOp>{i})});
  return k;
}

// out[i] = x[at[i]]; load 0 is of `at`, and load 2 of x once that is staged.
SmallKernel gather_kernel() {
  SmallKernel k{"gather", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp i = g.range(0, 8, LoopKind::Parallel);
  const UOp at = g.load(g.place(g.param(DType::Int32, 2, 8), i));
  const UOp gate = g.alu(Op::Lt, {g.cast(at, DType::Index), g.index(8)});
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, 8), g.cast(at, DType::Index), gate));
  const UOp out = g.place(g.param(DType::Int32, 0, 8), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{i})});
  return k;
}

// The reason of the last of these edits, which the kernel does not take, after the others.
std::string reason(const SmallKernel& kernel, const Caps& caps, const char* text) {
  KernelState k(kernel.sink, caps);
  std::vector<Edit> edits = parse_edits(text);
  const Edit last = edits.back();
  edits.pop_back();
  apply_all(k, edits);
  const UOp before = k.sink;
  const std::string why = refusal(k, last);
  EXPECT_THROW(apply(k, last), InternalError) << text;
  EXPECT_EQ(k.sink, before);
  EXPECT_EQ(k.applied, edits);
  return why;
}

void expect_refused(const SmallKernel& kernel, const Caps& caps, const char* text,
                    const char* part) {
  const std::string why = reason(kernel, caps, text);
  EXPECT_NE(why.find(part), std::string::npos) << text << ": " << why;
}

TEST(Legality, LoopsMustBeThere) {
  const SmallKernel k = product_kernel();
  expect_refused(k, cpu_shaped_caps(), "split r7 by 2", "no loop r7");
  expect_refused(k, cpu_shaped_caps(), "split r0 by 2; split r0 by 2", "no loop r0");
  expect_refused(k, cpu_shaped_caps(), "merge r1 r1", "named twice");
  const Caps caps = cpu_shaped_caps();
  const KernelState state(k.sink, caps);
  EXPECT_EQ(refusal(state, {.kind = EditKind::Simplify, .ranges = {0}}), "it names 1 loops");
  EXPECT_EQ(refusal(state, {.kind = EditKind::Split, .size = 2}), "it names 0 loops");
}

TEST(Legality, SplitsAreEven) {
  const SmallKernel k = product_kernel();
  for (const char* text : {"split r1 by 4", "split r1 by 1", "split r1 by 6", "split r1 by 0",
                           "split r1 by -2", "split_reduction r2 by 3"}) {
    expect_refused(k, cpu_shaped_caps(), text, "cannot be split");
  }
  expect_refused(k, cpu_shaped_caps(), "split_reduction r0 by 2", "of kind parallel");
  expect_refused(k, cpu_shaped_caps(), "bind r1 unroll; split r1 by 2", "of kind unroll");
}

TEST(Legality, SplitsThatOverlapHaveARestAndRunTwiceWhatMayBe) {
  const SmallKernel k = product_kernel();
  for (const char* text : {"split_overlapping r1 by 3", "split_overlapping r1 by 7",
                           "split_overlapping r1 by 1", "split_overlapping r1 by -4"}) {
    expect_refused(k, cpu_shaped_caps(), text, "not split with a rest");
  }
  expect_refused(k, cpu_shaped_caps(), "split_overlapping r2 by 3", "of kind reduce");
  Caps words = gpu_shaped_caps();
  words.packs_words = true;
  expect_refused(k, words, "split_overlapping r1 by 4", "two items");
  expect_refused(k, cpu_shaped_caps(),
                 "stage load 0 over r2 in thread by 1; split_overlapping r1 by 4",
                 "a tile is filled");
  Graph& g = *k.graph;
  const UOp i = g.range(0, 8, LoopKind::Parallel);
  const UOp place = g.place(g.param(DType::Int32, 0, 8), i);
  SmallKernel counting{"counting", k.graph, {}, {}, {}};
  counting.sink = g.sink(std::vector<UOp>{g.store(
      place, g.load(place) + g.constant(DType::Int32, std::int64_t{1}), std::vector<UOp>{i})});
  expect_refused(counting, cpu_shaped_caps(), "split_overlapping r0 by 3", "writes what it loads");
}

TEST(Legality, MergedLoopsStandTogether) {
  expect_refused(product_kernel(), cpu_shaped_caps(), "merge r0 r2", "cannot become one");
  expect_refused(rows_kernel(), cpu_shaped_caps(), "merge r2 r3", "do not always stand together");
  // The first of i, j, p in order is i: not j before i.
  expect_refused(ordered_kernel(), cpu_shaped_caps(), "merge r2 r0", "not next to each other");
  expect_refused(ordered_kernel(), cpu_shaped_caps(), "merge r0 r1", "cannot become one");
}

TEST(Legality, PaddingIsLimited) {
  const SmallKernel k = product_kernel();
  expect_refused(k, cpu_shaped_caps(), "pad r1 by 3", "already");
  expect_refused(k, cpu_shaped_caps(), "pad r1 by 1000000000000", "multiple of 2 to");
  expect_refused(k, cpu_shaped_caps(), "pad r1 by 0", "multiple of 2 to");
}

TEST(Legality, AReductionIsNoTask) {
  expect_refused(product_kernel(), cpu_shaped_caps(), "bind r2 thread", "cannot become");
  expect_refused(product_kernel(), gpu_shaped_caps(), "bind r2 group", "cannot become");
}

TEST(Legality, ItemsThatReduceHaveAnAxisAndMemoryToCombineIn) {
  expect_refused(product_kernel(), cpu_shaped_caps(), "bind r2 item", "no groups");
  Caps caps = gpu_shaped_caps();
  caps.group_memory = 12;
  expect_refused(product_kernel(), caps, "bind r2 item", "combining takes 16 bytes");
  caps = gpu_shaped_caps();
  caps.max_items = 8;
  expect_refused(product_kernel(), caps, "bind r0 item; bind r2 item", "no room for the items");
  // Of a reduction of reductions both would want an axis that stores nothing.
  expect_refused(product_kernel(), gpu_shaped_caps(),
                 "split_reduction r2 by 2; bind r3 item; bind r4 item", "one inside of the other");
}

TEST(Legality, LoopsInOrderStayAsTheyAre) {
  const SmallKernel k = ordered_kernel();
  for (const char* kind : {"thread", "lane", "unroll"}) {
    expect_refused(k, cpu_shaped_caps(), (std::string("bind r0 ") + kind).c_str(), "cannot become");
  }
  expect_refused(k, cpu_shaped_caps(), "reorder r2 r1 r0", "cannot change places");
}

TEST(Legality, ALaunchHasThreeAxesWithinItsLimits) {
  Caps caps = gpu_shaped_caps();
  const char* four =
      "split r0 by 2; split r1 by 3; bind r3 group; bind r4 group; bind r5 group; "
      "bind r6 group";
  expect_refused(product_kernel(), caps, four, "3 axes");
  caps.max_items = 8;
  expect_refused(product_kernel(), caps, "bind r0 item; bind r1 item", "no room for the items");
  caps.max_groups_axis[1] = 5;
  expect_refused(product_kernel(), caps, "bind r0 group; bind r1 group", "no room for the groups");
  // The axes go by the order of the loops.
  expect_refused(product_kernel(), caps,
                 "reorder r1 r0; bind r0 group; bind r1 group; reorder r0 r1",
                 "no room for the groups");
}

TEST(Legality, ADeviceHasTasksOrGroups) {
  expect_refused(product_kernel(), cpu_shaped_caps(), "bind r0 group", "no groups");
  expect_refused(product_kernel(), gpu_shaped_caps(), "bind r0 thread", "no tasks");
  expect_refused(product_kernel(), cpu_shaped_caps(), "bind r0 thread; bind r1 thread",
                 "one loop becomes tasks");
  expect_refused(product_kernel(), scalar_caps(), "bind r0 thread", "no tasks");
}

TEST(Legality, AValueHasOneVectorOfLanes) {
  expect_refused(product_kernel(), cpu_shaped_caps(), "bind r1 lane; bind r0 lane",
                 "lanes already");
  expect_refused(product_kernel(), cpu_shaped_caps(), "bind r1 lane; bind r2 lane",
                 "lanes already");
  expect_refused(product_kernel(), scalar_caps(), "bind r1 lane", "has 0 lanes");
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = 16;
  expect_refused(product_kernel(), caps, "bind r1 lane", "has 4 lanes");
}

TEST(Legality, AReductionCombinesItsOwnLanesOnly) {
  expect_refused(power_kernel(), cpu_shaped_caps(), "bind r0 lane; bind r1 lane", "other lanes");
  expect_refused(power_kernel(), cpu_shaped_caps(), "bind r1 lane; bind r0 lane", "other lanes");
  expect_refused(cubes_kernel(), cpu_shaped_caps(), "bind r1 lane; bind r2 lane", "other lanes");
  expect_refused(cubes_kernel(), cpu_shaped_caps(), "bind r2 lane; bind r1 lane", "other lanes");
}

// The sum of all x; r0 and r1 are the loops of the sum.
SmallKernel square_sum_kernel() {
  constexpr std::int64_t side = 3;
  SmallKernel k{"square sum", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {{0}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const UOp i = g.range(0, side, LoopKind::Reduce), j = g.range(1, side, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, side * side), i * side + j));
  const UOp sum = g.reduce(Op::Add, x, std::vector<UOp>{i, j});
  k.sink =
      g.sink(std::vector<UOp>{g.store(g.place(g.param(DType::Int32, 0, 1), g.index(0)), sum, {})});
  k.expected = {45};
  return k;
}

TEST(Legality, ALoopIsSharedWithOne) {
  expect_refused(square_sum_kernel(), cpu_shaped_caps(), "share r0 r1 r1 r1", "two others");
  expect_refused(square_sum_kernel(), cpu_shaped_caps(), "share r0 r1 r1 r0", "two others");
}

TEST(Legality, ATileIsNotFilledByItemsThatReduceIt) {
  const char* reduced = "bind r0 item; bind r2 item; stage load 0 over r0 r2 in group by 1";
  expect_refused(product_kernel(), gpu_shaped_caps(), reduced, "items reduce what");
}

TEST(Legality, SharedReductionsStandInTheSamePlace) {
  expect_refused(rows_kernel(), cpu_shaped_caps(), "share r2 r3 r0", "odd number");
  expect_refused(rows_kernel(), cpu_shaped_caps(), "share r0 r2", "other sizes");
  expect_refused(rows_kernel(), cpu_shaped_caps(), "share r1 r2", "no reduction has just");
  expect_refused(rows_kernel(), cpu_shaped_caps(), "share r2 r3; share r2 r3", "no loop r3");
  expect_refused(rows_kernel(), cpu_shaped_caps(), "split r3 by 2; share r2 r5", "other sizes");
}

TEST(Legality, TilesHaveRoomAndAPlace) {
  Caps caps = cpu_shaped_caps();
  const SmallKernel k = product_kernel();
  expect_refused(k, caps, "stage load 5 over r0 in thread by 1", "no such load");
  expect_refused(k, caps, "stage load 0 over r0 r1 in group by 1", "no items");
  expect_refused(k, caps, "stage load 0 over r0 r2 in thread by 64", "1 to 16 lanes");
  expect_refused(k, caps, "bind r2 unroll; stage load 0 over r0 r1 in thread by 1",
                 "of kind unroll");
  expect_refused(ordered_kernel(), caps, "stage load 0 over r0 in thread by 1",
                 "cannot extend over");
  caps.l2_bytes = 8;
  expect_refused(k, caps, "stage load 0 over r2 in thread by 1", "does not fit in 8");
}

TEST(Legality, ATileIsNotFilledFromWhereAnotherOneSays) {
  expect_refused(gather_kernel(), cpu_shaped_caps(),
                 "stage load 0 over r0 in thread by 1; stage load 2 over r0 in thread by 1",
                 "another tile");
}

TEST(Legality, TheTilesOfAGroupShareItsMemory) {
  Caps caps = gpu_shaped_caps();
  caps.group_memory = 130;  // the operands are 64 and 96 bytes, those with gaps 120
  const SmallKernel kernel = product_kernel();
  KernelState k(kernel.sink, caps);
  const char* tile = "bind r0 item; bind r1 item; stage load 0 over r0 r1 r2 in group by 1";
  apply_all(k, parse_edits(tile));
  Edit next = k.applied.back();
  for (next.load = 0; next.load < 3; next.load++) EXPECT_NE(refusal(k, next), "");
}

TEST(Legality, WhatIsWrittenIsNotTabulated) {
  Graph g;
  const UOp i = g.range(0, 8, LoopKind::Parallel);
  const UOp memory = g.param(DType::Int32, 0, 8);
  const UOp store =
      g.store(g.place(memory, i), g.load(g.place(memory, i)) + 1, std::vector<UOp>{i});
  const Caps caps = cpu_shaped_caps();
  const KernelState k(g.sink(std::vector<UOp>{store}), caps);
  const Edit edit = parse_edits("stage load 0 over r0 in thread by 1")[0];
  EXPECT_EQ(refusal(k, edit), "the kernel writes what it loads");
}

TEST(Legality, EditsFromOutsideAreRefusedWithAnErrorThatNamesThem) {
  const SmallKernel k = product_kernel();
  const Caps caps = cpu_shaped_caps();
  KernelState state(k.sink, caps);
  const std::string text =
      error_of([&] { apply_all(state, parse_edits("split r1 by 2; bind r2 thread")); });
  EXPECT_NE(text.find("bind r2 thread"), std::string::npos) << text;
}

TEST(Legality, AllThatIsEnumeratedIsLegalAndDifferent) {
  for (const Caps& caps : {scalar_caps(), cpu_shaped_caps(), gpu_shaped_caps()}) {
    for (const SmallKernel& kernel : small_kernels()) {
      const KernelState k(kernel.sink, caps);
      const std::vector<Edit> edits = enumerate_edits(k);
      EXPECT_GE(edits.size(), 8u) << kernel.name;
      for (std::size_t i = 0; i < edits.size(); i++) {
        EXPECT_EQ(refusal(k, edits[i]), "");
        EXPECT_EQ(
            std::find(edits.begin(), edits.begin() + static_cast<std::ptrdiff_t>(i), edits[i]),
            edits.begin() + static_cast<std::ptrdiff_t>(i))
            << to_text(edits[i]);
      }
    }
  }
}

TEST(OnePass, IsRefusedWithTheReason) {
  const Caps caps = scalar_caps();
  const SmallKernel k = position_kernel();
  expect_refused(k, caps, "one_pass r1 r2 by 3", "cannot be cut");
  expect_refused(k, caps, "one_pass r1 r2 by 8", "cannot be cut");
  expect_refused(k, caps, "one_pass r2 r1 by 4", "none of them needs");
  expect_refused(k, caps, "split r2 by 2; one_pass r1 r4 by 1", "other sizes");
  expect_refused(k, caps, "bind r2 unroll; one_pass r1 r2 by 4", "has been decided");
  expect_refused(rows_kernel(), caps, "one_pass r2 r3 by 4", "none of them needs");
  expect_refused(power_kernel(), caps, "one_pass r0 r1 by 2", "has been decided");
}

TEST(LoopsOverBlocks, OfATupleRunInOrder) {
  const Caps caps = cpu_shaped_caps();
  const SmallKernel k = position_kernel();
  for (const char* next :
       {"bind r3 lane", "bind r3 unroll", "pad r3 by 4", "split_reduction r3 by 2"}) {
    expect_refused(k, caps, (std::string("one_pass r1 r2 by 4; ") + next).c_str(), "tuple");
  }
}

// out[i] = x[p[i]]: a fill that is longer than its tile would load places that p does not have.
TEST(Stage, OfWhatIsFoundByALoadIsRefused) {
  SmallKernel k{"gather", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp i = g.range(0, 6, LoopKind::Parallel);
  const UOp p = g.load(g.place(g.param(DType::Int32, 2, 6), i));
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, 7), cast(p, DType::Index)));
  const UOp out = g.place(g.param(DType::Int32, 0, 6), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{i})});
  const KernelState state(k.sink, cpu_shaped_caps());
  const std::vector<UOp> all = loads(state.sink);
  const auto number = std::ranges::find(all, x) - all.begin();
  const std::string edits =
      "bind r0 unroll; stage load " + std::to_string(number) + " over r0 in thread by 1";
  expect_refused(k, cpu_shaped_caps(), edits.c_str(), "loaded itself");
}

TEST(Tabulate, IsRefusedWithTheReason) {
  const Caps caps = cpu_shaped_caps();
  expect_refused(product_kernel(), caps, "tabulate r0 by 1", "is of kind parallel");
  expect_refused(product_kernel(), caps, "tabulate r2 by 3", "no number of lanes");
  expect_refused(product_kernel(), caps, "tabulate r2 by 1", "nothing is computed");
}

TEST(Keep, IsRefusedWithTheReason) {
  const Caps caps = cpu_shaped_caps();
  expect_refused(squares_kernel(), caps, "keep r2 r0 by 1", "other sizes");
  expect_refused(squares_kernel(), caps, "keep r1 r2 by 1", "has been decided");
  expect_refused(squares_kernel(), caps, "keep r2 r1 by 999", "no number of lanes");
  expect_refused(squares_kernel(), caps, "bind r0 lane; keep r2 r1 by 1", "is of kind lane");
  expect_refused(rows_kernel(), caps, "keep r2 r1 by 1", "nothing alike");
  expect_refused(position_kernel(), caps, "keep r1 r2 by 1", "nothing alike");
}

}  // namespace
}  // namespace croze
