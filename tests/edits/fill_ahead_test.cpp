// fill_ahead_test.cpp -- tiles with slots, of which one is filled while another is read.
#include "croze/codegen/edits/warps/fill_ahead.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/render/program.h"
#include "croze/run/devices.h"
#include "edits/kernels.h"
#include "edits/run_edited.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

constexpr std::int64_t steps = 4;

// Groups of 4 x 8 items, four steps of the reduction in tiles of group memory; the loop over the
// blocks of steps.
UOp cut_in_blocks(KernelState& k) {
  const UOp i = k.loops[0], j = k.loops[1];
  const UOp depth = Legality(k).range(2);
  const UOp rows = bind(k, split(k, pad(k, i, 4), 4).inner, LoopKind::Item);
  const UOp columns = bind(k, split(k, pad(k, j, 8), 8).inner, LoopKind::Item);
  const SplitRange parts = split(k, pad(k, depth, steps), steps);
  std::vector<UOp> order = k.loops;
  std::ranges::stable_partition(order, is_parallel);
  reorder(k, order);
  for (UOp load : std::vector<UOp>(loads(k.sink))) {
    const UOp item = load.src(0).varies_over(rows) ? rows : columns;
    EXPECT_TRUE(try_stage(k, load, std::vector<UOp>{parts.inner, item}, Space::Group));
  }
  for (UOp r : std::vector<UOp>(k.loops)) {
    if (is_parallel(r)) bind(k, r, LoopKind::Group);
  }
  return parts.outer;
}

// A device that copies by loads and stores.
Caps plain_caps() {
  Caps caps = gpu_shaped_caps();
  caps.copies_async = false;
  return caps;
}

TEST(FillAhead, ATurnReadsWhatTurnsBeforeItHaveFetched) {
  const std::unique_ptr<Device> devices[] = {make_interpreter(plain_caps()),
                                             make_interpreter(gpu_shaped_caps()),
                                             make_ptx_interp_device()};
  for (const auto& device : devices) {
    for (const std::int64_t depth : {1, 4, 5, 8, 12, 15, 32}) {
      const SmallKernel kernel = product_kernel(7, depth, 10);
      for (const std::int64_t slots : {2, 3, 4}) {
        const Edited edited = run_edited(*device, kernel, [&](KernelState& k) {
          const UOp turns = cut_in_blocks(k);
          if (turns.is(Op::Range)) try_fill_ahead(k, turns, slots);
        });
        EXPECT_EQ(edited.result, kernel.expected)
            << device->name() << ", depth " << depth << ": " << edited.edits;
      }
    }
  }
}

// A loop that stands around the turns, and over which what is filled does not vary: its slots are
// filled anew each time.
TEST(FillAhead, ItBeginsAnewWhereALoopStandsAroundTheTurns) {
  const std::unique_ptr<Device> devices[] = {make_interpreter(gpu_shaped_caps()),
                                             make_ptx_interp_device()};
  const SmallKernel kernel = product_kernel(4, 8, 8);
  for (const auto& device : devices) {
    for (const std::int64_t slots : {2, 3, 4}) {
      const Edited edited = run_edited(*device, kernel, [&](KernelState& k) {
        const UOp rows = k.loops[0], columns = k.loops[1];
        const UOp order[] = {columns, rows};
        reorder(k, order);
        const UOp item = bind(k, columns, LoopKind::Item);
        for (UOp load : std::vector<UOp>(loads(k.sink))) {
          if (load.varies_over(item)) stage(k, load, std::span(&item, 1), Space::Group, 1);
        }
        fill_ahead(k, Legality(k).range(2), slots);
      });
      EXPECT_EQ(edited.result, kernel.expected) << device->name() << ": " << edited.edits;
    }
  }
}

