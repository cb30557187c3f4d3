// explain_test.cpp -- why buffers are there, where that is known by hand; and the peak.
#include <algorithm>

#include "croze/schedule/explain/explanation.h"
#include "schedule/products.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

const Caps& caps(int) {
  static const Caps caps = cpu_shaped_caps();
  return caps;
}

Explanation explained(Scheduled& s, std::initializer_list<UOp> roots) {
  return explanation_of(s.expect_right(roots), caps);
}

// Of buffers that launches use, those that are there for this.
std::vector<ExplainedBuffer> buffers_for(const Explanation& e, BufferCause cause) {
  std::vector<ExplainedBuffer> found;
  for (const ExplainedBuffer& b : e.buffers) {
    if (b.first >= 0 && b.reason.cause == cause) found.push_back(b);
  }
  return found;
}

ExplainedBuffer only_buffer_for(const Explanation& e, BufferCause cause) {
  const std::vector<ExplainedBuffer> found = buffers_for(e, cause);
  EXPECT_EQ(found.size(), 1u) << to_text(e);
  return found.empty() ? ExplainedBuffer{} : found[0];
}

using Shape = std::vector<std::int64_t>;

TEST(Explain, AResultIsThereBecauseItWasAskedFor) {
  Scheduled s;
  const Explanation e = explained(s, {s.buffer({4, 5}) * 3 + 1});
  const ExplainedBuffer b = only_buffer_for(e, BufferCause::Requested);
  EXPECT_EQ(b.kind, ExplainedBuffer::Kind::Result);
  EXPECT_EQ(b.shape, (Shape{4, 5}));
  EXPECT_EQ(b.bytes, 80);
  EXPECT_EQ(e.result_bytes, 80);
  EXPECT_EQ(e.input_bytes, 80);
  ASSERT_EQ(e.launches.size(), 1u);
  EXPECT_EQ(e.launches[0].bytes, 160);
  EXPECT_EQ(e.launches[0].flops, 40);
  EXPECT_EQ(e.launches[0].nests, std::vector<std::string>{"map_5_4"});
  EXPECT_TRUE(e.peaks.empty());
}

TEST(Explain, ASumThatTwoKernelsWantIsStored) {
  Scheduled s;
  const UOp sum = s.reduce(Op::Add, s.buffer({200, 300}), {0});
  const Explanation e = explained(s, {s.contiguous(sum + 1), s.reduce(Op::Max, sum, {1})});
  const ExplainedBuffer b = only_buffer_for(e, BufferCause::SharedReduction);
  EXPECT_EQ(b.shape, (Shape{1, 300}));
  EXPECT_EQ(b.why.find("several kernels want this"), 0u) << b.why;
}

TEST(Explain, ArithmeticThatTwoKernelsWantIsStoredWhereItIsNotCheap) {
  Scheduled s;
  UOp x = s.buffer({50, 70});
  for (int i = 0; i < 9; i++) x = s.graph.alu(Op::Max, {x * 3, s.flip(x, {0, 1})});
  const UOp columns = s.reduce(Op::Add, x, {0}), rows = s.reduce(Op::Max, x, {1});
  const ExplainedBuffer b =
      only_buffer_for(explained(s, {columns, rows}), BufferCause::SharedArithmetic);
  EXPECT_GT(b.reason.count, b.reason.limit);
  EXPECT_EQ(b.reason.limit, 6);
  EXPECT_EQ(b.readers, 1) << "the two run in one launch";
}

// The same arithmetic: reading and writing a value takes longer than so many operations.
TEST(Explain, ArithmeticIsDoneTwiceWhereWritingItDownTakesLonger) {
  Caps slow_memory = cpu_shaped_caps();
  slow_memory.l2_bytes = 64;
  slow_memory.vector_bytes = 64;
  slow_memory.threads = 16;
  Scheduled s(slow_memory);
  const UOp x = s.buffer({50, 70});
  UOp y = x;
  for (int i = 0; i < 4; i++) y = s.graph.alu(Op::Max, {y * 3, y + x});
  const Schedule schedule = s.expect_right({s.reduce(Op::Add, y, {0}), s.reduce(Op::Max, y, {1})});
  for (const ScheduleBuffer& b : schedule.buffers) {
    EXPECT_NE(b.reason.cause, BufferCause::SharedArithmetic);
  }
}

