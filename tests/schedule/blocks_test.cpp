// blocks_test.cpp -- steps that run one after the other, block by block, and those that must not.
#include <algorithm>
#include <vector>

#include "croze/schedule/blocks/block_cost.h"
#include "schedule/products.h"

namespace croze::test {
namespace {

int blocks_of(const Schedule& schedule, std::size_t sequence = 0) {
  return static_cast<int>(count_blocks(schedule.sequences.at(sequence).blocks));
}

bool has_kind(const Schedule& schedule, ScheduleBuffer::Kind kind) {
  return std::ranges::any_of(schedule.buffers, [&](const auto& b) { return b.kind == kind; });
}

// Where there are several blocks, each thread makes the first of two values whole.
void expect_no_blocks_of_both(const Schedule& schedule) {
  for (const ScheduleSequence& sequence : schedule.sequences) {
    EXPECT_TRUE(count_blocks(sequence.blocks) == 1 || sequence.prelude == 1);
  }
}

TEST(Blocks, AttentionIsOneSequenceWhoseScoresAreNeverWhole) {
  Scheduled s;
  const UOp q = s.buffer({4, 64, 16}), keys = s.buffer({4, 16, 64}), values = s.buffer({4, 64, 16});
  const UOp p = normalised(s, product(s, q, keys));
  const Schedule schedule = s.expect_right({s.contiguous(product(s, p, values))});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.launches.size(), 1u);
  EXPECT_EQ(blocks_of(schedule), 4);
  EXPECT_TRUE(schedule.arenas.empty());
  EXPECT_GE(schedule.sequences[0].block_bytes, 64 * 64 * 4);
}

// The values are written into a cache first, which nothing of the scores waits for.
TEST(Blocks, AttentionIsOneSequenceWhereItsValuesAreWrittenBefore) {
  Scheduled s;
  const UOp q = s.buffer({4, 64, 16}), keys = s.buffer({4, 16, 64}), cache = s.buffer({4, 64, 16});
  const UOp values =
      s.assign(cache, s.shrink(cache, {0, 4, 8, 9, 0, 16}), s.buffer({4, 1, 16}) * 3);
  const UOp p = normalised(s, product(s, q, keys));
  const Schedule schedule = s.expect_right({s.contiguous(product(s, p, values)), values});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.launches.size(), 2u);
}

// The scores read what the cache was before it is written, so that comes between.
TEST(Blocks, WhatReadsMemoryBeforeItIsOverwrittenStaysApartFromWhatReadsItAfterwards) {
  Scheduled s;
  const UOp q = s.buffer({4, 64, 16}), cache = s.buffer({4, 64, 16});
  const UOp scores = product(s, q, s.move(Op::Permute, cache, {0, 2, 1}));
  const UOp values =
      s.assign(cache, s.shrink(cache, {0, 4, 8, 9, 0, 16}), s.buffer({4, 1, 16}) * 3);
  const UOp p = normalised(s, scores);
  const Schedule schedule = s.expect_right({s.contiguous(product(s, p, values)), values});
  EXPECT_GE(schedule.launches.size(), 3u);
}

TEST(Blocks, AttentionIntoMemoryThatIsKeptIsOneSequence) {
  Scheduled s(small_cache_caps());
  const UOp q = s.buffer({4, 64, 16}), keys = s.buffer({4, 16, 64}), values = s.buffer({4, 64, 16});
  const UOp kept = s.buffer({4, 64, 16}), p = normalised(s, product(s, q, keys));
  const Schedule schedule = s.expect_right({s.assign(kept, kept, product(s, p, values))});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.launches.size(), 1u);
  EXPECT_TRUE(schedule.arenas.empty());
}

// Two results of one sequence are so wherever they are wanted.
TEST(Blocks, ResultsIntoMemoryThatIsKeptAreOneSequence) {
  Scheduled s(small_cache_caps());
  const UOp q = s.buffer({4, 64, 16}), keys = s.buffer({4, 16, 64});
  const UOp p = normalised(s, product(s, q, keys));
  const UOp first = product(s, p, s.buffer({4, 64, 16}));
  const UOp second = product(s, p, s.buffer({4, 64, 8}));
  const UOp a = s.buffer({4, 64, 16}), b = s.buffer({4, 64, 8});
  const Schedule schedule = s.expect_right({s.assign(a, a, first), s.assign(b, b, second)});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.launches.size(), 1U);
  EXPECT_TRUE(schedule.arenas.empty());
}

