// webgpu_test.cpp -- the WebGPU device beside the device suite.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "croze/base/error.h"
#include "support/device_suite.h"
#include "support/programs.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

class WebGpuDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!device) GTEST_SKIP() << "no library of WebGPU here (CROZE_WEBGPU_LIBRARY)";
  }

  Device* const device = device_under_test();
};

std::vector<std::byte> counted_bytes(std::size_t count, int first) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; i++) bytes[i] = static_cast<std::byte>(first + i);
  return bytes;
}

TEST_F(WebGpuDevice, RejectedSourceIsAnInternalErrorWithTheCompilersMessage) {
  expect_broken_is_refused(*device, "@compute @workgroup_size(1) fn broken() { unknown(); }");
}

TEST_F(WebGpuDevice, LimitsAreThoseOfAMachine) {
  const Caps& caps = device->caps();
  expect_limits_of_groups(caps);
  EXPECT_FALSE(caps.has_dtype(DType::Float64));
  EXPECT_FALSE(caps.has_dtype(DType::Int64));
}

// Copies go by words, these do not.
TEST_F(WebGpuDevice, CopiesOfAnyBytesLeaveTheirNeighboursAlone) {
  constexpr std::int64_t size = 23;
  const Memory memory = device->allocate(size);
  for (std::int64_t offset = 0; offset < 8; offset++) {
    for (std::int64_t count : {0, 1, 2, 3, 5, 8, 15}) {
      std::vector<std::byte> expected = counted_bytes(size, 100);
      device->copy_in({memory, 0, size}, expected);
      const auto part = counted_bytes(static_cast<std::size_t>(count), 1);
      device->copy_in({memory, offset, count}, part);
      std::ranges::copy(part, expected.begin() + offset);
      std::vector<std::byte> all(size), seen(part.size());
      device->copy_out(all, {memory, 0, size});
      device->copy_out(seen, {memory, offset, count});
      EXPECT_EQ(all, expected) << offset << " " << count;
      EXPECT_EQ(seen, part) << offset << " " << count;
    }
  }
  device->release(memory);
}

// Rows of one piece of memory, nearer to each other than bindings may begin; one of them is
// written.
TEST_F(WebGpuDevice, BuffersOfOneKernelMayLieInOnePieceOfMemory) {
  ProgramBuilder b("rows");
  const UOp x = b.param(DType::Int32, 4), y = b.param(DType::Int8, 4), z = b.param(DType::Int32, 4);
  const UOp i = b.begin_loop(4);
  b.store(z, i, b.load(x, i) + cast(b.load(y, i), DType::Int32));
  b.store(y, i, b.graph().constant(DType::Int8, 9.0));
  b.end_loop(i);
  const LinearProgram program = b.finish();
  const auto loaded = compile_program(*device, program);

  // Four words, four bytes between others, four words.
  std::vector<std::int32_t> words{1, 2, 3, 4, -1, 0x04030201, -1, 5, 5, 5, 5};
  const auto size = static_cast<std::int64_t>(words.size()) * 4;
  const Memory memory = device->allocate(size);
  device->copy_in({memory, 0, size}, std::as_bytes(std::span(words)));
  const MemoryView views[] = {{memory, 0, 16}, {memory, 20, 4}, {memory, 28, 16}};
  loaded->launch(views, {});
  device->copy_out(std::as_writable_bytes(std::span(words)), {memory, 0, size});
  device->release(memory);
  EXPECT_EQ(words, (std::vector<std::int32_t>{1, 2, 3, 4, -1, 0x09090909, -1, 2, 4, 6, 8}));
}

TEST_F(WebGpuDevice, TooMuchMemoryIsAnErrorThatNamesTheDevice) {
  try {
    device->allocate(std::int64_t{1} << 45);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("WEBGPU"), std::string::npos) << e.message();
  }
}

TEST_F(WebGpuDevice, MoreGroupsThanADispatchHasAreFolded) {
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

}  // namespace
}  // namespace croze::test
