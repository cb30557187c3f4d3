// Which tile of a contraction is chosen, by what the caches hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "croze/codegen/choose/choose.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// out[n, i, j] = sum over k of a[n, i, k] * b[k, j]; r0 ... r3 are n, i, j, k.  The rows of one n
// are 3 further than those of the one before, so that the two loops cannot be one.  What it
// computes is left out, which takes long where it is large.
SmallKernel large_product(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                          std::int64_t depth) {
  SmallKernel k{"batched", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t apart = rows * depth + 3;
  k.buffers = {numbers(batch * rows * columns, 1), numbers(batch * apart, 2),
               numbers(depth * columns, 3)};
  const UOp n = g.range(0, batch, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Parallel);
  const UOp j = g.range(2, columns, LoopKind::Parallel), d = g.range(3, depth, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, batch * apart), n * apart + i * depth + d));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, depth * columns), d * columns + j));
  const UOp place =
      g.place(g.param(DType::Int32, 0, batch * rows * columns), (n * rows + i) * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{n, i, j})});
  return k;
}

// The same with what it computes.
SmallKernel batched_product(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                            std::int64_t depth) {
  SmallKernel k = large_product(batch, rows, columns, depth);
  const std::int64_t apart = rows * depth + 3;
  for (std::int64_t row = 0; row < batch * rows; row++) {
    for (std::int64_t column = 0; column < columns; column++) {
      std::int32_t total = 0;
      for (std::int64_t z = 0; z < depth; z++) {
        const std::int64_t at = row / rows * apart + row % rows * depth + z;
        total += k.buffers[1][static_cast<std::size_t>(at)] *
                 k.buffers[2][static_cast<std::size_t>(z * columns + column)];
      }
      k.expected.push_back(total);
    }
  }
  return k;
}

std::string edits_for(const SmallKernel& kernel, const Caps& caps) {
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const auto [result, edits] = run_edited(*device, kernel, choose_edits);
  EXPECT_EQ(result, kernel.expected);
  return edits;
}

// The same without a run, for kernels that take the interpreter long.
std::string chosen_for(const SmallKernel& kernel, const Caps& caps) {
  std::string edits;
  make_program(kernel.sink, caps, [&](KernelState& k) {
    choose_edits(k);
    edits = to_text(k.applied);
  });
  return edits;
}

Caps caches(std::int64_t l1_bytes, std::int64_t l2_bytes) {
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = 64;
  caps.vector_registers = 32;
  caps.l1_bytes = l1_bytes;
  caps.l2_bytes = l2_bytes;
  return caps;
}

TEST(ChooseTile, ColumnsFromTheL2CacheAreSharedByMoreRows) {
  const SmallKernel kernel = batched_product(2, 64, 64, 64);
  const std::string near = edits_for(kernel, caches(64 << 10, 1 << 20));
  EXPECT_NE(near.find("split r1 by 4; bind r7 unroll"), std::string::npos) << near;
  const std::string far = edits_for(kernel, caches(4 << 10, 1 << 20));
  EXPECT_NE(far.find("split r4 by 2; bind r7 unroll; split r1 by 8"), std::string::npos) << far;
}

// Behind "reorder" stand the loops, outermost first: r0 is the batch.
TEST(ChooseTile, RowsOfAllBatchesShareAPanelIfTheyStayNear) {
  const SmallKernel kernel = batched_product(3, 32, 256, 64);
  const std::string near = edits_for(kernel, caches(32 << 10, 1 << 20));
  EXPECT_EQ(near.find("reorder r0"), std::string::npos) << near;
  EXPECT_NE(near.find("reorder"), std::string::npos) << near;
  const std::string far = edits_for(kernel, caches(32 << 10, 32 << 10));
  EXPECT_NE(far.find("reorder r0"), std::string::npos) << far;
}

// 67 columns are four vectors and some, 61 rows four tiles and some: nothing is masked.
TEST(ChooseTile, TilesOverlapWhereNoneDividesTheLoops) {
  const std::string edits = edits_for(batched_product(2, 61, 67, 32), caches(32 << 10, 1 << 20));
  EXPECT_NE(edits.find("split_overlapping r1 by"), std::string::npos) << edits;
  EXPECT_NE(edits.find("split_overlapping r2 by"), std::string::npos) << edits;
  EXPECT_EQ(edits.find("pad"), std::string::npos) << edits;
}

