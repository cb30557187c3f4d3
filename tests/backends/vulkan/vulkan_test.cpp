// vulkan_test.cpp -- the Vulkan device beside the device suite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/run/devices.h"
#include "support/device_suite.h"
#include "support/programs.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

class VulkanDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!device) GTEST_SKIP() << "no driver of Vulkan here";
  }

  Device* const device = device_under_test();
};

TEST_F(VulkanDevice, WhatIsNoModuleIsAnInternalErrorThatNamesTheKernel) {
  try {
    device->compile("broken", "OpCapability Shader");
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_NE(e.message().find("kernel broken"), std::string::npos) << e.message();
  }
}

TEST_F(VulkanDevice, LimitsAreThoseOfAMachine) {
  expect_limits_of_groups(device->caps());
  EXPECT_GE(device->caps().warp_items, 1);
}

TEST_F(VulkanDevice, IsInTheTable) {
  EXPECT_EQ(croze::device(device_index("vulkan")).name(), "VULKAN");
  EXPECT_EQ(device_index("VULKAN:0"), device_index("VULKAN"));
}

TEST_F(VulkanDevice, MoreGroupsThanADispatchHasAreFolded) {
  constexpr std::int64_t size = 65'537 * 5;  // of one item each, a prime and a small factor
  Graph g;
  const UOp i = g.range(0, size, LoopKind::Parallel);
  const UOp x = g.param(DType::Int32, 0, size), y = g.param(DType::Int32, 1, size);
  const UOp store = g.store(g.place(y, i), g.load(g.place(x, i)) * 3, std::span(&i, 1));
  std::vector<std::int32_t> in(size), out(size);
  std::iota(in.begin(), in.end(), 0);
  std::vector<std::span<std::byte>> buffers{std::as_writable_bytes(std::span(in)),
                                            std::as_writable_bytes(std::span(out))};
  run_kernel(*device, g.sink(std::span(&store, 1)), buffers);
  for (std::size_t k = 0; k < out.size(); k++) ASSERT_EQ(out[k], 3 * static_cast<int>(k)) << k;
}

// x_0[i] + x_1[i] + .., of so many buffers that they are no push constants.
TEST_F(VulkanDevice, ManyArgumentsComeByMemory) {
  constexpr int num_inputs = 40;
  ProgramBuilder b("many");
  std::vector<UOp> inputs;
  for (int k = 0; k < num_inputs; k++) inputs.push_back(b.param(DType::Int32, 4));
  const UOp y = b.param(DType::Int32, 4), factor = b.variable(0, 9, DType::Int32);
  const UOp i = b.begin_loop(4);
  UOp sum = b.load(inputs[0], i);
  for (int k = 1; k < num_inputs; k++) sum = sum + b.load(inputs[static_cast<std::size_t>(k)], i);
  b.store(y, i, sum * factor);
  b.end_loop(i);
  std::vector<std::vector<std::int32_t>> values;
  for (std::int32_t k = 0; k < num_inputs; k++) values.push_back({k, 100 * k, 1, -k});
  values.emplace_back(4);
  std::vector<std::span<std::byte>> buffers;
  for (auto& v : values) buffers.push_back(bytes_of(v));
  const std::int64_t variables[] = {3};
  run_program(*device, b.finish(), buffers, variables);
  EXPECT_EQ(values.back(), (std::vector<std::int32_t>{3 * 780, 300 * 780, 120, -3 * 780}));
}

// x * 0, x + 0 and 0 / x, as nodes that nothing has simplified.
TEST_F(VulkanDevice, AConstantZeroIsANumberLikeOthers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x{infinity, std::nanf(""), -2, -0.0f}, out(12);
  ProgramBuilder b("zero");
  const UOp in = b.param(DType::Float32, 4), y = b.param(DType::Float32, 12);
  const UOp zero = b.graph().constant(DType::Float32, 0.0);
  const UOp i = b.begin_loop(4);
  const UOp value = b.load(in, i);
  const auto made = [&](Op op, UOp l, UOp r) {
    return b.graph().make(op, DType::Float32, std::vector<UOp>{l, r});
  };
  b.store(y, i, made(Op::Mul, value, zero));
  b.store(y, i + 4, made(Op::Add, value, zero));
  b.store(y, i + 8, made(Op::Div, zero, value));
  b.end_loop(i);
  run_program(*device, b.finish(), {bytes_of(x), bytes_of(out)});
  for (std::size_t k = 0; k < 4; k++) {
    for (const auto& [got, want] :
         {std::pair{out[k], x[k] * 0.0f}, {out[k + 4], x[k] + 0.0f}, {out[k + 8], 0.0f / x[k]}}) {
      EXPECT_EQ(std::isnan(got), std::isnan(want)) << x[k];
      if (std::isnan(want)) continue;
      EXPECT_EQ(got, want) << x[k];
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << x[k];
    }
  }
}

// Views of one piece of memory, at places that are no multiples of four bytes.
TEST_F(VulkanDevice, BuffersOfOneKernelMayLieInOnePieceOfMemory) {
  ProgramBuilder b("rows");
  const UOp x = b.param(DType::Int8, 5), y = b.param(DType::Int8, 5), z = b.param(DType::Int8, 5);
  const UOp i = b.begin_loop(5);
  b.store(z, i, b.load(x, i) + b.load(y, i));
  b.end_loop(i);
  const LinearProgram program = b.finish();
  const auto loaded = compile_program(*device, program);
  std::vector<std::int8_t> bytes{9, 1, 2, 3, 4, 5, -1, 10, 20, 30, 40, 50, -1, 0, 0, 0, 0, 0, -1};
  const auto size = static_cast<std::int64_t>(bytes.size());
  const Memory memory = device->allocate(size);
  device->copy_in({memory, 0, size}, std::as_bytes(std::span(bytes)));
  const MemoryView views[] = {{memory, 1, 5}, {memory, 7, 5}, {memory, 13, 5}};
  loaded->launch(views, {});
  device->copy_out(bytes_of(bytes), {memory, 0, size});
  device->release(memory);
  EXPECT_EQ(bytes, (std::vector<std::int8_t>{9, 1, 2, 3, 4, 5, -1, 10, 20, 30, 40, 50, -1, 11, 22,
                                             33, 44, 55, -1}));
}

}  // namespace
}  // namespace croze::test