TEST(Explain, WhatIsAStepAwayFromWhatIsStoredIsNotStored) {
  Scheduled s;
  UOp x = s.buffer({50, 70});
  for (int i = 0; i < 9; i++) x = s.graph.alu(Op::Max, {x * 3, s.flip(x, {0, 1})});
  const UOp y = x * 2 + 1;
  const Explanation e = explained(s, {s.reduce(Op::Add, x, {0}), s.reduce(Op::Max, x, {1}),
                                      s.reduce(Op::Add, y, {1}), s.reduce(Op::Max, y, {0})});
  const ExplainedBuffer b = only_buffer_for(e, BufferCause::SharedArithmetic);
  EXPECT_EQ(b.shape, (Shape{50, 70}));
}

// What scales and shifts the rows of a product is done once for each tile of columns, one by one.
TEST(Explain, AScaledOperandIsStoredWhereManyColumnsReadIt) {
  for (const std::int64_t columns : {32, 512}) {
    Scheduled s;
    const UOp scaled = s.buffer({40, 50}) * 3 + s.expand(s.buffer({1, 50}), {40, 50});
    const Explanation e = explained(s, {product(s, scaled, s.buffer({50, columns}))});
    const std::size_t stored = buffers_for(e, BufferCause::RepeatedOperand).size();
    EXPECT_EQ(stored, columns == 512 ? 1u : 0u);
  }
}

// As weights of four bits each are, for the rows of a small batch.
TEST(Explain, ADecodedOperandIsStoredWhereManyRowsReadIt) {
  for (const std::int64_t rows : {8, 32}) {
    Scheduled s;
    const UOp scale = s.expand(s.buffer({50, 1}), {50, 60});
    const UOp decoded = (s.buffer({50, 60}) * 3 - 8) * scale;
    const Explanation e = explained(s, {product(s, s.buffer({rows, 50}), decoded)});
    const std::size_t stored = buffers_for(e, BufferCause::RepeatedOperand).size();
    EXPECT_EQ(stored, rows == 32 ? 1u : 0u);
  }
}

// Codegen computes what 32 terms of a sum share once for them.
TEST(Explain, AScaleOfBlocksIsStoredWhereManyRowsReadIt) {
  for (const std::int64_t rows : {8, 32}) {
    Scheduled s;
    const UOp scale = s.expand((s.buffer({2, 1, 60}) * 3 - 8) * 5, {2, 32, 60});
    const UOp decoded = s.buffer({64, 60}) * s.reshape(scale, {64, 60});
    const Explanation e = explained(s, {product(s, s.buffer({rows, 64}), decoded)});
    const std::size_t stored = buffers_for(e, BufferCause::RepeatedOperand).size();
    EXPECT_EQ(stored, rows == 32 ? 2u : 0u);  // what the scale multiplies, too
  }
}

TEST(Explain, AReductionInsideOfAnotherIsStored) {
  Scheduled s;
  const UOp row = s.expand(s.reduce(Op::Max, s.buffer({30, 40}), {0}), {30, 40});
  const ExplainedBuffer b =
      only_buffer_for(explained(s, {s.reduce(Op::Add, row, {0, 1})}), BufferCause::NestedReduction);
  EXPECT_EQ(b.shape, (Shape{1, 40}));
}

TEST(Explain, AnExpressionThatHasGrownTooLargeIsCut) {
  Scheduled s;
  UOp x = s.buffer({50});
  for (int i = 0; i < 500; i++) x = x * 3 % 7 + i;
  const auto cuts =
      buffers_for(explanation_of(s.schedule({x}), caps), BufferCause::LargeExpression);
  ASSERT_FALSE(cuts.empty());
  for (const ExplainedBuffer& b : cuts) {
    EXPECT_GT(b.reason.count, 400);
    EXPECT_EQ(b.reason.limit, 400);
    EXPECT_EQ(b.one_nest.cause, RefusalCause::LargeNest) << b.why;
  }
}