// Blocks of queries that are written are read by others afterwards, as keys.
TEST(Blocks, AttentionIntoItsKeysWaitsUntilAllHaveReadThem) {
  Scheduled s(small_cache_caps());
  const UOp q = s.buffer({4, 64, 16}), keys = s.buffer({4, 64, 16}), values = s.buffer({4, 64, 16});
  const UOp p = normalised(s, product(s, q, s.move(Op::Permute, keys, {0, 2, 1})));
  const Schedule schedule = s.expect_right({s.assign(keys, keys, product(s, p, values))});
  EXPECT_GE(schedule.launches.size(), 2u);
}

// The terms of each of its sums are in several blocks, which add to it one after the other.
TEST(Blocks, OfTermsAreAddedUpInOrder) {
  Scheduled s(small_cache_caps());
  const UOp x = s.contiguous(product(s, s.buffer({4, 160, 2}), s.buffer({4, 2, 8})));
  const UOp turned = s.move(Op::Permute, x, {0, 2, 1});
  const UOp sums = s.contiguous(product(s, turned, s.buffer({4, 160, 2})));
  const Schedule schedule = s.expect_right({sums}, 1e-6);
  ASSERT_EQ(schedule.sequences.size(), 1u);
  const ScheduleSequence& sequence = schedule.sequences[0];
  EXPECT_GT(sequence.in_order, 1);
  EXPECT_EQ(blocks_of(schedule) % sequence.in_order, 0);
  EXPECT_TRUE(schedule.arenas.empty());
}

// Rows whose distance is a multiple of what a way of the first cache holds would throw each other
// out of it.
TEST(Blocks, RowsOfABlockLieInDifferentSets) {
  Scheduled s(small_cache_caps());
  const UOp q = s.buffer({2, 8, 4}), keys = s.buffer({2, 4, 1024}), values = s.buffer({2, 1024, 4});
  const UOp p = normalised(s, product(s, q, keys));
  const Schedule schedule = s.expect_right({s.contiguous(product(s, p, values))}, 1e-6);
  ASSERT_EQ(schedule.sequences.size(), 1u);
  std::int64_t rows = 0;
  for (const ScheduleBuffer& b : schedule.buffers) {
    if (b.kind != ScheduleBuffer::Kind::Block) continue;
    rows = b.elements / (1024 + 16);
    EXPECT_EQ(b.elements % (1024 + 16), 0);
  }
  EXPECT_GE(rows, 1);
}

TEST(Blocks, AreSmallerWhereTheCacheIs) {
  Scheduled s(small_cache_caps());
  const UOp q = s.buffer({2, 8, 4}), keys = s.buffer({2, 4, 8}), values = s.buffer({2, 8, 4});
  const UOp p = normalised(s, product(s, q, keys));
  const Schedule schedule = s.expect_right({s.contiguous(product(s, p, values))});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_GE(blocks_of(schedule), 4);  // not two: some rows each
}

TEST(Blocks, WhatAnotherStepWantsIsStoredAsAWhole) {
  Scheduled s;
  const UOp scores = s.contiguous(product(s, s.buffer({4, 64, 16}), s.buffer({4, 16, 64})));
  const Schedule schedule = s.expect_right({normalised(s, scores), scores});
  EXPECT_EQ(schedule.launches.size(), 1u);
  EXPECT_FALSE(has_kind(schedule, ScheduleBuffer::Kind::Block));
}

TEST(Blocks, AReaderThatTurnsTheAxesStaysApart) {
  Scheduled s;
  const UOp sums = s.contiguous(product(s, s.buffer({48, 48}), s.buffer({48, 48})));
  const UOp turned = s.move(Op::Permute, sums, {1, 0});
  const Schedule schedule = s.expect_right({s.contiguous(product(s, turned, s.buffer({48, 48})))});
  EXPECT_TRUE(schedule.sequences.empty());
  EXPECT_EQ(schedule.launches.size(), 2u);
}

// Sums of a product that are not added up block by block.
UOp positive(Scheduled& s, UOp sums) {
  return s.graph.alu(Op::Max, {sums, s.graph.constant(sums.dtype(), 0.0)});
}

TEST(Blocks, AReaderOfANeighbourStaysApart) {
  Scheduled s(small_cache_caps());
  const UOp x = s.contiguous(product(s, s.buffer({40, 8}), s.buffer({8, 8})));
  const UOp shifted = s.move(Op::Shrink, x, {1, 40, 0, 8});
  const UOp first = s.move(Op::Shrink, x, {0, 39, 0, 8});
  const UOp y = s.contiguous(positive(s, product(s, shifted + first, s.buffer({8, 8}))));
  expect_no_blocks_of_both(s.expect_right({y}));
}

