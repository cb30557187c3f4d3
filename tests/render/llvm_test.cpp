// llvm_test.cpp -- the text that LLVM gets.  What the text computes is tested on the device CPU.
#include "croze/render/llvm.h"

#include <gtest/gtest.h>

#include <utility>

#include "croze/base/error.h"
#include "support/programs.h"

namespace croze::test {
namespace {

constexpr DType f32 = DType::Float32;

std::size_t position(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << " is not in\n" << text;
  return at;
}

LinearProgram scaled_copy(std::int64_t stride) {
  ProgramBuilder b("scaled_copy");
  const UOp out = b.param(f32, 1024), in = b.param(f32, 1024), scale = b.param(f32, 1);
  const UOp lane = b.lane(16);
  const UOp factor = b.load(scale, b.integer(0));
  const UOp loop = b.begin_loop(8);
  b.store(out, loop * 16 + lane, b.load(in, (loop * 16 + lane) * stride) * factor);
  b.end_loop(loop);
  return b.finish();
}

TEST(LlvmRenderer, TheTextIsAFunctionOfTheProgramAlone) {
  const std::string text = LlvmRenderer().render(scaled_copy(1));
  EXPECT_EQ(text, LlvmRenderer().render(scaled_copy(1)));
  position(
      text,
      "define void @\"scaled_copy\"(ptr %buffers, ptr %variables, i64 %task, ptr noalias align "
      "64 %scratch)");
}

TEST(LlvmRenderer, NeighbouringLanesAreOneAccess) {
  const std::string text = LlvmRenderer().render(scaled_copy(1));
  position(text, "load <16 x float>, ptr");
  position(text, "store <16 x float>");
  EXPECT_EQ(text.find("gather"), std::string::npos);
  EXPECT_NE(LlvmRenderer().render(scaled_copy(2)).find("insertelement <16 x float>"),
            std::string::npos);
}

// Columns 0, 1 and 3 of rows of `width`.
std::string text_of_columns(std::int64_t width, const LlvmTarget& target) {
  ProgramBuilder b("columns");
  const UOp out = b.param(f32, 48), in = b.param(f32, 16 * width), lane = b.lane(16);
  std::vector<UOp> columns;
  for (const std::int64_t column : {0, 1, 3}) columns.push_back(b.load(in, lane * width + column));
  for (std::int64_t i = 0; i < 3; i++)
    b.store(out, lane + i * 16, columns[static_cast<std::size_t>(i)]);
  return LlvmRenderer(target).render(b.finish());
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    count++;
  }
  return count;
}

TEST(LlvmRenderer, ColumnsOfShortRowsArePartsOfTheSameVectors) {
  const std::string text = text_of_columns(4, {});
  EXPECT_EQ(count_of(text, "load <16 x float>"), 4U) << text;
  EXPECT_EQ(count_of(text, "shufflevector"), 9U) << text;
  EXPECT_EQ(count_of(text, "insertelement"), 0U) << text;
}

TEST(LlvmRenderer, ColumnsOfLongRowsAreGatheredWhereThatIsFast) {
  EXPECT_EQ(count_of(text_of_columns(40, {.gathers = true}), "call <16 x float> @llvm.masked.gath"),
            3U);
  EXPECT_EQ(count_of(text_of_columns(40, {}), "insertelement"), 48U);
}

// As rows are gathered whose number may be out of range: a row is there or is not.
TEST(LlvmRenderer, NeighbouringLanesBehindOneGateHaveNoMask) {
  ProgramBuilder b("row");
  const UOp out = b.param(f32, 16), in = b.param(f32, 64), number = b.param(DType::Int64, 1);
  const UOp lane = b.lane(16), row = b.load(number, b.integer(0));
  b.store(out, lane, b.load(in, row * 16 + lane, less(row, 4)));
  const std::string text = LlvmRenderer().render(b.finish());
  EXPECT_EQ(text.find("masked"), std::string::npos) << text;
  position(text, "load <16 x float>, ptr");
}

TEST(LlvmRenderer, AScalarIsBroadcastOutsideOfTheLoop) {
  const std::string text = LlvmRenderer().render(scaled_copy(1));
  EXPECT_LT(position(text, "shufflevector"), position(text, "loop1:"));
}

// Which nests run long decides what registers are for.
TEST(LlvmRenderer, LoopsSayHowOftenTheyTurn) {
  const std::string text = LlvmRenderer().render(scaled_copy(1));
  position(text, "label %loop1, label %loop1.end, !prof !8\n");
  position(text, "!8 = !{!\"branch_weights\", i32 7, i32 1}\n");
}

int times(const std::string& text, const std::string& part) {
  int result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    result++;
  }
  return result;
}

