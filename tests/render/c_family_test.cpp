// c_family_test.cpp -- the text of C and OpenCL kernels.  What the text means is tested on the
// devices.
#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/render/c_family/c.h"
#include "croze/render/c_family/c_library.h"
#include "croze/render/c_family/opencl.h"
#include "croze/render/c_family/writer.h"
#include "support/programs.h"

namespace croze::test {
namespace {

// y[i] = x[i] * 2 + 1 where i < 14, in vectors of 4; the gate varies over the lanes.
LinearProgram vector_program() {
  ProgramBuilder b("scale");
  const UOp y = b.param(DType::Float32, 14), x = b.param(DType::Float32, 14);
  const UOp loop = b.begin_loop(4);
  const UOp i = loop * 4 + b.lane(4);
  const UOp gate = less(i, 14);
  Graph& g = b.graph();
  b.store(y, i, b.load(x, i, gate) * g.constant(DType::Float32, 2.0), gate);
  b.end_loop(loop);
  return b.finish();
}

TEST(CRenderer, NeighbouringVectorInstructionsShareALoop) {
  EXPECT_EQ(CRenderer().render(vector_program()),
            R"(#include <math.h>
#include <stdint.h>

void croze_scale(void* const* buffers, const int64_t* variables, int64_t task, void* scratch) {
  float* restrict b0 = (float*)buffers[0];
  const float* restrict b1 = (const float*)buffers[1];

  for (int32_t i0 = 0; i0 < 4; i0++) {
    int32_t v0 = i0 * 4;
    for (int32_t k1 = 0; k1 < 4; k1++) {
      int32_t v1 = v0 + k1;
      uint8_t v2 = v1 < 14;
      float v3 = v2 ? b1[v1] : 0;
      float v4 = v3 * 2.0f;
      if (v2) b0[v1] = v4;
    }
  }
}
)");
}

TEST(CRenderer, WhatTurnsOnceAtMostIsABranch) {
  ProgramBuilder b("jump");
  Graph& g = b.graph();
  const UOp y = b.param(DType::Int32, 8), n = b.variable(0, 1), m = b.variable(0, 8);
  const UOp jump = b.begin_loop(n), loop = b.begin_loop(m);
  b.store(y, jump + loop, g.constant(DType::Int32, std::int64_t{1}));
  b.end_loop(loop);
  b.end_loop(jump);
  const std::string text = CRenderer().render(b.finish());
  EXPECT_NE(text.find("if (n0 > 0) {"), std::string::npos) << text;
  EXPECT_NE(text.find("i1 < n1; i1++"), std::string::npos) << text;
  EXPECT_EQ(text.find("i0"), std::string::npos) << text;
}

TEST(CLibrary, AKernelIsAStaticFunctionOfItsBuffers) {
  const c_family::KernelText kernel =
      c_family::write_kernel(c_family::c_library_dialect(), vector_program());
  EXPECT_TRUE(kernel.helpers.empty());
  EXPECT_TRUE(kernel.function.starts_with(
      "static void croze_scale(float* restrict b0, const float* restrict b1) {\n  for"))
      << kernel.function;
}

// One buffer under two types is no restrict pointer, and one that is not touched is named.
TEST(CLibrary, ABufferOfSeveralTypesIsAVoidPointer) {
  ProgramBuilder b("views");
  Graph& g = b.graph();
  const UOp zero = b.integer(0);
  const UOp whole = b.param(DType::Int32, 1);
  const UOp same = b.emit(g.param(DType::Float32, whole.slot(), 1));
  b.store(whole, zero, g.bitcast(b.load(same, zero), DType::Int32));
  LinearProgram program = b.finish();
  program.info.num_buffers = 2;
  const std::string text = c_family::write_kernel(c_family::c_library_dialect(), program).function;
  EXPECT_TRUE(
      text.starts_with("static void croze_views(void* b0, const void* b1) {\n"
                       "  (void)b1;\n"
                       "  int32_t* b0int32 = (int32_t*)b0;\n"
                       "  const float* b0float32 = (const float*)b0;\n"))
      << text;
}

TEST(CRenderer, ArithmeticThatMayWrapIsUnsigned) {
  ProgramBuilder b("wrap");
  const UOp x = b.param(DType::Int16, 1), zero = b.integer(0);
  const UOp value = b.load(x, zero);
  b.store(x, zero, value * value);
  const std::string text = CRenderer().render(b.finish());
  EXPECT_NE(text.find("(int16_t)((uint32_t)v0 * (uint32_t)v0)"), std::string::npos) << text;
}

TEST(CRenderer, HelpersAreWrittenOnceAndOnlyWhereUsed) {
  ProgramBuilder b("helpers");
  const UOp x = b.param(DType::Float32, 2), y = b.param(DType::Int8, 2);
  const UOp p = b.load(x, b.integer(0)), q = b.load(x, b.integer(1));
  b.store(x, b.integer(0), max(max(p, q), q + q));
  b.store(y, b.integer(0), cast(p, DType::Int8));
  b.store(y, b.integer(1), cast(q, DType::Int8));
  const std::string text = CRenderer().render(b.finish());
  auto count = [&](std::string_view what) {
    int n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) n++;
    return n;
  };
  EXPECT_EQ(count("static inline float max_float32("), 1) << text;
  EXPECT_EQ(count("static inline int8_t int8_of_float32("), 1);
  EXPECT_EQ(count("min_float32"), 0);
}

TEST(CRenderer, WhatTheLanguageLacksIsAnInternalError) {
  ProgramBuilder groups("groups");
  groups.special(0, 4, LoopKind::Group);
  EXPECT_THROW(CRenderer().render(groups.finish()), InternalError);

  ProgramBuilder half("half");
  const UOp x = half.param(DType::Float16, 1);
  half.store(x, half.integer(0), half.load(x, half.integer(0)));
  EXPECT_THROW(CRenderer().render(half.finish()), InternalError);

  ProgramBuilder sine("sine");
  const UOp y = sine.param(DType::Float32, 1);
  sine.store(y, sine.integer(0), sine.graph().alu(Op::Sin, {sine.load(y, sine.integer(0))}));
  EXPECT_THROW(CRenderer().render(sine.finish()), InternalError);
}

TEST(OpenClRenderer, GroupsItemsAndSharedMemoryHaveTheirWords) {
  ProgramBuilder b("reverse");
  const UOp y = b.param(DType::Float32, 32), x = b.param(DType::Float32, 32);
  const UOp shared = b.local(DType::Float32, 16, Space::Group);
  const UOp group = b.special(0, 2, LoopKind::Group), item = b.special(0, 16, LoopKind::Item);
  const UOp at = group * 16 + item;
  const UOp stored = b.store(shared, item, b.load(x, at));
  const UOp met = b.barrier();
  b.store(y, at, b.load(shared, -item + 15, {}, {stored, met}));
  EXPECT_EQ(OpenClRenderer().render(b.finish()),
            R"(#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void croze_reverse(__global uchar* p0, const long o0, __global uchar* p1, const long o1) {
  __global float* restrict b0 = (__global float*)(p0 + o0);
  __global const float* restrict b1 = (__global const float*)(p1 + o1);
  __local float l0[16];
  const int group0 = (int)get_group_id(0);
  const int item0 = (int)get_local_id(0);

  int v0 = group0 * 16;
  int v1 = v0 + item0;
  float v2 = b1[v1];
  l0[item0] = v2;
  barrier(CLK_LOCAL_MEM_FENCE);
  int v3 = -item0;
  int v4 = v3 + 15;
  float v5 = l0[v4];
  b0[v1] = v5;
}
)");
}