TEST(FillAhead, EveryEditThatIsTakenAfterItLeavesTheResult) {
  const std::unique_ptr<Device> devices[] = {make_interpreter(gpu_shaped_caps()),
                                             make_ptx_interp_device()};
  const SmallKernel kernel = product_kernel(7, 12, 10);
  for (const auto& device : devices) {
    std::vector<Edit> later;
    const auto edited = [&](const Edit* last) {
      return run_edited(*device, kernel, [&](KernelState& k) {
        fill_ahead(k, cut_in_blocks(k), 3);
        if (last) apply(k, *last);
        if (!last) later = enumerate_edits(k);
      });
    };
    edited(nullptr);
    EXPECT_GT(later.size(), 10u);
    for (const Edit& edit : later) {
      const Edited run = edited(&edit);
      EXPECT_EQ(run.result, kernel.expected) << device->name() << ": " << run.edits;
    }
  }
}

// "{" and "}" for loops, "w" and "r" for what is done to tiles of groups, "c" where a copy to one
// begins, "|" where items meet, with the number of batches that they do not await.
std::string order_of(const Caps& caps, std::int64_t slots) {
  const SmallKernel kernel = product_kernel(8, 32, 16);
  const LinearProgram program = make_program(
      kernel.sink, caps, [&](KernelState& k) { fill_ahead(k, cut_in_blocks(k), slots); });
  std::string order;
  for (UOp u : program.instructions) {
    std::string letter;
    if (u.is(Op::Loop)) letter = "{";
    if (u.is(Op::EndLoop)) letter = "}";
    if (u.is(Op::Barrier)) letter = awaits_copies(u) ? fmt::format("|{}", u.arg().value) : "|";
    if ((u.is(Op::Load) || u.is(Op::Store)) && is_group_tile(buffer_of(u.src(0)))) {
      letter = u.is(Op::Load) ? "r" : is_copy(u) ? "c" : "w";
      if (order.ends_with(letter)) continue;
    }
    order += letter;
  }
  return order;
}

TEST(FillAhead, ItemsMeetOnceATurn) {
  EXPECT_EQ(order_of(plain_caps(), 2), "w{|w{r}}");
  EXPECT_EQ(order_of(plain_caps(), 3), "{w}{|w{r}}");
}

TEST(FillAhead, BarriersAwaitWhatTheirTurnReads) {
  const Caps caps = gpu_shaped_caps();
  EXPECT_EQ(order_of(caps, 2), "c{|0c{r}}");
  EXPECT_EQ(order_of(caps, 3), "{c}|0{|1c{r}}");
  EXPECT_EQ(order_of(caps, 4), "{c}|0{|2c{r}}");
}

TEST(FillAhead, IsForTilesOfGroupsThatAreFilledInTheLoop) {
  const SmallKernel kernel = product_kernel(8, 32, 16);
  const Caps caps = gpu_shaped_caps();
  KernelState k(kernel.sink, caps);
  const auto why = [&](UOp turn, std::int64_t slots) {
    return refusal(k, {.kind = EditKind::FillAhead, .ranges = {turn.range_id()}, .size = slots});
  };
  EXPECT_EQ(why(Legality(k).range(2), 2), "no tile in group memory is filled in loop r2");
  EXPECT_EQ(why(k.loops[0], 2), "loop r0 is of kind parallel");
  const UOp turns = cut_in_blocks(k);
  EXPECT_EQ(why(turns, 1), "a tile has 2 to 8 slots");
  EXPECT_EQ(why(turns, 9), "a tile has 2 to 8 slots");
  EXPECT_EQ(why(turns, 2), "");
  fill_ahead(k, turns, 2);
  const std::string again = fmt::format("tiles are filled ahead in loop r{}", turns.range_id());
  EXPECT_EQ(why(turns, 2), again);
  EXPECT_EQ(refusal(k, {.kind = EditKind::Split, .ranges = {turns.range_id()}, .size = 2}), again);
}

TEST(FillAhead, SlotsTakeRoom) {
  const SmallKernel kernel = product_kernel(8, 32, 16);
  Caps caps = gpu_shaped_caps();
  caps.group_memory = 3 * 4 * steps * (5 + 8);  // a row of 4 has a gap
  KernelState k(kernel.sink, caps);
  const UOp turns = cut_in_blocks(k);
  KernelState three = k;
  EXPECT_TRUE(try_fill_ahead(three, turns, 3));
  EXPECT_FALSE(try_fill_ahead(k, turns, 4));
}

}  // namespace
}  // namespace croze::test
