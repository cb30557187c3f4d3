// cuda_test.cpp -- the text of CUDA kernels.  That compilers take it is tested in tests/cuda/, what
// it means on devices.
#include "croze/render/c_family/cuda.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "support/programs.h"

namespace croze::test {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CudaRenderer, GroupsItemsAndSharedMemoryHaveTheirWords) {
  ProgramBuilder b("reverse");
  const UOp y = b.param(DType::Float32, 32), x = b.param(DType::Float32, 32);
  const UOp shared = b.local(DType::Float32, 16, Space::Group);
  const UOp group = b.special(0, 2, LoopKind::Group), item = b.special(0, 16, LoopKind::Item);
  const UOp at = group * 16 + item;
  const UOp stored = b.store(shared, item, b.load(x, at));
  const UOp met = b.barrier();
  b.store(y, at, b.load(shared, -item + 15, {}, {stored, met}));
  const std::string text = CudaRenderer().render(b.finish());
  EXPECT_TRUE(text.starts_with("// group memory: 64\n")) << text;
  EXPECT_EQ(text.substr(text.find("extern")),
            R"(extern "C" __global__ void __launch_bounds__(16, 16)
croze_reverse(float* __restrict__ b0, const float* __restrict__ b1) {
  extern __shared__ uint4 group_memory[];
  float* const l0 = (float*)(group_memory + 0);
  const int group0 = (int)blockIdx.x;
  const int item0 = (int)threadIdx.x;

  int v0 = group0 * 16;
  int v1 = v0 + item0;
  float v2 = b1[v1];
  l0[item0] = v2;
  __syncthreads();
  int v3 = -item0;
  int v4 = v3 + 15;
  float v5 = l0[v4];
  b0[v1] = v5;
}
)");
}

TEST(CudaRenderer, ArraysOfAGroupLieBehindEachOther) {
  ProgramBuilder b("tiles");
  const UOp x = b.param(DType::Float32, 8);
  const UOp first = b.local(DType::Int8, 5, Space::Group);
  const UOp own = b.local(DType::Float32, 3, Space::Thread);
  const UOp second = b.local(DType::Float64, 4, Space::Group);
  const UOp zero = b.integer(0);
  b.store(first, zero, b.graph().constant(DType::Int8, 1.0));
  b.store(own, zero, b.load(x, zero));
  b.store(second, zero, b.graph().constant(DType::Float64, 1.0));
  const std::string text = CudaRenderer().render(b.finish());
  EXPECT_TRUE(text.starts_with("// group memory: 48\n")) << text;
  EXPECT_TRUE(contains(text, "signed char* const l0 = (signed char*)(group_memory + 0);")) << text;
  EXPECT_TRUE(contains(text, "double* const l2 = (double*)(group_memory + 1);")) << text;
  EXPECT_TRUE(contains(text, "__align__(16) float l1[3];")) << text;
}

// y[4 i + k] = 2 x[4 i + k + shift] in vectors of four.
std::string vector_text(std::int64_t shift, bool gated = false) {
  ProgramBuilder b("scale");
  const UOp y = b.param(DType::Float32, 64), x = b.param(DType::Float32, 72);
  const UOp item = b.special(0, 16, LoopKind::Item);
  const UOp at = item * 4 + b.lane(4);
  const UOp from = shift ? at + shift : at;
  const UOp gate = gated ? less(item, 9) : UOp();
  const UOp two = b.graph().constant(DType::Float32, 2.0);
  b.store(y, at, b.load(x, from, gate) * two, gate);
  return CudaRenderer().render(b.finish());
}

TEST(CudaRenderer, AlignedVectorsMoveAtOnce) {
  const std::string text = vector_text(0);
  EXPECT_TRUE(contains(text, "struct __align__(16) float32x4 { float lanes[4]; };")) << text;
  EXPECT_TRUE(contains(text, "const bool b1_whole = (unsigned long long)b1 % 16 == 0;")) << text;
  EXPECT_TRUE(contains(text, "__align__(16) float v2[4];\n")) << text;
  EXPECT_TRUE(contains(text, "  move_float32x4(v2, b1 + v1[0], b1_whole);\n")) << text;
  EXPECT_TRUE(contains(text, "  move_float32x4(b0 + v1[0], v3, b0_whole);\n")) << text;
  EXPECT_TRUE(contains(text, "#pragma unroll\n")) << text;
}