TEST(Explain, MemoryThatIsOverwrittenIsCopiedForWhoeverWantsTheOldContents) {
  Scheduled s;
  const UOp x = s.buffer({50});
  const UOp after = s.assign(x, x, s.flip(x, {1}));
  EXPECT_EQ(only_buffer_for(explained(s, {after}), BufferCause::OwnContents).bytes, 200);
  Scheduled t;
  const UOp y = t.buffer({50}), z = t.buffer({50});
  // Each takes the other's contents.
  const Explanation e = explained(t, {t.assign(y, y, z * 2), t.assign(z, z, y * 3)});
  EXPECT_EQ(only_buffer_for(e, BufferCause::OlderContents).bytes, 200);
}

TEST(Explain, AScatterNeedsMemory) {
  Scheduled s;
  const UOp src[] = {s.buffer({10}), s.buffer({3}), s.buffer({0, 5, 5}, {3}, DType::Int32)};
  const UOp sum =
      s.graph.make(Op::Scatter, DType::Float32, src, Arg(static_cast<std::int64_t>(Op::Add)));
  const ExplainedBuffer b =
      only_buffer_for(explained(s, {s.reduce(Op::Max, sum, {0})}), BufferCause::ScatterTarget);
  EXPECT_EQ(b.bytes, 40);
}

TEST(Explain, AContractionStaysANestOfItsOwn) {
  Scheduled s;
  const UOp a = s.expand(s.reshape(s.buffer({64, 64}), {64, 64, 1}), {64, 64, 64});
  const UOp b = s.expand(s.reshape(s.buffer({64, 64}), {1, 64, 64}), {64, 64, 64});
  const UOp product = s.contiguous(s.reduce(Op::Add, a * b, {1}));
  const UOp row = s.expand(s.reduce(Op::Max, product, {2}), {64, 1, 64});
  const Explanation e = explained(s, {s.contiguous(product - row)});
  for (const ExplainedBuffer& buffer : buffers_for(e, BufferCause::Contiguous)) {
    EXPECT_EQ(buffer.one_nest.cause, RefusalCause::Contraction) << to_text(e);
  }
}

// Three stages of 8 MB, each read by the next alone, and the first by the last as well.
TEST(Explain, ThePeakIsThatOfThePlan) {
  Scheduled s;
  const auto turned = [&](UOp x) { return s.contiguous(s.flip(x, {1, 1})); };
  const UOp first = turned(s.buffer({2000, 1000}) * 2), second = turned(first + 1);
  const UOp third = turned(second * 3);
  const Schedule schedule = s.schedule({s.graph.alu(Op::Max, {third, s.flip(first, {1, 0})})});
  const Explanation e = explanation_of(schedule, caps);
  ASSERT_EQ(e.peaks.size(), 1u);
  ASSERT_EQ(schedule.arenas.size(), 1u);
  const ExplainedPeak& peak = e.peaks[0];
  EXPECT_EQ(peak.bytes, schedule.arenas[0].lower_bound);
  EXPECT_EQ(peak.arena_bytes, schedule.arenas[0].bytes);
  std::int64_t together = 0, most = 0;
  for (int b : peak.buffers) together += e.buffers[static_cast<std::size_t>(b)].room;
  for (const ExplainedLaunch& l : e.launches) most = std::max(most, l.alive_bytes);
  EXPECT_EQ(together, peak.bytes);
  EXPECT_EQ(most, peak.bytes);
  EXPECT_EQ(e.launches[static_cast<std::size_t>(peak.launch)].alive_bytes, peak.bytes);
  EXPECT_GE(peak.bytes, 2 * 8'000'000);
}

TEST(Explain, TheTextHasARowForEachLaunchAndEachBuffer) {
  Scheduled s;
  const UOp first = s.contiguous(s.flip(s.buffer({2000, 1000}) * 2, {1, 1}));
  const std::string text = to_text(
      explanation_of(s.schedule({s.graph.alu(Op::Max, {first, s.flip(first, {1, 1})})}), caps));
  EXPECT_EQ(text.find("2 launches of 2 loop nests"), 0u) << text;
  EXPECT_NE(text.find("float32 (2000, 1000): contiguous() asked for it"), text.npos) << text;
  EXPECT_NE(text.find("peak of "), std::string::npos) << text;
}

}  // namespace
}  // namespace croze::test
