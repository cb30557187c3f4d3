// Sums over blocks of products of bytes, each block with a scale: panels, and what is chosen.
#include "croze/codegen/choose/block_products.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/program.h"
#include "croze/run/devices.h"
#include "edits/packed_rows.h"

namespace croze {
namespace {

using namespace test;

constexpr std::int64_t rows = 13, columns = 32, half = 16, block = 2 * half;
// As many as lanes whose scales are turned.
constexpr std::int64_t blocks = 8;
// Of a row of which four are more than half a page.
constexpr std::int64_t long_row = 34;

// Of 32 codes the low four bits are those of the first 16, the high ones those of the others.
struct Buffers : PackedRows {
  std::int64_t block_count;

  explicit Buffers(std::int64_t of_columns = columns, std::int64_t of_rows = rows,
                   std::int64_t of_blocks = blocks)
      : PackedRows(of_rows, of_columns, of_blocks * block, of_blocks), block_count(of_blocks) {}

  std::vector<float> expected() const {
    return sums([&](std::int64_t i, std::int64_t j) { return sum_at(i, j); });
  }

 private:
  float sum_at(std::int64_t i, std::int64_t j) const {
    float sum = 0;
    for (std::int64_t b = 0; b < block_count; b++) {
      int dot = 0;
      for (std::int64_t k = 0; k < block; k++) {
        const int pair = packed[static_cast<std::size_t>((j * block_count + b) * half + k % half)];
        const int code = k < half ? pair & 15 : pair >> 4;
        dot += code * x[static_cast<std::size_t>((i * block_count + b) * block + k)];
      }
      sum += static_cast<float>(dot) * (scales[static_cast<std::size_t>(j * block_count + b)] + 1);
    }
    return sum;
  }
};

// r0 .. r4 are i, j, b, the half of a block and the place in it; of `count` rows.
UOp blocks_kernel(Graph& g, std::int64_t count, std::int64_t of_columns = columns,
                  std::int64_t of_blocks = blocks) {
  const UOp i = g.range(0, count, LoopKind::Parallel),
            j = g.range(1, of_columns, LoopKind::Parallel);
  const UOp b = g.range(2, of_blocks, LoopKind::Reduce), h = g.range(3, 2, LoopKind::Reduce),
            k = g.range(4, half, LoopKind::Reduce);
  const UOp of_column = j * of_blocks + b;
  const UOp pair = g.load(
      g.place(g.param(DType::UInt8, 2, of_columns * of_blocks * half), of_column * half + k));
  const auto number = [&](std::int64_t value) { return g.constant(DType::UInt8, value); };
  const UOp code =
      g.alu(Op::And, {g.alu(Op::Shr, {pair, g.cast(h, DType::UInt8) * number(4)}), number(15)});
  const UOp x = g.load(g.place(g.param(DType::Int8, 1, count * of_blocks * block),
                               (i * of_blocks + b) * block + h * half + k));
  const UOp dot = g.reduce(Op::Add, g.cast(code, DType::Int32) * g.cast(x, DType::Int32),
                           std::vector<UOp>{h, k});
  const UOp scale = g.load(g.place(g.param(DType::Float32, 3, of_columns * of_blocks), of_column)) +
                    g.constant(DType::Float32, 1.0);
  const UOp sum = g.reduce(Op::Add, g.cast(dot, DType::Float32) * scale, std::vector<UOp>{b});
  const UOp out = g.place(g.param(DType::Float32, 0, count * of_columns), i * of_columns + j);
  return g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, j})});
}

std::string run(Device& device, Buffers& buffers, Chooser edit, std::int64_t count = rows) {
  Graph graph;
  return buffers.run(device, blocks_kernel(graph, count), edit);
}

constexpr const char* unit = "avx512vnni.s8u8";