// A row of four, which zeros are for where its gate is false, and an element; the latter may still
// be on its way.
TEST(CudaRenderer, CopiesToAGroupGoOnUntilABarrierAwaitsThem) {
  ProgramBuilder b("copied");
  const UOp x = b.param(DType::Float32, 128), y = b.param(DType::Float32, 64);
  const UOp tile = b.local(DType::Float32, 64, Space::Group);
  const UOp item = b.special(0, 16, LoopKind::Item), lane = b.lane(4);
  const UOp gate = b.emit(less(item, 9));
  const UOp row = b.emit(item * 4 + lane);
  b.begin_copy(b.graph().place(tile, row), b.graph().place(x, row, gate));
  b.begin_copy(b.graph().place(tile, item, gate), b.graph().place(x, item, gate));
  b.awaiting_barrier(1);
  b.store(y, item, b.load(tile, item));
  const std::string text = CudaRenderer().render(b.finish());
  const auto row_of = [&](std::string_view part) { EXPECT_TRUE(contains(text, part)) << text; };
  row_of("const bool b0_whole = (unsigned long long)b0 % 16 == 0;");
  row_of("cp.async.cg.shared.global [%0], [%1], 16, %2;");
  row_of("cp.async.ca.shared.global [%0], [%1], 4, %2;");
  row_of("  begin_copy_float32x4(l0 + v2[0], b0 + v2[0], b0_whole, v0);\n");
  row_of("  if (v0) begin_copy_float32x1(l0 + item0, b0 + item0, true, true);\n");
  row_of(
      "  asm volatile(\"cp.async.commit_group; cp.async.wait_group 1;\" ::: \"memory\");\n"
      "  __syncthreads();\n");
}

TEST(CudaRenderer, VectorsThatAreNotAlignedMoveLaneByLane) {
  EXPECT_TRUE(contains(vector_text(8), "b1_whole"));
  const std::string text = vector_text(2);
  EXPECT_FALSE(contains(text, "b1_whole")) << text;
  EXPECT_TRUE(contains(text, "b0_whole")) << text;
}

TEST(CudaRenderer, AGateOfAllLanesStandsBeforeTheMove) {
  const std::string text = vector_text(0, true);
  EXPECT_TRUE(contains(text, "__align__(16) float v3[4] = {};\n")) << text;
  EXPECT_TRUE(contains(text, "if (v2) move_float32x4(v3, b1 + v1[0], b1_whole);")) << text;
}

TEST(CudaRenderer, NumbersAndHelpersAreOfTheDevice) {
  ProgramBuilder b("numbers");
  const UOp x = b.param(DType::Float32, 1), y = b.param(DType::UInt64, 1);
  const UOp n = b.variable(0, 9), zero = b.integer(0);
  const UOp v = b.load(x, zero);
  b.store(x, zero, max(v, b.graph().constant(DType::Float32, 1.5)));
  b.store(y, zero, cast(n, DType::UInt64) + cast(v, DType::UInt64));
  const std::string text = CudaRenderer().render(b.finish());
  EXPECT_TRUE(contains(text, "static __device__ inline float max_float32(float a, float b)"));
  EXPECT_TRUE(contains(text, "static __device__ inline unsigned long long uint64_of_float32"));
  EXPECT_TRUE(contains(text, "unsigned long long* __restrict__ b1, long long a0) {")) << text;
}

TEST(CudaRenderer, TasksAreAnInternalError) {
  ProgramBuilder b("tasks");
  b.special(0, 4, LoopKind::Thread);
  EXPECT_THROW(CudaRenderer().render(b.finish()), InternalError);
}

}  // namespace
}  // namespace croze::test