// Compilers that go wrong where they see that a constant or a byte is chosen do not see it.
TEST(OpenClRenderer, BytesAreHidden) {
  ProgramBuilder b("bytes");
  const UOp y = b.param(DType::Float32, 1), x = b.param(DType::Int8, 1);
  const UOp byte = b.load(x, b.integer(0));
  const UOp chosen = where(less(byte, constant_like(byte, 3)), constant_like(byte, 7), byte);
  b.store(y, b.integer(0), cast(chosen, DType::Float32));
  const std::string text = OpenClRenderer().render(b.finish());
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("char v2 = select((char)(v0), (char)(7), (char)-(v1));")) << text;
  EXPECT_TRUE(has("float v3 = (float)(((int)v2 << 24) >> 24);")) << text;
}

TEST(OpenClRenderer, BytesThatMayBeConstantsAreHidden) {
  ProgramBuilder b("bytes");
  const UOp y = b.param(DType::Int8, 8), x = b.param(DType::Int8, 7);
  const UOp i = b.begin_loop(8);
  const UOp byte = b.load(x, i, less(i, 7));
  b.store(y, i, b.graph().alu(Op::Max, {byte, constant_like(byte, 3)}));
  b.end_loop(i);
  const std::string text = OpenClRenderer().render(b.finish());
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("char v1 = 0;\n    if (v0) v1 = b1[i0];\n")) << text;
  EXPECT_TRUE(has("char v2 = select((char)(3), (char)(v1), (char)-(v1 > 3));")) << text;
}