TEST(Panel, GivesTheSameInAnyLayout) {
  for (const char* edits :
       {"split r1 by 16; bind r6 lane; panel r2 r3 r4 r6",
        "split r1 by 16; bind r6 lane; panel r6 r2 r3 r4",
        "split r1 by 8; bind r6 lane; split r4 by 4; panel r2 r3 r7 r6 r8",
        "split r1 by 16; bind r6 lane; split r4 by 4; panel r2 r3 r7 r6 r8",
        "split r1 by 16; bind r6 lane; split r4 by 4; bind r3 unroll; panel r2 r3 r7 r6 r8"}) {
    Buffers buffers;
    const std::unique_ptr<Device> device = make_interpreter(caps_with_unit(unit));
    run(*device, buffers, [&](KernelState& k) { apply_all(k, parse_edits(edits)); });
    EXPECT_EQ(buffers.out, buffers.expected()) << edits;
  }
}

// Numbers and scales of a block are read in one walk.
TEST(Panel, TilesOverTheSameBlocksAreFilledByOneLoop) {
  Graph graph;
  const Caps caps = caps_with_unit(unit);
  KernelState k(blocks_kernel(graph, rows), caps);
  apply_all(k, parse_edits("split r1 by 16; bind r6 lane; panel r6 r2 r3 r4"));
  std::vector<UOp> outermost;
  for (UOp u : toposort(k.sink)) {
    if (u.is(Op::Store) && tile_of(u)) outermost.push_back(closed_ranges(u)[0]);
  }
  ASSERT_EQ(outermost.size(), 2u);
  EXPECT_EQ(outermost[0], outermost[1]);
}

// Memory has nothing else to do then.
TEST(Panel, IsUsedWhileWhatFillsItNextIsFetched) {
  Graph graph;
  Caps caps = caps_with_unit(unit);
  caps.prefetches = true;
  const LinearProgram program = make_program(blocks_kernel(graph, 2), caps, [](KernelState& k) {
    apply_all(k, parse_edits("bind r0 unroll; split r1 by 16; bind r6 lane; split r2 by 4; "
                             "panel r8 r3 r4 r6; bind r3 unroll; bind r4 unroll"));
  });
  std::int64_t fetched = 0;
  bool reads_panel = false, fetches = false;
  for (UOp u : program.instructions) {
    if (u.is(Op::Loop)) reads_panel = fetches = false;
    reads_panel = reads_panel || (u.is(Op::Load) && buffer_of(u.src(0)).is(Op::Local));
    fetches = fetches || u.is(Op::Prefetch);
    fetched += u.is(Op::Prefetch);
    EXPECT_TRUE(!u.is(Op::EndLoop) || !fetches || reads_panel);
  }
  EXPECT_GT(fetched, 0);
}

TEST(Panel, IsRefusedWithTheReason) {
  Graph graph;
  const Caps caps = caps_with_unit(unit);
  const auto refused = [&](const char* before, const char* edit) {
    KernelState k(blocks_kernel(graph, rows), caps);
    apply_all(k, parse_edits(before));
    return refusal(k, parse_edits(edit)[0]);
  };
  EXPECT_EQ(refused("", "panel r2 r3"), "none of the loops is lanes");
  EXPECT_EQ(refused("bind r0 unroll", "panel r0 r2"), "loop r0 is of kind unroll");
  EXPECT_EQ(refused("", "panel r0 r2"), "loop r0 is of kind parallel");
  EXPECT_EQ(refused("split r1 by 16; bind r6 lane; bind r3 unroll", "panel r2 r4 r6"),
            "loop r3 is of kind unroll");
}

TEST(BlockProducts, AreAddedUpByAUnitFromAPanel) {
  Buffers buffers;
  const std::unique_ptr<Device> device = make_interpreter(caps_with_unit(unit));
  const std::string edits = run(*device, buffers, choose_edits);
  EXPECT_NE(edits.find("panel "), std::string::npos) << edits;
  EXPECT_NE(edits.find("contract "), std::string::npos) << edits;
  EXPECT_EQ(buffers.out, buffers.expected());
}

// Of a panel that would leave no room in the cache for the rows.
TEST(BlockProducts, OfOneTileOfRowsAreDecodedAFewBlocksAtATime) {
  constexpr std::int64_t few = 5;
  Buffers buffers;
  Caps caps = caps_with_unit(unit);
  caps.l1_bytes = 8 << 10;
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const std::string edits = run(*device, buffers, choose_edits, few);
  EXPECT_NE(edits.find("split r2 by 2; panel "), std::string::npos) << edits;
  std::vector<float> expected = buffers.expected();
  expected.resize(few * columns);
  buffers.out.resize(few * columns);
  EXPECT_EQ(buffers.out, expected);
}

