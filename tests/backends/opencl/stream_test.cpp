// stream_test.cpp -- streams of OpenCL: commands that overtake each other, batches that are one
// command, times of the device.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "croze/device/queue.h"
#include "croze/device/recorded_batch.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

constexpr std::int64_t count = 256, views = 6;

// y[i] = 3 * x[i] + y[i] + 1, `turns` times.
LinearProgram mixing(std::int64_t turns) {
  ProgramBuilder b("mixing");
  const UOp x = b.param(DType::Int32, count), y = b.param(DType::Int32, count);
  const UOp turn = b.begin_loop(turns);
  const UOp i = b.begin_loop(count);
  b.store(y, i, b.load(x, i) * 3 + b.load(y, i) + 1);
  b.end_loop(i);
  b.end_loop(turn);
  LinearProgram program = b.finish();
  program.info.written = 0b10;
  return program;
}

class OpenClStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test()) GTEST_SKIP() << "the machine has no OpenCL";
    memory_ = device().allocate(views * count * 4);
    values_.resize(views * count);
    std::iota(values_.begin(), values_.end(), 0);
    device().copy_in(MemoryView::all_of(memory_), bytes_of(values_));
  }
  void TearDown() override {
    if (memory_.handle) device().release(memory_);
  }
  static Device& device() { return *device_under_test(); }

  MemoryView view(std::int64_t number) const { return {memory_, number * count * 4, count * 4}; }
  // What a launch of mixing(1) does, on the host.
  void mix(std::int64_t from, std::int64_t to) {
    for (std::int64_t i = 0; i < count; i++) {
      std::int32_t& y = values_[static_cast<std::size_t>(to * count + i)];
      y = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(values_[static_cast<std::size_t>(from * count + i)]) * 3u +
          static_cast<std::uint32_t>(y) + 1u);
    }
  }
  std::vector<std::int32_t> contents() const {
    std::vector<std::int32_t> found(values_.size());
    device().copy_out(bytes_of(found), MemoryView::all_of(memory_));
    return found;
  }

  Memory memory_;
  std::vector<std::int32_t> values_;  // as they have to be
};

TEST_F(OpenClStreams, CommandsThatShareBytesKeepTheirOrder) {
  const auto program = compile_program(device(), mixing(1));
  const auto stream = device().make_stream();
  std::mt19937 random(11);
  std::vector<std::vector<std::int32_t>> copies(8), expected(8);
  for (std::size_t k = 0; k < copies.size(); k++) {
    for (int launch = 0; launch < 30; launch++) {
      const std::int64_t from = random() % views;
      const std::int64_t to = (from + 1 + random() % (views - 1)) % views;
      const MemoryView buffers[] = {view(from), view(to)};
      const Nest nest{program.get(), buffers, {}};
      const Sequence sequence{std::span(&nest, 1)};
      stream->launch(std::span(&sequence, 1));
      mix(from, to);
    }
    copies[k].resize(count);
    const std::int64_t taken = random() % views;
    stream->copy_out(bytes_of(copies[k]), view(taken));
    expected[k].assign(values_.begin() + taken * count, values_.begin() + (taken + 1) * count);
  }
  stream->finish();
  EXPECT_EQ(copies, expected);
  EXPECT_EQ(contents(), values_);
}

TEST_F(OpenClStreams, ABatchThatComesAgainComputesTheSame) {
  const auto program = compile_program(device(), mixing(1));
  RecordedBatch batch;
  for (std::int64_t k = 0; k < 8; k++) {
    const MemoryView buffers[] = {view(k % views), view((k + 1) % views)};
    const Nest nest{program.get(), buffers, {}};
    const Sequence sequence{std::span(&nest, 1)};
    batch.launch(std::span(&sequence, 1));
  }
  const auto stream = device().make_stream();
  for (int turn = 0; turn < 10; turn++) {
    batch.run(*stream);
    for (std::int64_t k = 0; k < 8; k++) mix(k % views, (k + 1) % views);
    // What comes between two of its turns sees the one and is seen by the other.
    stream->copy(view(5), view(turn % 5));
    std::copy_n(values_.begin() + turn % 5 * count, count, values_.begin() + 5 * count);
  }
  stream->finish();
  EXPECT_EQ(contents(), values_);
}

// A command buffer where the device has any, else command by command: which, the stream says.
TEST_F(OpenClStreams, ABatchIsOneCommandFromTheSecondTimeOnWhereTheDeviceHasCommandBuffers) {
  const auto program = compile_program(device(), mixing(1));
  const MemoryView buffers[] = {view(0), view(1)};
  const Nest nest{program.get(), buffers, {}};
  const Sequence sequence{std::span(&nest, 1)};
  RecordedBatch batch, copying;
  for (RecordedBatch* b : {&batch, &copying}) {
    b->launch(std::span(&sequence, 1));
    b->launch(std::span(&sequence, 1));
  }
  copying.copy(view(2), view(3));
  const auto stream = device().make_stream();
  EXPECT_FALSE(stream->submit(batch));
  const bool is_one = stream->submit(batch);
  if (is_one) mix(0, 1), mix(0, 1);
  EXPECT_EQ(is_one, stream->submit(batch));
  if (is_one) mix(0, 1), mix(0, 1);
  EXPECT_FALSE(stream->submit(copying));
  EXPECT_FALSE(stream->submit(copying));
  stream->finish();
  EXPECT_EQ(contents(), values_);
}

TEST_F(OpenClStreams, ALaunchIsTimedByTheDevicesClock) {
  const auto brief = compile_program(device(), mixing(1));
  const auto lengthy = compile_program(device(), mixing(20'000));
  const MemoryView buffers[] = {view(0), view(1)};
  const auto seconds = [&](Program& program) {
    const Nest nest{&program, buffers, {}};
    const Sequence sequence{std::span(&nest, 1)};
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<double> taken = device().launch_timed(std::span(&sequence, 1));
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
    if (!taken) return -1.0;
    EXPECT_GT(*taken, 0);
    EXPECT_LE(*taken, all.count());
    return *taken;
  };
  const double less = seconds(*brief), more = seconds(*lengthy);
  if (less < 0) GTEST_SKIP() << "the device has no clock";
  EXPECT_LT(less, more);
  mix(0, 1);
  for (int i = 0; i < 20'000; i++) mix(0, 1);
  EXPECT_EQ(contents(), values_);
}

}  // namespace
}  // namespace croze::test
