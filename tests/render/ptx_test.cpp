// ptx_test.cpp -- the text that a driver assembles.  What the text computes is tested on the
// interpreter of PTX.
#include "croze/render/ptx/ptx.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "support/programs.h"

namespace croze::test {
namespace {

constexpr DType f32 = DType::Float32;

std::string render(const LinearProgram& program) { return PtxRenderer().render(program); }

void expect_has(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}
void expect_lacks(const std::string& text, std::string_view part) {
  EXPECT_EQ(text.find(part), std::string::npos) << part << " is in\n" << text;
}

LinearProgram scaled() {
  ProgramBuilder b("scaled");
  const UOp x = b.param(f32, 16), y = b.param(f32, 16);
  const UOp start = b.variable(0, 15);
  const UOp i = b.begin_loop(16);
  const UOp scale = b.graph().constant(f32, 2.5);
  const UOp before = b.load(y, i);
  b.store(y, i, b.load(x, start) * scale + before);
  b.end_loop(i);
  return b.finish();
}

TEST(PtxRenderer, AKernelIsAnEntryWithBuffersAndVariables) {
  EXPECT_EQ(render(scaled()), R"(.version 7.1
.target sm_80
.address_size 64

.visible .entry croze_scaled(
  .param .u64 buffer0,
  .param .u64 buffer1,
  .param .s64 variable0
)
.reqntid 1, 1, 1
{
  .reg .pred %p<1>;
  .reg .b32 %r<1>;
  .reg .b64 %d<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %d0, [buffer0];
  cvta.to.global.u64 %d1, %d0;
  ld.param.u64 %d2, [buffer1];
  cvta.to.global.u64 %d3, %d2;
  ld.param.s64 %d4, [variable0];
  mov.b32 %r0, 0;
$L0:
  mad.wide.s32 %d5, %r0, 4, %d3;
  ld.global.f32 %f0, [%d5];
  mad.lo.s64 %d6, %d4, 4, %d1;
  ld.global.nc.f32 %f1, [%d6];
  mul.rn.f32 %f2, %f1, 0f40200000;
  add.rn.f32 %f3, %f2, %f0;
  mad.wide.s32 %d7, %r0, 4, %d3;
  st.global.f32 [%d7], %f3;
  add.s32 %r0, %r0, 1;
  setp.lt.s32 %p0, %r0, 16;
  @%p0 bra $L0;
  ret;
}
)");
}

TEST(PtxRenderer, TheTargetIsThatOfTheRenderer) {
  EXPECT_TRUE(
      PtxRenderer(ptx_sm_90a).render(scaled()).starts_with(".version 8.4\n.target sm_90a\n"));
}

// out[4 i + lane] = in[4 i + lane + shift]
LinearProgram shifted_rows(DType t, std::int64_t shift, bool is_gated = false) {
  ProgramBuilder b("rows");
  const UOp out = b.param(t, 64), in = b.param(t, 128);
  const UOp lane = b.lane(4), i = b.special(0, 16, LoopKind::Item);
  const UOp gate = is_gated ? less(i, 10) : UOp();
  b.store(out, i * 4 + lane, b.load(in, i * 4 + lane + shift, gate), gate);
  return b.finish();
}

// Either both or none: the buffers of a launch may begin anywhere.
TEST(PtxRenderer, NeighboursAreVectorsWhereIndexAndBufferAreAligned) {
  const std::string text = render(shifted_rows(f32, 8));
  expect_has(text, "setp.eq.s64 %p0, %d4, 0;");
  expect_has(text, "@%p0 ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%d5+32];");
  expect_has(text, "not.pred %p1, %p0;");
  expect_has(text, "@%p1 ld.global.nc.f32 %f3, [%d5+44];");
  expect_has(text, "st.global.v4.f32");
}

TEST(PtxRenderer, ConstantsAreNoPartsOfVectors) {
  ProgramBuilder b("numbers");
  const UOp x = b.param(f32, 4), lane = b.lane(4);
  b.store(x, lane, cast(lane, f32));
  const std::string text = render(b.finish());
  expect_has(text, "mov.f32 %f1, 0f3F800000;");
  expect_has(text, "st.global.v4.f32 [%d1], {%f0, %f1, %f2, %f3};");
}

TEST(PtxRenderer, WhatIsAlignedLessIsReadByLess) {
  const std::string two = render(shifted_rows(f32, 2));
  expect_has(two, "ld.global.nc.v2.f32 {%f0, %f1}");
  expect_has(two, "ld.global.nc.v2.f32 {%f2, %f3}");
  const std::string one = render(shifted_rows(f32, 3));
  expect_lacks(one, "ld.global.nc.v");
  expect_has(one, "st.global.v4.f32");
}

TEST(PtxRenderer, VectorsHaveSixteenBytesAndFourElementsAtMost) {
  expect_has(render(shifted_rows(DType::Float64, 0)), "ld.global.nc.v2.f64");
  expect_has(render(shifted_rows(DType::Int8, 0)), "ld.global.nc.v4.s8");
  expect_has(render(shifted_rows(DType::BFloat16, 0)), "ld.global.nc.v4.b16");
}

TEST(PtxRenderer, AGateIsAPredicateAndZeroElsewhere) {
  const std::string text = render(shifted_rows(f32, 0, true));
  expect_has(text, "mov.f32 %f0, 0f00000000;");
  expect_has(text, "and.pred");
  expect_lacks(text, "bra");
}

TEST(PtxRenderer, NothingIsFusedAndEveryRoundingIsWritten) {
  const std::string text = render(scaled());
  expect_has(text, "mul.rn.f32");
  expect_has(text, "add.rn.f32");
  expect_lacks(text, "fma");
}

TEST(PtxRenderer, ItemsOfAGroupShareArraysAndMeet) {
  ProgramBuilder b("shared");
  const UOp x = b.param(f32, 16);
  const UOp tile = b.local(f32, 16, Space::Group);
  const UOp item = b.special(0, 16, LoopKind::Item);
  const UOp stored = b.store(tile, item, b.load(x, item));
  const UOp met = b.barrier();
  b.store(x, item, b.load(tile, -item + 15, {}, {stored, met}));
  const std::string text = render(b.finish());
  expect_has(text, ".shared .align 16 .b8 array0[64];");
  expect_has(text, "bar.sync 0;");
  expect_has(text, ".reqntid 16, 1, 1");
  expect_has(text, "mov.u32 %r0, %tid.x;");
  expect_has(text, "+60]");  // of 15 elements
  // The kernel writes into the buffer, so it is no constant memory.
  expect_lacks(text, ".nc");
}

TEST(PtxRenderer, AnOpenLoopIsTestedBeforeItsFirstTurn) {
  ProgramBuilder b("open");
  const UOp x = b.param(f32, 16), count = b.variable(0, 16);
  const std::int64_t arg[] = {0, 16, static_cast<std::int64_t>(LoopKind::Loop)};
  const UOp range = b.graph().make(Op::Range, DType::Int64, {count}, Arg(std::span(arg)));
  b.emit(b.graph().make(Op::Loop, DType::Void, {range}));
  b.emit(range);
  b.store(x, range, b.graph().constant(f32, 1.0));
  b.end_loop(range);
  const std::string text = render(b.finish());
  expect_has(text, "mov.b64 %d3, 0;\n  setp.le.s64 %p0, %d2, 0;\n  @%p0 bra $L1;\n$L0:\n");
  expect_has(text, "add.s64 %d3, %d3, 1;\n  setp.lt.s64 %p1, %d3, %d2;\n  @%p1 bra $L0;\n$L1:\n");
}

TEST(PtxRenderer, WhatTurnsOnceAtMostHasNoWayBack) {
  ProgramBuilder b("jump");
  const UOp x = b.param(f32, 16);
  const UOp jump = b.begin_loop(b.variable(0, 1));
  b.store(x, jump, b.graph().constant(f32, 1.0));
  b.end_loop(jump);
  const std::string text = render(b.finish());
  expect_has(text, "mov.b64 %d3, 0;\n  setp.le.s64 %p0, %d2, 0;\n  @%p0 bra $L0;\n");
  expect_has(text, "\n$L0:\n");
  expect_lacks(text, "setp.lt.s64");
}

// An operand of 16 bits is no place to put the carry of 8.
TEST(PtxRenderer, IntegersOfEightBitsWrap) {
  ProgramBuilder b("bytes");
  const UOp x = b.param(DType::Int8, 1);
  const UOp value = b.load(x, b.integer(0));
  b.store(x, b.integer(0), value + value);
  const std::string text = render(b.finish());
  expect_has(text, "add.s16 %h1, %h0, %h0;\n  cvt.s16.s8 %h2, %h1;\n");
}

// x[n] and x[stride * lane], each a copy.
std::string far_accesses(std::int64_t n, std::int64_t stride) {
  ProgramBuilder b("far");
  const std::int64_t elements = std::int64_t{1} << 34;
  const UOp x = b.param(f32, elements), y = b.param(f32, 4), z = b.param(f32, 1);
  const UOp lane = cast(b.lane(4), DType::Int64);
  b.store(y, lane, b.load(x, lane * stride));
  const UOp zero = b.graph().constant(DType::Int64, std::int64_t{0});
  b.store(z, zero, b.load(x, b.graph().constant(DType::Int64, n)));
  return render(b.finish());
}

TEST(PtxRenderer, OffsetsOfInstructionsHaveThirtyTwoBits) {
  const std::string near = far_accesses(1000, 100);
  expect_has(near, "ld.global.nc.f32 %f1, [%d1+400];");
  expect_has(near, "[%d1+4000]");
  const std::string far = far_accesses(std::int64_t{1} << 33, std::int64_t{1} << 31);
  expect_has(far, "mov.b64 %d6, 2147483648;\n  mad.lo.s64 %d7, %d6, 4, %d1;\n");
  expect_has(far, ", 8589934592;\n");
}

TEST(PtxRenderer, APrefetchIsOneOfGlobalMemory) {
  ProgramBuilder b("prefetch");
  const UOp x = b.param(f32, 64), i = b.special(0, 16, LoopKind::Item);
  b.emit(b.graph().make(Op::Prefetch, DType::Void, {b.graph().place(x, i + 32)}, Arg(1)));
  b.store(x, i, b.graph().constant(f32, 1.0));
  expect_has(render(b.finish()), "prefetch.global.L1 [%d2+128];");
}

TEST(PtxRenderer, CopiesToAGroupGoOnUntilABarrierAwaitsThem) {
  ProgramBuilder b("copied");
  const UOp x = b.param(f32, 128), y = b.param(f32, 64);
  const UOp tile = b.local(f32, 64, Space::Group);
  const UOp item = b.special(0, 16, LoopKind::Item), lane = b.lane(4);
  const UOp gate = b.emit(less(item, 9)), row = b.emit(item * 4 + lane);
  b.begin_copy(b.graph().place(tile, row), b.graph().place(x, row, gate));
  b.begin_copy(b.graph().place(tile, item, gate), b.graph().place(x, item, gate));
  b.awaiting_barrier(1);
  b.store(y, item, b.load(tile, item));
  const std::string text = render(b.finish());
  // Zeros where the gate of the source is false; element by element where the buffer begins askew.
  expect_has(text, ", 16, %r");
  expect_has(text, " cp.async.cg.shared.global [%d");
  expect_has(text, "setp.eq.s64 %p");
  expect_has(text, "ld.global.nc.f32 %f");
  expect_has(text, "@%p0 cp.async.ca.shared.global [%d");
  expect_has(text, "], 4;\n  cp.async.commit_group;\n  cp.async.wait_group 1;\n  bar.sync 0;\n");
}

TEST(PtxRenderer, LanesThatTradePlacesTakeNoInstruction) {
  ProgramBuilder b("exchange");
  const UOp x = b.param(f32, 4), y = b.param(f32, 4);
  const UOp lane = b.lane(4);
  const UOp low = b.load(x, lane), high = b.load(y, lane);
  b.store(y, lane, b.emit(b.graph().make(Op::Exchange, f32, {low, high}, Arg(std::int64_t{1}))));
  expect_has(render(b.finish()), "{%f0, %f4, %f2, %f6}");
}

TEST(PtxRenderer, TasksAreRefused) {
  ProgramBuilder b("tasks");
  const UOp x = b.param(f32, 4);
  b.store(x, b.special(0, 4, LoopKind::Thread), b.graph().constant(f32, 1.0));
  EXPECT_THROW(render(b.finish()), InternalError);
}

TEST(PtxRenderer, ALookupComparesEachLaneOfTheTable) {
  ProgramBuilder b("lookup");
  const UOp table = b.param(f32, 2), indices = b.param(DType::UInt32, 2), out = b.param(f32, 2);
  const UOp lane = b.lane(2);
  const UOp from = b.load(table, lane), which = b.load(indices, lane);
  b.store(out, lane, b.emit(b.graph().make(Op::Lookup, f32, {from, which})));
  const std::string text = render(b.finish());
  expect_has(text,
             "and.b32 %r2, %r0, 1;\n  setp.eq.u32 %p4, %r2, 1;\n"
             "  selp.f32 %f2, %f1, %f0, %p4;\n");
}

}  // namespace
}  // namespace croze::test