TEST(LlvmRenderer, NeighbouringElementsShareAnAddressAndNoSumIsMadeForThem) {
  ProgramBuilder b("row");
  const UOp out = b.param(f32, 1024), in = b.param(f32, 1024);
  const UOp loop = b.begin_loop(8);
  const UOp index = loop * 64;
  b.store(out, loop, b.load(in, index) + b.load(in, index + 1) + b.load(in, index + 2));
  b.end_loop(loop);
  const std::string text = LlvmRenderer().render(b.finish());
  EXPECT_EQ(times(text, "getelementptr float, ptr %buffer1"), 1) << text;
  EXPECT_EQ(times(text, "add nsw"), 0) << text;
}

// In nested loops, of which the outer one goes on where the inner one has ended.
TEST(LlvmRenderer, AnAddressWithManyNeighboursIsARegisterOfItsOwn) {
  const auto pinned = [](std::int64_t neighbours) {
    ProgramBuilder b("row");
    const UOp out = b.param(f32, 1024), in = b.param(f32, 4096);
    const auto sum_from = [&](UOp index) {
      UOp sum = b.load(in, index);
      for (std::int64_t i = 1; i <= neighbours; i++) sum = sum + b.load(in, index + i);
      return sum;
    };
    const UOp outer = b.begin_loop(8), inner = b.begin_loop(8);
    b.store(out, outer * 64 + inner, sum_from(outer * 512 + inner * 64));
    b.end_loop(inner);
    b.store(out, outer * 64 + 8, sum_from(outer * 512));
    b.end_loop(outer);
    const std::string text = LlvmRenderer().render(b.finish());
    EXPECT_EQ(times(text, ".sum = getelementptr"), times(text, "call ptr asm")) << text;
    return times(text, "call ptr asm \"\", \"=r,0\"(ptr %v");
  };
  EXPECT_EQ(pinned(3), 0);
  EXPECT_EQ(pinned(8), 2);
}

TEST(LlvmRenderer, ATileOfSumsIsStoredFromItsRegister) {
  ProgramBuilder b("tile");
  Graph& graph = b.graph();
  const UOp out = b.param(DType::Int32, 256), x = b.param(DType::Int8, 1024),
            y = b.param(DType::Int8, 1024);
  const UOp sums = b.lane(256), p = b.lane(1024), q = b.lane(1024);
  const UOp products = graph.make(
      Op::Contract, DType::Int32,
      {graph.constant(DType::Int32, std::int64_t{0}), b.load(x, p), b.load(y, q), sums, p, q},
      Arg("amx.s8s8"));
  b.store(out, sums, products);
  const std::string text = LlvmRenderer().render(b.finish());
  EXPECT_EQ(times(text, "call void @llvm.x86.tilestored64.internal(i16 16, i16 64, ptr"), 1);
  EXPECT_EQ(times(text, "store <256 x i32>"), 0) << text;
}

// Of four rounds of exchanges, as a tile of 16 x 16 takes them, LLVM is to see two at a time.
TEST(LlvmRenderer, ALongRowOfExchangesIsSeenInParts) {
  ProgramBuilder b("exchanges");
  const UOp out = b.param(f32, 16), in = b.param(f32, 32);
  const UOp lane = b.lane(16);
  UOp x = b.load(in, lane);
  const UOp y = b.load(in, lane + 16);
  for (const std::int64_t bit : {1, 2, 4, 8}) x = b.exchange(x, y, bit);
  b.store(out, lane, x);
  const std::string text = LlvmRenderer().render(b.finish());
  EXPECT_EQ(times(text, "call <16 x float> @llvm.arithmetic.fence.v16f32"), 2) << text;
}