// A column has 128 bytes, so 33 of them are more than a page.  Eight tasks would be of fewer.  Four
// columns side by side are short.
TEST(BlockProducts, OfOneTileOfRowsHaveLanesInPagesOfTheirOwn) {
  constexpr std::int64_t few = 5, many = 16 * 33 * 4;
  Buffers buffers(many);
  Caps caps = caps_with_unit(unit);
  caps.threads = 1;
  const std::unique_ptr<Device> device = make_interpreter(caps);
  Graph graph;
  const std::string edits = buffers.run(*device, blocks_kernel(graph, few, many), choose_edits);
  EXPECT_NE(edits.find("split r1 by 528; split r6 by 132; split r8 by 4; merge r7 r10; bind r11"),
            std::string::npos)
      << edits;
  std::vector<float> expected = buffers.expected();
  expected.resize(few * many);
  buffers.out.resize(few * many);
  EXPECT_EQ(buffers.out, expected);
}

// Eight of these rows are more than a page.
TEST(BlockProducts, OfLongRowsHaveLanesThatLieApartOneByOne) {
  constexpr std::int64_t few = 5, many = 16 * 8 * 4;
  Buffers buffers(many, few, long_row);
  Caps caps = caps_with_unit(unit);
  caps.threads = 1;
  const std::unique_ptr<Device> device = make_interpreter(caps);
  Graph graph;
  const std::string edits =
      buffers.run(*device, blocks_kernel(graph, few, many, long_row), choose_edits);
  EXPECT_NE(edits.find("split r1 by 128; split r6 by 8; bind r7 lane"), std::string::npos) << edits;
  EXPECT_EQ(buffers.out, buffers.expected());
}

// Each product waits for the one before it of the same sum.
TEST(BlockProducts, SumsOfAllRowsOfATileAreMadeSideBySide) {
  Graph graph;
  const LinearProgram program =
      make_program(blocks_kernel(graph, 4), caps_with_unit(unit), choose_edits);
  std::vector<UOp> sums;  // of a block, as they are begun and added to
  for (UOp u : program.instructions) {
    if (u.is(Op::Contract)) sums.push_back(u.src(0));
  }
  ASSERT_EQ(sums.size() % 4, 0u);
  for (std::size_t i = 0; i < sums.size(); i++) EXPECT_EQ(sums[i].is_const(), i < 4) << i;
}

// All terms of a block at once, which two loops make up.
TEST(BlockProducts, OfAsManyRowsAsATileHasAreMadeByTiles) {
  for (const std::int64_t count : {16, 8}) {
    Buffers buffers(columns, count);
    const std::unique_ptr<Device> device = make_interpreter(caps_with_unit("amx.block.s8u8"));
    const std::string edits = run(*device, buffers, choose_edits, count);
    const bool is_used = edits.find("contract r6 r3 r7 r8 by 1") != std::string::npos;
    EXPECT_EQ(is_used, count == 16) << edits;
    EXPECT_EQ(buffers.out, buffers.expected());
  }
}

// With lanes side by side and far apart, by tiles and by vectors.
TEST(BlockProducts, AreRightOnTheProcessorAtHand) {
  for (const std::int64_t count : {rows, std::int64_t{8}, std::int64_t{16}, std::int64_t{48}}) {
    for (const std::int64_t many : {columns, std::int64_t{9216}}) {
      if (count * many > 100000) continue;
      Buffers buffers(many, count);
      Graph graph;
      buffers.run(device(device_index("CPU")), blocks_kernel(graph, count, many), choose_edits);
      EXPECT_EQ(buffers.out, buffers.expected()) << count << " rows, " << many << " columns";
    }
  }
}

TEST(BlockProducts, AreLeftToOthersWithoutAUnit) {
  Buffers buffers;
  Caps caps = cpu_shaped_caps();
  caps.matrix_units.clear();
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const std::string edits = run(*device, buffers, choose_edits);
  EXPECT_EQ(edits.find("panel "), std::string::npos) << edits;
  EXPECT_EQ(buffers.out, buffers.expected());
}

}  // namespace
}  // namespace croze