// out[h, i, j] = sum over d of a[h, d, i] * b[d, j]: a weight's gradient by the heads of attention.
SmallKernel gradient_by_heads(std::int64_t heads, std::int64_t rows, std::int64_t columns,
                              std::int64_t depth) {
  SmallKernel k{"by heads", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp h = g.range(0, heads, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Parallel);
  const UOp j = g.range(2, columns, LoopKind::Parallel), d = g.range(3, depth, LoopKind::Reduce);
  const UOp a =
      g.load(g.place(g.param(DType::Float32, 1, heads * depth * rows), (h * depth + d) * rows + i));
  const UOp b = g.load(g.place(g.param(DType::Float32, 2, depth * columns), d * columns + j));
  const UOp place =
      g.place(g.param(DType::Float32, 0, heads * rows * columns), (h * rows + i) * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{h, i, j})});
  return k;
}

std::vector<std::string> words_after(const std::string& edits, const std::string& edit) {
  const std::size_t begin = edits.find(edit);
  if (begin == edits.npos) return {};
  std::istringstream words(edits.substr(begin, edits.find(';', begin) - begin));
  return {std::istream_iterator<std::string>(words), {}};
}

// Where a result is written as fast as it is computed its rows are written one after the other: the
// loop over tiles of columns, r4, stands inside of that over tiles of rows, r8.
TEST(ChooseTile, TilesOfAShortReductionGoAlongTheResult) {
  const auto rows_are_outermost = [](std::int64_t depth) {
    const std::string edits =
        chosen_for(large_product(8, 128, 4096, depth), caches(48 << 10, 1 << 20));
    EXPECT_NE(edits.find("split_overlapping r2 by 48; split r5 by 16; bind r7 lane"), edits.npos);
    EXPECT_NE(edits.find("split r1 by 8; bind r9 unroll"), edits.npos);
    const std::vector<std::string> order = words_after(edits, "reorder");
    return std::ranges::find(order, "r8") < std::ranges::find(order, "r4");
  };
  EXPECT_TRUE(rows_are_outermost(8));
  EXPECT_FALSE(rows_are_outermost(128));
}

// Columns that the L2 cache does not hold do so in blocks.
TEST(ChooseTile, BlocksOfColumnsGoAlongTheResult) {
  const std::string edits =
      chosen_for(large_product(2, 128, 1 << 15, 16), caches(48 << 10, 1 << 20));
  EXPECT_NE(edits.find("split r1 by 8; bind r9 unroll; split_overlapping r4 by"), edits.npos);
  const std::vector<std::string> order = words_after(edits, "reorder");
  // Blocks, what is left of the rows, and the columns of a block.
  const auto rows = std::ranges::find(order, "r8");
  EXPECT_LT(std::ranges::find(order, "r10"), rows) << edits;
  EXPECT_LT(rows, std::ranges::find(order, "r11")) << edits;
}

// Rows that lie side by side, with steps of the reduction far apart, are copied block by block for
// the tiles of columns.  Where there are few of them they are read where they are.
TEST(ChooseTile, RowsThatLieInPiecesAreCopied) {
  const auto copies = [](std::int64_t rows) {
    const std::string edits =
        chosen_for(gradient_by_heads(2, rows, 256, 176), caches(48 << 10, 2 << 20));
    std::int64_t found = 0;
    for (std::size_t at = 0; (at = edits.find("stage load", at)) != edits.npos; at++) found++;
    return found;
  };
  EXPECT_EQ(copies(4096), 2);
  EXPECT_EQ(copies(64), 0);
}

// Sums that wait are those of the innermost loops: of a loop around others they would be summed up
// again for each of those.
TEST(ChooseTile, SumsThatWaitAreThoseOfTheInnermostLoops) {
  const std::string edits =
      chosen_for(gradient_by_heads(4, 256, 512, 1024), caches(48 << 10, 1 << 20));
  const std::vector<std::string> order = words_after(edits, "reorder");
  const std::vector<std::string> waiting = words_after(edits, "accumulate");
  ASSERT_GT(order.size(), 1U) << edits;
  ASSERT_GT(waiting.size(), 4U) << edits;
  // "accumulate r3 r8 r9 by 256": the loops stand between the reduction and "by".
  const std::vector<std::string> loops(waiting.begin() + 2, waiting.end() - 2);
  ASSERT_LT(loops.size(), order.size()) << edits;
  EXPECT_TRUE(std::equal(loops.rbegin(), loops.rend(), order.rbegin())) << edits;
}