// The rows that it reads are the first of those that there are: blocks of its own rows are others.
TEST(Blocks, AReaderOfTheFirstRowsStaysApart) {
  Scheduled s(small_cache_caps());
  const UOp x = s.contiguous(product(s, s.buffer({40, 8}), s.buffer({8, 8})));
  const UOp first = s.shrink(x, {0, 39, 0, 8});
  const UOp y = s.contiguous(positive(s, product(s, first, s.buffer({8, 8}))));
  expect_no_blocks_of_both(s.expect_right({y}));
}

// Its loop is the position along both axes, and can be cut along one of them.
TEST(Blocks, AReaderOfADiagonalIsCutOnce) {
  Scheduled s(small_cache_caps());
  const UOp x = s.contiguous(s.buffer({8, 8, 60}) * 3);
  const UOp rows = s.move(Op::Pad, s.reshape(x, {64, 60}), {0, 8, 0, 0});
  const UOp diagonal = s.shrink(s.reshape(rows, {8, 9, 60}), {0, 8, 0, 1, 0, 60});
  const Schedule schedule = s.expect_right({s.contiguous(diagonal * 2)});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_GE(blocks_of(schedule), 8);
}

TEST(Blocks, AScatterFillsAndWritesAColumnAfterTheOther) {
  Scheduled s;
  const UOp base = s.expand(s.reshape(s.buffer({1}, DType::Float32), {1, 1}), {500, 64});
  const UOp values = s.buffer({700, 64});
  std::vector<double> rows;
  for (int i = 0; i < 700; i++) rows.push_back(i * 37 % 500);
  const UOp row = s.expand(s.reshape(s.buffer(rows, {700}, DType::Int32), {700, 1}), {700, 64});
  const UOp column = s.expand(s.reshape(s.graph.iota(64), {1, 64}), {700, 64});
  const UOp sources[] = {base, values, row, column};
  const UOp sums =
      s.graph.make(Op::Scatter, DType::Float32, sources, Arg(static_cast<std::int64_t>(Op::Add)));
  const Schedule schedule = s.expect_right({sums});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.launches.size(), 1u);
  EXPECT_GE(blocks_of(schedule), 2);
}

// Each reads the one before by columns, so that all is one block; of its values two are alive.
TEST(Blocks, ALongChainKeepsNoMoreThanItStillReads) {
  Scheduled s;
  constexpr std::int64_t n = 30, bytes = n * n * 4, steps = 160;  // 562 KiB together
  const UOp weights = s.buffer({1, n, n});
  UOp x = s.buffer({n, n});
  for (std::int64_t i = 0; i < steps; i++) {
    const UOp turned = s.reshape(s.move(Op::Permute, x, {1, 0}), {n, n, 1});
    const UOp sums = s.expand(turned, {n, n, n}) + s.expand(weights, {n, n, n});
    x = s.contiguous(s.reshape(s.reduce(Op::Max, sums, {1}), {n, n}));
  }
  const Schedule schedule = s.schedule({x});
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_EQ(schedule.launches.size(), 1u);
  EXPECT_LE(schedule.sequences[0].block_bytes, 3 * bytes);
}

TEST(Blocks, WhatAllBlocksLoadAgainKeepsThemApart) {
  Scheduled s;  // rows are the only axis, and each block of them would pack all weights
  const UOp x = s.buffer({64, 512}), up = s.buffer({512, 1024}), down = s.buffer({1024, 512});
  const UOp hidden = s.contiguous(product(s, x, up));
  EXPECT_TRUE(s.schedule({s.contiguous(product(s, hidden, down))}).sequences.empty());
}

// Rows of which all that are at hand are added up, or as many as a number in memory says.
TEST(Blocks, ALoopThatEndsWhereANumberSaysIsTakenToTurnHalfAsOften) {
  constexpr std::int64_t rows = 64, keys = 256;
  Graph g;
  const UOp i = g.range(0, rows, LoopKind::Parallel), k = g.range(1, keys, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Float32, 1, rows * keys), i * keys + k));
  const UOp limit = g.load(g.place(g.param(DType::Int32, 2, 1), g.index(0)));
  const UOp seen = where(less(g.cast(k, DType::Int32), limit), x, g.constant(DType::Float32, 0.0));
  const auto read_by = [&](UOp term) {
    const UOp sum = g.reduce(Op::Add, term, std::vector<UOp>{k});
    const UOp out = g.place(g.param(DType::Float32, 0, rows), i);
    const BlockedNest nest =
        blocked_nest(g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i})}));
    const auto load = std::ranges::find(nest.loads, x.src(0), &BlockedNest::LoadFacts::place);
    return load == nest.loads.end() ? -1 : load->elements;
  };
  EXPECT_EQ(read_by(x), rows * keys);
  EXPECT_EQ(read_by(seen), rows * keys / 2);
}

}  // namespace
}  // namespace croze::test