// That a product is even says nothing of whether it has wrapped.
TEST(LlvmRenderer, AHalfForAllLanesIsWidenedInThem) {
  ProgramBuilder b("scaled");
  const UOp out = b.param(f32, 16), in = b.param(f32, 16), scale = b.param(DType::Float16, 1);
  const UOp lane = b.lane(16);
  b.store(out, lane, b.load(in, lane) * cast(b.load(scale, b.integer(0)), f32));
  const std::string text = LlvmRenderer().render(b.finish());
  position(text, "shufflevector <16 x half>");
  position(text, "fpext <16 x half>");
}

TEST(LlvmRenderer, OnlyWhatCannotWrapIsPromisedNotTo) {
  const auto text_of_product = [](DType t, std::int64_t factor) {
    ProgramBuilder b("product");
    const UOp out = b.param(DType::Int32, 1), in = b.param(t, 1);
    const UOp x = cast(b.load(in, b.integer(0)), DType::Int32);
    b.store(out, b.integer(0), x * factor);
    return LlvmRenderer().render(b.finish());
  };
  position(text_of_product(DType::Int8, 114), "mul nsw i32");
  EXPECT_EQ(text_of_product(DType::Int32, 3).find("mul nsw i32"), std::string::npos);
  EXPECT_EQ(text_of_product(DType::Int32, 114).find("mul nsw i32"), std::string::npos);
}

// VRANGE is there in whole registers, which less than the smallest is a part of.
TEST(LlvmRenderer, TheGreaterOfTwoFloatsIsAnInstructionOfAvx512) {
  const auto text = [](std::int64_t lanes, bool avx512) {
    ProgramBuilder b("greater");
    const UOp out = b.param(f32, lanes), in = b.param(f32, lanes), also = b.param(f32, lanes);
    const UOp lane = b.lane(lanes);
    b.store(out, lane, max(b.load(in, lane), b.load(also, lane)));
    return LlvmRenderer({.avx512 = avx512}).render(b.finish());
  };
  position(text(16, true), "@llvm.x86.avx512.mask.range.ps.512(");
  position(text(8, true), "@llvm.x86.avx512.mask.range.ps.256(");
  position(text(2, true), "@llvm.x86.avx512.mask.range.ps.128(");
  position(text(12, true), "@llvm.maximum.v12f32(");
  position(text(16, false), "@llvm.maximum.v16f32(");
}

// AVX2 has multiply-adds of a vector in memory, and none of a number there.
TEST(LlvmRenderer, NumbersOfPolynomialsAreLoadedAsVectorsWhereOperationsTakeThem) {
  const auto text = [](std::int64_t lanes, std::int64_t number_bytes) {
    ProgramBuilder b("polynomial");
    const UOp out = b.param(f32, lanes), in = b.param(f32, lanes), lane = b.lane(lanes);
    const UOp x = b.load(in, lane);
    const UOp half = b.graph().constant(f32, 0.5), one = b.graph().constant(f32, 1.0);
    b.store(out, lane,
            b.graph().alu(Op::MulAdd, {b.graph().alu(Op::MulAdd, {x, half, one}), x, half}));
    return LlvmRenderer({.number_bytes = number_bytes}).render(b.finish());
  };
  const std::string loaded = text(8, 32);
  EXPECT_EQ(times(loaded, "load <8 x float>, ptr @number.v8f32.0x3FE0000000000000, align 32"), 1)
      << loaded;
  EXPECT_EQ(times(loaded, "= internal externally_initialized constant <8 x float>"), 1) << loaded;
  position(loaded, "<8 x float> splat (float 0x3FF0000000000000)");
  EXPECT_EQ(times(text(8, 0), "@number"), 0);
  EXPECT_EQ(times(text(4, 32), "@number"), 0);
}