// out[i, j] = sum over d of a * b[d, j], with so many operations on each of the factors; a is
// [i, d], or [d, i] where rows lie side by side.
struct Factors {
  std::int64_t rows = 64, columns = 64, depth = 64;
  int on_rows = 0, on_columns = 0;
  bool rows_side_by_side = false;
};

std::string chosen_for(const Factors& f, const Caps& caps = caches(64 << 10, 1 << 20)) {
  const auto [rows, columns] = std::pair(f.rows, f.columns);
  SmallKernel k{"factors", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, f.depth, LoopKind::Reduce);
  const UOp at = f.rows_side_by_side ? d * rows + i : i * f.depth + d;
  UOp a = g.load(g.place(g.param(DType::Float32, 1, rows * f.depth), at));
  UOp b = g.load(g.place(g.param(DType::Float32, 2, f.depth * columns), d * columns + j));
  for (int n = 0; n < f.on_rows; n++) a = a * a;
  for (int n = 0; n < f.on_columns; n++) b = b * b;
  const UOp place = g.place(g.param(DType::Float32, 0, rows * columns), i * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{i, j})});
  return chosen_for(k, caps);
}

// What is computed of a vector of columns is computed once for all rows of a tile.
TEST(ChooseTile, DearColumnsAreSharedByMoreRows) {
  const std::string loaded = chosen_for({.on_columns = 0}), dear = chosen_for({.on_columns = 6});
  EXPECT_NE(loaded.find("split r0 by 4; bind"), std::string::npos) << loaded;
  EXPECT_EQ(dear.find("split r0 by 4; bind"), std::string::npos) << dear;
}

// What is computed of a row is computed for each of them by itself, unless lanes lie along the
// rows, even if these are stored far apart then.
TEST(ChooseTile, WhatIsComputedOfAnOperandIsComputedOnVectors) {
  const auto chosen = [](int operations) {
    return chosen_for({.depth = 512, .on_rows = operations, .rows_side_by_side = true});
  };
  EXPECT_NE(chosen(0).find("split r1 by 16; bind r4 lane"), std::string::npos) << chosen(0);
  EXPECT_NE(chosen(2).find("split r0 by 16; bind r4 lane"), std::string::npos) << chosen(2);
}

// Rows that lie in pieces are copied for a few tiles of columns, too, which have no blocks of rows
// else; for two they are not.
TEST(ChooseTile, RowsThatLieInPiecesMakeBlocksForFewColumns) {
  const auto chosen = [](std::int64_t columns) {
    return chosen_for({.rows = 512, .columns = columns, .depth = 1024, .rows_side_by_side = true},
                      caches(48 << 10, 2 << 20));
  };
  const std::string few = chosen(192), two = chosen(96);
  EXPECT_NE(few.find("split r0 by 8; bind r8 unroll; split r7 by 16; reorder"), few.npos) << few;
  EXPECT_NE(few.find("stage load 0 over r12 r16 r17"), few.npos) << few;
  EXPECT_EQ(two.find("bind r8 unroll; split r7"), two.npos) << two;
}

// out[j] = sum over i of x[i, j]: 256 columns, of rows that are 4 KiB apart.
SmallKernel column_sums(std::int64_t rows) {
  SmallKernel k{"columns", std::make_shared<Graph>(), {}, {}, {}};
  constexpr std::int64_t columns = 256, apart = 1024;
  Graph& g = *k.graph;
  k.buffers = {numbers(columns, 1), numbers(rows * apart, 2)};
  const UOp j = g.range(0, columns, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, rows * apart), i * apart + j));
  const UOp place = g.place(g.param(DType::Int32, 0, columns), j);
  const UOp sum = g.reduce(Op::Add, x, std::vector<UOp>{i});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{j})});
  k.expected.assign(columns, 0);
  for (std::int64_t n = 0; n < rows * columns; n++) {
    k.expected[static_cast<std::size_t>(n % columns)] +=
        k.buffers[1][static_cast<std::size_t>(n / columns * apart + n % columns)];
  }
  return k;
}

