// Which groups and items are chosen on devices whose items run in warps, and that they compute what
// the kernel means.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/contractions.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

Caps large_gpu() {
  Caps caps = gpu_shaped_caps();
  caps.max_items = 1024;
  for (std::int64_t& limit : caps.max_group_axis) limit = 1024;
  caps.threads = 100;
  caps.item_registers = 128;
  return caps;
}

// What is made of a kernel, and what its program has of tiles in group memory, sums in registers,
// barriers and shuffles.
struct Choice {
  std::string edits;
  Launch launch;
  std::int64_t group_tiles = 0, sums = 0, barriers = 0, shuffles = 0;
};

Choice chosen_for(UOp sink, const Caps& caps) {
  Choice choice;
  const LinearProgram program = make_program(sink, caps, [&](KernelState& k) {
    choose_edits(k);
    choice.edits = to_text(k.applied);
  });
  choice.launch = program.info.launch;
  for (UOp u : program.instructions) {
    choice.barriers += u.is(Op::Barrier);
    choice.shuffles += u.is(Op::Shuffle);
    choice.group_tiles += u.is(Op::Local) && static_cast<Space>(u.arg().ints[2]) == Space::Group;
    choice.sums += u.is(Op::Register);
  }
  return choice;
}

std::int64_t groups_of(const Choice& choice) {
  std::int64_t count = 1;
  for (const LaunchSize& axis : choice.launch.groups) count *= axis.value({});
  return count;
}

void expect_right(const SmallKernel& kernel, const Caps& caps) {
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const Edited edited = run_edited(*device, kernel, choose_edits);
  EXPECT_EQ(edited.result, kernel.expected) << kernel.name << ": " << edited.edits;
}

TEST(ChooseGroups, ProductsOfEverySizeHaveTilesInGroupMemory) {
  for (const auto& [batch, rows, depth, columns] : {std::array<std::int64_t, 4>{2, 64, 64, 64},
                                                    {2, 61, 67, 59},
                                                    {3, 33, 20, 45},
                                                    {2, 5, 300, 70}}) {
    const SmallKernel kernel = products(batch, rows, depth, columns);
    const Choice choice = chosen_for(kernel.sink, large_gpu());
    EXPECT_EQ(choice.group_tiles, 2) << choice.edits;
    EXPECT_GE(choice.launch.items[0] * choice.launch.items[1], 64) << choice.edits;
    expect_right(kernel, large_gpu());
    expect_right(kernel, gpu_shaped_caps());
  }
}

TEST(ChooseGroups, WindowsOfAConvolutionOverlapInGroupMemory) {
  for (const auto& [outputs, inputs, side] :
       {std::array<std::int64_t, 3>{16, 8, 16}, {7, 5, 13}, {33, 3, 9}}) {
    const SmallKernel kernel = convolution(outputs, inputs, side, 3);
    const Choice choice = chosen_for(kernel.sink, large_gpu());
    EXPECT_EQ(choice.group_tiles, 2) << choice.edits;
    expect_right(kernel, large_gpu());
  }
}

TEST(ChooseGroups, LargeProductsHaveLargeTilesForItems) {
  const SmallKernel kernel = products(2, 512, 64, 1024);
  const Choice choice = chosen_for(kernel.sink, large_gpu());
  EXPECT_NE(choice.edits.find("split r1 by 128"), std::string::npos) << choice.edits;
  EXPECT_NE(choice.edits.find("split r2 by 128"), std::string::npos) << choice.edits;
  // One group more than there are units would be as long as all of them.
  Caps one = large_gpu();
  one.threads = 1;
  EXPECT_EQ(chosen_for(kernel.sink, one).group_tiles, 2);
}

// What the items of a group have in all must leave room for all else that they need.
TEST(ChooseGroups, TheRegistersOfAUnitBoundWhatItsItemsHave) {
  Caps caps = large_gpu();
  caps.threads = 1;
  caps.group_memory = 200 << 10;
  const SmallKernel kernel = products(2, 512, 64, 1024);
  const auto sums_of_group = [&](const Choice& choice) {
    return choice.launch.items[0] * choice.launch.items[1] * choice.sums;
  };
  const auto free = sums_of_group(chosen_for(kernel.sink, caps));
  caps.unit_registers = 1 << 14;
  const Choice bounded = chosen_for(kernel.sink, caps);
  EXPECT_LT(sums_of_group(bounded), free) << bounded.edits;
  EXPECT_LE(bounded.sums * 256, 1 << 14) << bounded.edits;
}