// Of one dimension, and in rows of 64 pixels.
TEST(OpenClRenderer, ImagesAreReadByPixels) {
  for (const std::int64_t row : {0, 64}) {
    ProgramBuilder b("image");
    const UOp y = b.param(DType::Int16, 64), x = b.param(DType::Int16, 64), lane = b.lane(8);
    const UOp i = b.begin_loop(8);
    b.store(y, i * 8 + lane, b.load(x, i * 8 + lane, less(i, 7)));
    b.end_loop(i);
    LinearProgram program = b.finish();
    program.info.images = {{1, 2}};
    const std::string text = OpenClRenderer({.image_row = row}).render(program);
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(OpenClRenderer::reads_images(text));
    EXPECT_TRUE(has("(__global uchar* p0, const long o0, IMAGE p1, const long o1)")) << text;
    EXPECT_TRUE(has(row ? "#define IMAGE __read_only image2d_t\n"
                        : "#define IMAGE __read_only image1d_buffer_t\n"))
        << text;
    EXPECT_EQ(has("#define pixel_at(number) (int2)((number) & 63, (number) >> 6)\n"), row > 0);
    EXPECT_TRUE(
        has("((short8)(as_short4(pixel2(image, first, at)), "
            "as_short4(pixel2(image, first, (at) + 4))))"))
        << text;
    EXPECT_TRUE(has("short8 v3 = (short8)(0);\n    if (v2) v3 = pixels_short8(p1, o1, v1);"))
        << text;
    EXPECT_FALSE(has(" b1")) << text;
  }
}

TEST(OpenClRenderer, AShortThatIsMadeAFloatIsNotChosenBeforeThat) {
  ProgramBuilder b("widened");
  const UOp y = b.param(DType::Float32, 1), x = b.param(DType::Int16, 1);
  const UOp wide = cast(b.load(x, b.integer(0)), DType::Float32);
  const UOp half = b.graph().constant(DType::Float32, 0.5);
  b.store(y, b.integer(0), where(b.graph().alu(Op::Lt, {half, wide}), half, wide));
  const std::string text = OpenClRenderer().render(b.finish());
  EXPECT_NE(text.find("float v3 = select((float)(v1), (float)(0.5f), (int)-(v2));"),
            std::string::npos)
      << text;
}

TEST(OpenClRenderer, HalvesAreMovedAndConvertedWhereTheDeviceHasThem) {
  for (const std::int64_t lanes : {1, 4}) {
    ProgramBuilder b("half");
    const UOp y = b.param(DType::Float16, 4), x = b.param(DType::Float16, 4);
    const UOp at = lanes > 1 ? b.lane(lanes) : b.integer(0);
    const UOp wide = cast(b.load(x, at), DType::Float32);
    b.store(y, at, cast(wide + wide, DType::Float16));
    const LinearProgram program = b.finish();
    const std::string text = OpenClRenderer({.halves = true}).render(program);
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    EXPECT_TRUE(has("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n")) << text;
    EXPECT_TRUE(has(lanes > 1 ? "half4 v0 = vload4(0, &b1[0]);" : "half v0 = b1[0];")) << text;
    EXPECT_TRUE(has(lanes > 1 ? "convert_float4(v0)" : "(float)v0")) << text;
    EXPECT_TRUE(has(lanes > 1 ? "convert_half4(v2)" : "(half)v2")) << text;
  }
  ProgramBuilder b("lacking");
  const UOp x = b.param(DType::Float16, 1);
  b.store(x, b.integer(0), b.load(x, b.integer(0)));
  EXPECT_THROW(OpenClRenderer().render(b.finish()), InternalError);
}

}  // namespace
}  // namespace croze::test