// x[0, j] += sum over i of x[1 + i, j], of the same.
SmallKernel sums_into_the_first_row(std::int64_t rows) {
  SmallKernel k{"into_first", std::make_shared<Graph>(), {}, {}, {}};
  constexpr std::int64_t columns = 256, apart = 1024;
  Graph& g = *k.graph;
  const std::int64_t size = (rows + 1) * apart;
  k.buffers = {numbers(size, 1)};
  const UOp j = g.range(0, columns, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Reduce);
  const UOp memory = g.param(DType::Int32, 0, size), place = g.place(memory, j);
  const UOp x = g.load(g.place(memory, (i + 1) * apart + j));
  const UOp sum = g.load(place) + g.reduce(Op::Add, x, std::vector<UOp>{i});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{j})});
  k.expected = k.buffers[0];
  for (std::int64_t n = 0; n < rows * columns; n++) {
    k.expected[static_cast<std::size_t>(n % columns)] +=
        k.buffers[0][static_cast<std::size_t>((n / columns + 1) * apart + n % columns)];
  }
  return k;
}

bool accumulates(const SmallKernel& kernel, const Caps& caps) {
  return edits_for(kernel, caps).find("accumulate") != std::string::npos;
}

// Those of a block wait in a tile where the cache of a thread does not hold its half of the matrix.
TEST(ChooseTile, ColumnsOfALargeMatrixAreSummedRowByRow) {
  EXPECT_TRUE(accumulates(column_sums(128), caches(32 << 10, 32 << 10)));
  EXPECT_FALSE(accumulates(column_sums(64), caches(32 << 10, 32 << 10)));
  EXPECT_FALSE(accumulates(column_sums(64), caches(32 << 10, 1 << 20)));
}

// Of eight rows there is one turn, and what is stored among the rows would be read in the next.
TEST(ChooseTile, ColumnsThatCannotWaitAreSummedOneByOne) {
  for (const std::int64_t rows : {4, 5, 6, 7, 8, 11}) {
    EXPECT_FALSE(accumulates(column_sums(rows), caches(32 << 10, 2 << 10))) << rows;
  }
  EXPECT_FALSE(accumulates(sums_into_the_first_row(64), caches(32 << 10, 32 << 10)));
}

// The matrix is read once, for all the vectors that it multiplies.
TEST(ChooseTile, AFewVectorsTimesALargeMatrixReadItRowByRow) {
  EXPECT_TRUE(accumulates(batched_product(2, 3, 512, 32), caches(32 << 10, 32 << 10)));
  EXPECT_FALSE(accumulates(batched_product(3, 3, 512, 32), caches(32 << 10, 32 << 10)));
}

// 4 KiB from one number of a column to the next, and threads that want rows faster than they come:
// columns are copied for each turn, between which the sums of a block wait.
TEST(ChooseTile, LongProductsGoInTurnsOverBlocks) {
  Caps many_threads = caches(32 << 10, 64 << 10);
  many_threads.threads = 8;
  const std::string edits = chosen_for(large_product(2, 256, 1024, 512), many_threads);
  EXPECT_NE(edits.find("accumulate r3"), std::string::npos) << edits;
  EXPECT_NE(edits.find("stage"), std::string::npos) << edits;
  Caps short_vectors = caches(16 << 10, 16 << 10);
  short_vectors.vector_bytes = 32;
  short_vectors.vector_registers = 16;
  EXPECT_TRUE(accumulates(batched_product(2, 24, 96, 256), short_vectors));
  EXPECT_TRUE(accumulates(batched_product(2, 48, 64, 256), short_vectors));
}

// Of 86 tiles, twice a prime, there are blocks of 2 and of 43, or of 22 of which the last overlaps.
TEST(ChooseTile, BlocksOverlapWhereDivisorsAreFarLess) {
  Caps caps = caches(32 << 10, 1 << 20);
  caps.vector_bytes = 32;
  caps.vector_registers = 16;
  caps.threads = 2;
  const std::string edits =
      chosen_for({.rows = 512, .columns = 512, .depth = 512, .rows_side_by_side = true}, caps);
  EXPECT_NE(edits.find("split_overlapping r7 by 22"), std::string::npos) << edits;
}