// Of vectors LLVM would take the lanes one by one.
TEST(LlvmRenderer, IntegersOfVectorsOfFloatsAreMadeByVectors) {
  const auto text = [](std::int64_t lanes, DType to, bool casts_saturate) {
    ProgramBuilder b("whole");
    const UOp out = b.param(to, lanes), in = b.param(f32, lanes), lane = b.lane(lanes);
    b.store(out, lane, cast(b.load(in, lane), to));
    return LlvmRenderer({.casts_saturate = casts_saturate}).render(b.finish());
  };
  position(text(16, DType::Int32, false), "fptosi <16 x float>");
  position(text(8, DType::UInt8, false), "fptoui <8 x float>");
  position(text(16, DType::Int32, true), "@llvm.fptosi.sat.v16i32.v16f32(");
  position(text(1, DType::Int32, false), "@llvm.fptosi.sat.i32.f32(");
}

// Four lanes that stand for eight.
TEST(LlvmRenderer, WhatLanesLoadAgainIsLoadedOnce) {
  ProgramBuilder b("halves");
  const UOp out = b.param(f32, 8), in = b.param(f32, 4), lane = b.lane(8);
  b.store(out, lane, b.load(in, b.graph().alu(Op::And, {lane, b.integer(3)})));
  const std::string text = LlvmRenderer().render(b.finish());
  position(text, "load <4 x float>, ptr");
  EXPECT_EQ(text.find("gather"), std::string::npos) << text;
}

TEST(LlvmRenderer, BytesAreShiftedAsWords) {
  const auto text = [](std::int64_t shared) {
    ProgramBuilder b("shifted");
    const UOp out = b.param(DType::UInt8, 16), in = b.param(DType::UInt8, 16), lane = b.lane(16);
    const UOp by = b.graph().alu(Op::CDiv, {lane, b.integer(shared)});
    b.store(out, lane, b.graph().alu(Op::Shr, {b.load(in, lane), cast(by, DType::UInt8)}));
    return LlvmRenderer().render(b.finish());
  };
  position(text(8), "lshr <4 x i32>");
  position(text(4), "lshr <4 x i32>");
  EXPECT_EQ(text(2).find("lshr <4 x i32>"), std::string::npos);
}

// A word of two bytes so far apart.
UOp joined(ProgramBuilder& b, UOp bytes, UOp at, std::int64_t distance) {
  const auto word = [&](UOp index) { return cast(b.load(bytes, index), DType::UInt16); };
  const UOp high = b.graph().alu(
      Op::Shl, {word(at + distance), b.graph().constant(DType::UInt16, std::int64_t{8})});
  return b.graph().alu(Op::Or, {word(at), high});
}

TEST(LlvmRenderer, WordsOfBytesThatLieApartAreLoadedAsWords) {
  const auto loads_words = [](std::int64_t distance, bool is_written) {
    ProgramBuilder b("words");
    const UOp out = b.param(DType::UInt16, 8), in = b.param(DType::UInt8, 64), lane = b.lane(8);
    b.store(out, lane, joined(b, in, lane * 6 + 2, distance));
    LinearProgram program = b.finish();
    program.info.written = is_written ? 0b11 : 0b01;
    return LlvmRenderer().render(program).find("load i16, ptr") != std::string::npos;
  };
  EXPECT_TRUE(loads_words(1, false));
  EXPECT_FALSE(loads_words(2, false));
  EXPECT_FALSE(loads_words(1, true));
}

// Each sum is an operand of the next two: there are more ways through them than can be gone.
TEST(LlvmRenderer, AnIndexOfSumsOfSumsIsNotTakenApart) {
  ProgramBuilder b("sums");
  const UOp in = b.param(f32, 1 << 20), out = b.param(f32, 1);
  const UOp loop = b.begin_loop(2);
  UOp last = loop, index = loop + 1;
  for (int i = 0; i < 40; i++) last = std::exchange(index, index + last);
  b.store(out, b.integer(0), b.load(in, index));
  b.end_loop(loop);
  position(LlvmRenderer().render(b.finish()), "load float, ptr");
}

