// What is chosen where a warp is a vector of a processor, and that it computes what the kernel
// means.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/contractions.h"
#include "edits/run_edited.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

using fuzz::vector_warps_caps;

// What is made of a kernel.
struct Choice {
  std::string edits;
  Launch launch;
  std::int64_t sums = 0, barriers = 0, stores = 0;  // in the program of an item
};

Choice chosen_for(UOp sink) {
  Choice choice;
  const Caps caps = vector_warps_caps();
  const LinearProgram program = make_program(sink, caps, [&](KernelState& k) {
    choose_edits(k);
    choice.edits = to_text(k.applied);
  });
  choice.launch = program.info.launch;
  for (UOp u : program.instructions) {
    choice.sums += u.is(Op::Register);
    choice.barriers += u.is(Op::Barrier);
    choice.stores += u.is(Op::Store) && buffer_of(u.src(0)).is(Op::Param);
  }
  return choice;
}

void expect_right(const SmallKernel& kernel) {
  const std::unique_ptr<Device> device = make_interpreter(vector_warps_caps());
  const Edited edited = run_edited(*device, kernel, choose_edits);
  EXPECT_EQ(edited.result, kernel.expected) << kernel.name << ": " << edited.edits;
}

// Barriers would have drivers keep all that items compute in memory.
TEST(VectorWarps, ProductsHaveManySumsAnItemAndWholeWarpsAndNoBarriers) {
  for (const auto& [batch, rows, depth, columns] : {std::array<std::int64_t, 4>{2, 128, 96, 128},
                                                    {2, 64, 64, 64},
                                                    {2, 61, 67, 59},
                                                    {3, 33, 20, 45}}) {
    const SmallKernel kernel = products(batch, rows, depth, columns);
    const Choice choice = chosen_for(kernel.sink);
    EXPECT_GE(choice.sums, 32) << choice.edits;
    EXPECT_EQ(choice.barriers, 0) << choice.edits;
    EXPECT_EQ(choice.launch.items[0] % vector_warps_caps().warp_items, 0) << choice.edits;
    expect_right(kernel);
  }
}

TEST(VectorWarps, ShortReductionsHaveTilesToo) {
  for (const auto& [outputs, inputs, side] :
       {std::array<std::int64_t, 3>{16, 1, 28}, {32, 16, 14}, {5, 3, 9}}) {
    const SmallKernel kernel = convolution(outputs, inputs, side, 3);
    const Choice choice = chosen_for(kernel.sink);
    EXPECT_GE(choice.sums, 8) << choice.edits;
    EXPECT_EQ(choice.barriers, 0) << choice.edits;
    expect_right(kernel);
  }
}

// out[y, i, x] = a[y, x] + i: the two elements of a pair have what is loaded in common.
TEST(VectorWarps, AnItemMakesTheElementsThatLoadTheSame) {
  constexpr std::int64_t lines = 1024, pair = 2, columns = 32;
  SmallKernel k{"pairs", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(lines * pair * columns, 1), numbers(lines * columns, 2)};
  const UOp y = g.range(0, lines, LoopKind::Parallel), i = g.range(1, pair, LoopKind::Parallel);
  const UOp x = g.range(2, columns, LoopKind::Parallel);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, lines * columns), y * columns + x));
  const UOp place =
      g.place(g.param(DType::Int32, 0, lines * pair * columns), (y * pair + i) * columns + x);
  const UOp value = a + g.cast(i, DType::Int32);
  k.sink = g.sink(std::vector<UOp>{g.store(place, value, std::vector<UOp>{y, i, x})});
  for (std::int64_t at = 0; at < lines * pair * columns; at++) {
    const std::int64_t line = at / columns;
    k.expected.push_back(
        k.buffers[1][static_cast<std::size_t>(line / pair * columns + at % columns)] +
        static_cast<std::int32_t>(line % pair));
  }
  const Choice choice = chosen_for(k.sink);
  EXPECT_GE(choice.stores, pair) << choice.edits;
  EXPECT_EQ(choice.launch.items[0] % vector_warps_caps().warp_items, 0) << choice.edits;
  expect_right(k);
}

}  // namespace
}  // namespace croze::test