// Where the caches hold the rows, which come in order, they are read for each panel of columns.  It
// stays in the L2 cache, the whole of it (four vectors of columns are 256 KiB) or as much as a turn
// takes, and threads share the panels.
TEST(ChooseTile, RowsThatComeInOrderAreStreamed) {
  const SmallKernel kernel = large_product(2, 256, 512, 1024);
  const std::string whole = chosen_for(kernel, caches(32 << 10, 512 << 10));
  EXPECT_EQ(whole.find("accumulate"), std::string::npos) << whole;
  const std::string turns = chosen_for(kernel, caches(8 << 10, 128 << 10));
  EXPECT_NE(turns.find("accumulate r3"), std::string::npos) << turns;
  for (const std::string& edits : {whole, turns}) {
    EXPECT_NE(edits.find("stage"), std::string::npos) << edits;
    EXPECT_EQ(edits.find("stage"), edits.rfind("stage")) << "rows are not copied: " << edits;
  }
}

// Rows that are 4 KiB apart share a set of the L1 cache, which keeps eight of their lines.
TEST(ChooseTile, RowsThatCollideAreNoMoreThanASetHolds) {
  for (std::int64_t rows : {512, 1024}) {
    const std::string edits =
        chosen_for(large_product(2, rows, 1009, 1024), caches(48 << 10, 2 << 20));
    const std::vector<std::string> split = words_after(edits, "r1 by ");
    ASSERT_GT(split.size(), 2U) << edits;
    EXPECT_LE(std::stoi(split[2]), 8) << edits;
  }
}

// 64 rows of weights times columns that the L2 cache does not hold: lanes lie along the columns,
// which are lines, not along the rows, for which each line would be fetched as well.
TEST(ChooseTile, ColumnsFromAfarAreReadAsTheyLie) {
  const std::string edits = chosen_for(large_product(2, 64, 3136, 256), caches(48 << 10, 1 << 20));
  EXPECT_EQ(edits.find("split r1 by 16"), std::string::npos) << edits;
}

// The innermost loop of a reduction turns a few times less, if it is no prime, and a tile has few
// multiply-adds.
TEST(ChooseTile, TurnsOfAReductionBecomeOne) {
  const auto copies = [](std::int64_t depth) {
    const std::vector<std::string> split = words_after(chosen_for({.depth = depth}), "split r2 by");
    return split.size() > 3 ? std::stoi(split[3]) : 1;
  };
  EXPECT_EQ(copies(64), 4);
  EXPECT_EQ(copies(65), 5);
  EXPECT_EQ(copies(67), 1);
}

TEST(ChooseTile, AShortReductionIsRightWhateverBecomesOfItsTurns) {
  for (std::int64_t depth = 1; depth <= 9; depth++)
    edits_for(batched_product(2, 32, 48, depth), caches(48 << 10, 1 << 20));
}

// out[c, y, x] = sum over k of w[c, k] * p[k, y, x]; r0 ... r3 are c, y, x, k.  What it computes is
// left out.
struct Lines {
  std::int64_t channels, lines, width, depth;
};

SmallKernel product_of_lines(const Lines& of) {
  const auto [channels, lines, width, depth] = of;
  const std::int64_t pitch = width + 4;
  SmallKernel k{"lines", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(channels * lines * width, 1), numbers(channels * depth, 2),
               numbers(depth * lines * pitch, 3)};
  const UOp c = g.range(0, channels, LoopKind::Parallel), y = g.range(1, lines, LoopKind::Parallel);
  const UOp x = g.range(2, width, LoopKind::Parallel), d = g.range(3, depth, LoopKind::Reduce);
  const UOp w = g.load(g.place(g.param(DType::Int32, 1, channels * depth), c * depth + d));
  const UOp p =
      g.load(g.place(g.param(DType::Int32, 2, depth * lines * pitch), (d * lines + y) * pitch + x));
  const UOp out =
      g.place(g.param(DType::Int32, 0, channels * lines * width), (c * lines + y) * width + x);
  const UOp sum = g.reduce(Op::Add, w * p, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{c, y, x})});
  return k;
}