// Two scales that a block begins with; unless a loop stands between them.
TEST(LlvmRenderer, NeighbouringHalvesThatLieApartAreLoadedAndWidenedTogether) {
  const auto text = [](std::int64_t distance, bool in_loop) {
    ProgramBuilder b("scales");
    const UOp out = b.param(f32, 16), in = b.param(DType::UInt8, 256), lane = b.lane(8);
    const auto half = [&](std::int64_t at) {
      const UOp word = joined(b, in, lane * 20 + at, 1);
      return cast(b.graph().bitcast(word, DType::Float16), f32);
    };
    b.store(out, lane, half(2 + distance));
    const UOp loop = in_loop ? b.begin_loop(2) : UOp();
    b.store(out, lane + 8, half(2));
    if (loop) b.end_loop(loop);
    LinearProgram program = b.finish();
    program.info.written = 0b01;
    return LlvmRenderer().render(program);
  };
  position(text(2, false), "load i32, ptr");
  position(text(2, false), "fpext <16 x half>");
  EXPECT_EQ(text(2, false).find("load i8, ptr"), std::string::npos);
  EXPECT_EQ(text(2, false).find("load i16, ptr"), std::string::npos);
  EXPECT_EQ(text(4, false).find("load i32, ptr"), std::string::npos);
  EXPECT_EQ(text(2, true).find("load i32, ptr"), std::string::npos);
}

// Runs of two lanes are as many as a word has halves: the lanes are still those of one half each.
TEST(LlvmRenderer, HalvesOfAPairAreToldApartInRunsOfTwoLanes) {
  ProgramBuilder b("runs");
  Graph& g = b.graph();
  const UOp out = b.param(f32, 16), in = b.param(DType::UInt8, 256), lane = b.lane(8);
  const UOp block = g.alu(Op::Shr, {lane, b.integer(1)});
  const auto half = [&](std::int64_t at) {
    return cast(g.bitcast(joined(b, in, block * 20 + at, 1), DType::Float16), f32);
  };
  b.store(out, lane, half(0));
  b.store(out, lane + 8, half(2));
  LinearProgram program = b.finish();
  program.info.written = 0b01;
  const std::string text = LlvmRenderer().render(program);
  position(text, "<i32 0, i32 0, i32 2, i32 2, i32 4, i32 4, i32 6, i32 6>");
  position(text, "<i32 1, i32 1, i32 3, i32 3, i32 5, i32 5, i32 7, i32 7>");
}

// As columns of which a few lie side by side, and the next ones pages behind them.
TEST(LlvmRenderer, LanesOfARunMayLieApart) {
  ProgramBuilder b("runs");
  Graph& g = b.graph();
  const UOp out = b.param(f32, 256), in = b.param(DType::UInt8, 512), lane = b.lane(8);
  const auto in_runs = [&](std::int64_t step, std::int64_t jump) {
    return g.alu(Op::And, {lane, b.integer(3)}) * step +
           g.alu(Op::Shr, {lane, b.integer(2)}) * jump;
  };
  const auto half = [&](std::int64_t at) {
    return cast(g.bitcast(joined(b, in, in_runs(20, 200) + at, 1), DType::Float16), f32);
  };
  b.store(out, in_runs(3, 100), half(0));
  b.store(out, in_runs(3, 100) + 1, half(2));
  LinearProgram program = b.finish();
  program.info.written = 0b01;
  const std::string text = LlvmRenderer().render(program);
  EXPECT_EQ(count_of(text, "load i32, ptr"), 8U);
  EXPECT_EQ(count_of(text, "store float"), 16U);
  for (const char* offset :
       {"i64 60\n", "i64 200\n", "i64 260\n", "i64 9\n", "i64 100\n", "i64 109\n"})
    position(text, offset);
}