TEST(ChooseGroups, GroupMemoryBoundsTheTiles) {
  Caps caps = large_gpu();
  caps.group_memory = 2 << 10;
  const SmallKernel kernel = products(2, 61, 67, 59);
  const Choice choice = chosen_for(kernel.sink, caps);
  EXPECT_EQ(choice.group_tiles, 2) << choice.edits;
  expect_right(kernel, caps);
}

// A depth of 1 to 16 that is padded to 16 is constant, and short.
TEST(ChooseGroups, AnOpenReductionMayBecomeShortWhereItIsPadded) {
  Graph g;
  constexpr std::int64_t side = 64, most = 16;
  const UOp i = g.range(0, side, LoopKind::Parallel), j = g.range(1, side, LoopKind::Parallel);
  const UOp d = g.range(2, g.variable(0, 1, most), LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, side * most), i * most + d));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, most * side), d * side + j));
  const UOp place = g.place(g.param(DType::Int32, 0, side * side), i * side + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  const UOp sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{i, j})});
  const Choice choice = chosen_for(sink, gpu_shaped_caps());
  EXPECT_EQ(choice.group_tiles, 2) << choice.edits;
}

// out[j] = sum over i of x[i, j].
SmallKernel column_sums(std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"columns", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(columns, 1), numbers(rows * columns, 9)};
  const UOp j = g.range(0, columns, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, rows * columns), i * columns + j));
  const UOp out = g.place(g.param(DType::Int32, 0, columns), j);
  const UOp sum = g.reduce(Op::Add, x, std::vector<UOp>{i});
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{j})});
  k.expected.assign(static_cast<std::size_t>(columns), 0);
  for (std::int64_t at = 0; at < rows * columns; at++) {
    k.expected[static_cast<std::size_t>(at % columns)] +=
        k.buffers[1][static_cast<std::size_t>(at)];
  }
  return k;
}

TEST(ChooseGroups, ARowIsAGroupFromItsReductionsToItsResults) {
  for (const std::int64_t columns : {1024, 1000, 2600}) {
    const SmallKernel kernel = rows_kernel(5, columns);
    const Choice choice = chosen_for(kernel.sink, large_gpu());
    EXPECT_GE(choice.launch.items[0], 64) << choice.edits;
    EXPECT_EQ(choice.launch.items[1], 1) << choice.edits;
    EXPECT_EQ(groups_of(choice), 5) << "a row each; none repeats one: " << choice.edits;
    EXPECT_GT(choice.shuffles, 0) << choice.edits;
    expect_right(kernel, large_gpu());
    expect_right(kernel, gpu_shaped_caps());
  }
}

TEST(ChooseGroups, ShortRowsShareAGroup) {
  for (const std::int64_t rows : {640, 611}) {
    const SmallKernel kernel = rows_kernel(rows, 77);
    const Choice choice = chosen_for(kernel.sink, large_gpu());
    EXPECT_GE(choice.launch.items[0], 16) << choice.edits;
    EXPECT_GE(choice.launch.items[1], 4) << choice.edits;
    EXPECT_GT(choice.shuffles, 0) << choice.edits;
    expect_right(kernel, large_gpu());
    expect_right(kernel, gpu_shaped_caps());
  }
}

// More items for each row are fewer rows at once.
TEST(ChooseGroups, LongRowsStayInTheCacheBetweenTheirPasses) {
  constexpr std::int64_t rows = 256, columns = 8192;
  const SmallKernel kernel = rows_kernel(rows, columns);
  Caps caps = large_gpu();
  caps.threads = 2;
  caps.l1_bytes = 2 * rows * columns * 4;
  const Choice ample = chosen_for(kernel.sink, caps);
  caps.l1_bytes = 256 << 10;
  const Choice choice = chosen_for(kernel.sink, caps);
  EXPECT_GT(choice.launch.items[0], ample.launch.items[0]) << choice.edits;
  constexpr std::int64_t items_of_unit = 2048;
  EXPECT_LE(items_of_unit / choice.launch.items[0] * columns * 4, caps.l1_bytes) << choice.edits;
  expect_right(kernel, caps);
}

TEST(ChooseGroups, FewColumnsAreSharedByItemsThatReadThemSideBySide) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1000, 64}, {333, 45}}) {
    const SmallKernel kernel = column_sums(rows, columns);
    const Choice choice = chosen_for(kernel.sink, large_gpu());
    EXPECT_EQ(choice.launch.items[0], 32) << choice.edits;
    EXPECT_GE(choice.launch.items[1], 4) << choice.edits;
    expect_right(kernel, large_gpu());
  }
}

TEST(ChooseGroups, ManyColumnsHaveAnItemEach) {
  const Choice choice = chosen_for(column_sums(16, 1 << 19).sink, large_gpu());
  EXPECT_EQ(choice.barriers, 0) << choice.edits;
}

}  // namespace
}  // namespace croze