// A line of 16 is one vector, and a tile has those of several lines.
TEST(ChooseTile, ShortLinesGiveOneVectorEach) {
  constexpr std::int64_t channels = 32, lines = 24, width = 16, depth = 24, pitch = 20;
  SmallKernel k = product_of_lines({channels, lines, width, depth});
  for (std::int64_t n = 0; n < channels * lines * width; n++) {
    const std::int64_t channel = n / width / lines, line = n / width % lines;
    std::int32_t total = 0;
    for (std::int64_t z = 0; z < depth; z++) {
      total += k.buffers[1][static_cast<std::size_t>(channel * depth + z)] *
               k.buffers[2][static_cast<std::size_t>((z * lines + line) * pitch + n % width)];
    }
    k.expected.push_back(total);
  }
  const std::string edits = edits_for(k, caches(32 << 10, 1 << 20));
  EXPECT_NE(edits.find("bind r2 lane; split r1 by"), std::string::npos) << edits;
}

// Seven pairs of lines are too uneven a share for two threads: they share the channels, and each
// reads the factors of its own once for all lines.
TEST(ChooseTile, FewPairsOfLinesAreNoTasks) {
  Caps caps = caches(48 << 10, 2 << 20);
  caps.threads = 2;
  const auto task = [&](std::int64_t lines) {
    const std::string edits = chosen_for(product_of_lines({256, lines, 16, 2304}), caps);
    const std::vector<std::string> order = words_after(edits, "reorder");
    EXPECT_NE(edits.find("split r1 by 2; bind r5 unroll"), edits.npos) << edits;
    return order.size() < 2 ? "" : order[1];
  };
  EXPECT_NE(task(14), "r4");  // what is left of r1
  EXPECT_EQ(task(46), "r4");
}

// A panel of vectors of several lines is written to rows of each of them.
TEST(ChooseTile, TilesOfSeveralLinesGoAlongTheResult) {
  const std::string edits =
      chosen_for(product_of_lines({64, 111, 112, 27}), caches(48 << 10, 2 << 20));
  EXPECT_NE(edits.find("split r1 by 3; bind r7 unroll; split r0 by 8"), edits.npos) << edits;
  const std::vector<std::string> order = words_after(edits, "reorder");
  // What is left of the rows, and of the columns.
  EXPECT_LT(std::ranges::find(order, "r8"), std::ranges::find(order, "r4")) << edits;
}

// The same of a reduction that goes over a tile in one go.
TEST(ChooseTile, ThreadsShareRowsOfUnevenPanels) {
  Caps caps = caches(48 << 10, 2 << 20);
  caps.threads = 2;
  const auto blocks = [&](std::int64_t lines) {
    const std::string edits = chosen_for(product_of_lines({256, lines, 16, 128}), caps);
    EXPECT_EQ(edits.find("accumulate"), edits.npos) << edits;
    const std::vector<std::string> order = words_after(edits, "reorder");
    return order.size() > 1 && order[1] != "r4";
  };
  EXPECT_TRUE(blocks(14));
  EXPECT_FALSE(blocks(46));
}

// The turns of a long product of rows are refused for the same reason; it is tiled all the same.
TEST(ChooseTile, AProductIntoItsOwnRowsTakesNoTurns) {
  SmallKernel k{"into_own", std::make_shared<Graph>(), {}, {}, {}};
  constexpr std::int64_t side = 256;
  Graph& g = *k.graph;
  k.buffers = {numbers(3 * side * side, 1)};
  const UOp i = g.range(0, side, LoopKind::Parallel), j = g.range(1, side, LoopKind::Parallel);
  const UOp d = g.range(2, side, LoopKind::Reduce);
  const UOp memory = g.param(DType::Int32, 0, 3 * side * side);
  const UOp a = g.load(g.place(memory, (d + side) * side + i));
  const UOp b = g.load(g.place(memory, (d + 2 * side) * side + j));
  const UOp place = g.place(memory, i * side + j);
  const UOp sum = g.load(place) + g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{i, j})});
  const std::string edits = chosen_for(k, caches(32 << 10, 1 << 20));
  EXPECT_EQ(edits.find("accumulate"), std::string::npos) << edits;
  EXPECT_NE(edits.find("unroll"), std::string::npos) << edits;
}

}  // namespace
}  // namespace croze