// Large results that nothing is read of, by whole cache lines.
TEST(LlvmRenderer, LargeResultsAreWrittenPastTheCaches) {
  const auto streams = [](std::int64_t stride, std::int64_t first, std::int64_t cache,
                          std::int64_t read = 1024) {
    ProgramBuilder b("copy");
    const UOp out = b.param(f32, 1024), in = b.param(f32, read), lane = b.lane(16);
    const UOp loop = b.begin_loop(8);
    b.store(out, loop * stride + lane + first, b.load(in, loop * 16 + lane));
    b.end_loop(loop);
    const std::string text = LlvmRenderer({.last_cache_bytes = cache}).render(b.finish());
    return text.find("nontemporal") != std::string::npos;
  };
  EXPECT_TRUE(streams(16, 0, 8192));
  EXPECT_TRUE(streams(32, 16, 8192));
  EXPECT_FALSE(streams(24, 0, 8192));
  EXPECT_FALSE(streams(16, 1, 8192));
  EXPECT_FALSE(streams(16, 0, 8193));
  EXPECT_TRUE(streams(16, 0, 4 * 4096, 3 * 1024));  // large enough beside what is read
  EXPECT_FALSE(streams(16, 0, 4 * 4097, 4 * 1024));
  EXPECT_FALSE(streams(16, 0, 0));
}

// Of whatever size they turn out to be.
TEST(LlvmRenderer, ResultsOfOpenSizeAreNotWrittenPastTheCaches) {
  ProgramBuilder b("open");
  Graph& graph = b.graph();
  const UOp out = graph.param(f32, 0, 1024, graph.variable(0, 16, 1024));
  b.store(out, b.lane(16), graph.constant(f32, 1.0));
  LinearProgram program = b.finish();
  std::erase_if(program.instructions, [](UOp u) { return u.is(Op::Variable); });  // a size alone
  const std::string text = LlvmRenderer({.last_cache_bytes = 1}).render(program);
  EXPECT_EQ(text.find("nontemporal"), std::string::npos);
}

TEST(LlvmRenderer, WhatIsWrittenPastTheCachesIsThereWhenTheKernelEnds) {
  ProgramBuilder b("zeros");
  b.store(b.param(f32, 16), b.lane(16), b.graph().constant(f32, 0.0));
  const std::string text = LlvmRenderer({.last_cache_bytes = 64}).render(b.finish());
  EXPECT_LT(position(text, "!nontemporal !0"), position(text, "@llvm.x86.sse.sfence()"));
}

TEST(LlvmRenderer, WhatIsReadIsNotWrittenPastTheCaches) {
  ProgramBuilder b("in place");
  const UOp x = b.param(f32, 16), lane = b.lane(16);
  b.store(x, lane, b.load(x, lane) * 2);
  const std::string text = LlvmRenderer({.last_cache_bytes = 1}).render(b.finish());
  EXPECT_EQ(text.find("nontemporal"), std::string::npos);
}

TEST(LlvmRenderer, WhatShouldHaveBeenLoweredIsABug) {
  {
    ProgramBuilder b("op");
    const UOp out = b.param(f32, 1);
    b.store(out, b.integer(0), b.graph().make(Op::Exp, f32, {b.load(out, b.integer(0))}));
    EXPECT_THROW(LlvmRenderer().render(b.finish()), InternalError);
  }
  {
    ProgramBuilder b("dtype");
    const UOp out = b.param(DType::BFloat16, 1), in = b.param(DType::BFloat16, 1);
    b.store(out, b.integer(0), b.load(in, b.integer(0)));
    EXPECT_THROW(LlvmRenderer().render(b.finish()), InternalError);
  }
  {
    ProgramBuilder b("scratch");
    const UOp local = b.local(f32, 100, Space::Thread);
    b.store(local, b.integer(0), b.graph().constant(f32, 1.0));
    LinearProgram program = b.finish();
    program.info.launch.scratch_bytes = 64;
    EXPECT_THROW(LlvmRenderer().render(program), InternalError);
  }
}

}  // namespace
}  // namespace croze::test
