// device_suite_queues.cpp -- queues of the device: order, overlap, errors.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "croze/base/error.h"
#include "croze/device/queue.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

constexpr std::int64_t count = 1024;

// x[i] = 3 * x[i] + v, `turns` times.
LinearProgram affine_program(std::int64_t turns) {
  const bool is_wide = device_under_test()->caps().has_dtype(DType::Int64);
  ProgramBuilder b("affine");
  const UOp x = b.param(DType::Int32, count);
  const UOp v = b.variable(0, 7, is_wide ? DType::Int64 : DType::Int32);
  const UOp turn = b.begin_loop(turns);
  const UOp i = b.begin_loop(count);
  b.store(x, i, b.load(x, i) * 3 + b.graph().cast(v, DType::Int32));
  b.end_loop(i);
  b.end_loop(turn);
  LinearProgram program = b.finish();
  program.info.variables = {{0, 7}};
  return program;
}

class DeviceQueues : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test()) GTEST_SKIP() << "the machine lacks the device";
  }
  void TearDown() override {
    for (const Memory& m : memory_) device().release(m);
  }
  Device& device() { return *device_under_test(); }

  MemoryView integers() {
    memory_.push_back(device().allocate(count * 4));
    return {memory_.back(), 0, count * 4};
  }
  static void launch(Queue& queue, Program& program, const MemoryView& x, std::int64_t v) {
    const Nest nest{&program, std::span(&x, 1), std::span(&v, 1)};
    const Sequence sequence{std::span(&nest, 1)};
    queue.launch(std::span(&sequence, 1));
  }

 private:
  std::vector<Memory> memory_;
};

std::vector<std::int32_t> counting() {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_F(DeviceQueues, CopiesAndKernelsAreDoneInOrder) {
  const auto program = compile_program(device(), affine_program(1));
  const MemoryView x = integers(), y = integers();
  const std::vector<std::int32_t> in = counting();
  std::vector<std::int32_t> out(count);
  Queue queue(device());
  queue.copy_in(x, std::as_bytes(std::span(in)));
  for (std::int64_t v = 1; v <= 4; v++) launch(queue, *program, x, v);
  queue.copy(y, x);
  launch(queue, *program, x, 5);  // not seen in y
  queue.copy_out(bytes_of(out), y);
  queue.synchronize();
  for (std::int32_t k = 0; k < count; k++) EXPECT_EQ(out[k], 81 * k + 27 + 18 + 9 + 4) << k;
}

TEST_F(DeviceQueues, TwoQueuesAreOrderedByATimeline) {
  const auto program = compile_program(device(), affine_program(1));
  const MemoryView x = integers();
  const std::vector<std::int32_t> in(count);
  std::vector<std::int32_t> out(count);
  Queue first(device()), second(device());
  const Timeline there, back;
  first.copy_in(x, std::as_bytes(std::span(in)));
  std::int32_t expected = 0;
  for (std::uint64_t i = 1; i <= 8; i++) {
    launch(first, *program, x, 1);
    first.signal(there, i);
    second.wait(there, i);
    launch(second, *program, x, 2);
    second.signal(back, i);
    first.wait(back, i);
    expected = (expected * 3 + 1) * 3 + 2;
  }
  first.copy_out(bytes_of(out), x);
  first.synchronize();
  EXPECT_EQ(out, std::vector<std::int32_t>(count, expected));
}

// Who gets a core when is up to the system: a thread that is woken may take the core of the one
// that woke it, so a copy may be early or late for one kernel, or for many on a busy machine.  Each
// is therefore asked for when its kernel has begun, some sooner and some later.
TEST_F(DeviceQueues, CopiesOverlapWithKernels) {
  const bool is_slow = device().name() == "INTERP";
  const auto program = compile_program(device(), affine_program(is_slow ? 200 : 20'000));
  const MemoryView x = integers(), y = integers();
  const std::vector<std::int32_t> in = counting();
  Queue kernels(device()), copies(device());
  kernels.copy_in(x, std::as_bytes(std::span(in)));
  bool overlapped = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int i = 0; !overlapped && std::chrono::steady_clock::now() < end; i++) {
    const Timestamp kernel_begins = kernels.timestamp();
    launch(kernels, *program, x, 1);
    const Timestamp kernel_ends = kernels.timestamp();
    kernel_begins.time();
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 8));
    const Timestamp copy_begins = copies.timestamp();
    copies.copy_in(y, std::as_bytes(std::span(in)));
    const Timestamp copy_ends = copies.timestamp();
    overlapped =
        kernel_begins.time() <= copy_begins.time() && copy_ends.time() <= kernel_ends.time();
    EXPECT_LE(copy_begins.time(), copy_ends.time());
  }
  EXPECT_TRUE(overlapped);
}

TEST_F(DeviceQueues, AWrongLaunchIsToldAtTheWaitAndNamesTheKernel) {
  const auto program = compile_program(device(), affine_program(1));
  const MemoryView x = integers();
  Queue queue(device());
  launch(queue, *program, x, 8);
  try {
    queue.synchronize();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "kernel affine: variable 0 is 8, but it was compiled for 0 to 7");
  }
  launch(queue, *program, x, 7);
  queue.synchronize();
}

}  // namespace
}  // namespace croze::test
