// far_offsets_test.cpp -- elements and bytes beyond 2^31 of a buffer, where the device has so much
// memory for one.  CROZE_DEVICE names the device.
#include <gtest/gtest.h>

#include <numeric>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "support/programs.h"
#include "support/ptx_interp_kind.h"

namespace croze::test {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 31;  // bytes
constexpr std::int64_t count = 1009;
constexpr std::int64_t bytes = far + 2 * count * 4;

class FarOffsets : public testing::Test {
 protected:
  void SetUp() override {
    know_ptx_interp();
    const std::string name = Options::text(Option::Device);
    for (const DeviceEntry& entry : list_devices()) {
      if (entry.name == name && !entry.available) GTEST_SKIP() << "no " << name << " here";
    }
    device_ = &device(device_index(name));
    try {
      memory_ = device_->allocate(bytes);
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
  void TearDown() override {
    if (memory_.handle) device_->discard(memory_);
  }

  // x[at + count + i] = 3 * x[at + i], of a buffer whose elements are of the type and which ends
  // behind them; it begins at byte `offset` of the memory.
  template <typename T>
  void expect_tripled(DType t, std::int64_t at, std::int64_t offset) {
    Graph graph;
    const UOp x = graph.param(t, 0, at + 2 * count);
    const UOp i = graph.range(0, count, LoopKind::Parallel);
    const UOp value = graph.load(graph.place(x, i + at)) * 3;
    const UOp store = graph.store(graph.place(x, i + (at + count)), value, std::span(&i, 1));
    const LinearProgram program = make_program(graph.sink(std::span(&store, 1)), device_->caps());
    const std::unique_ptr<Program> loaded = compile_program(*device_, program);

    std::vector<T> in(count), out(count);
    std::iota(in.begin(), in.end(), T{});
    const auto size = std::int64_t{sizeof(T)};
    device_->copy_in({memory_, offset + at * size, count * size}, bytes_of(in));
    const MemoryView view{memory_, offset, (at + 2 * count) * size};
    loaded->launch(std::span(&view, 1), {});
    device_->copy_out(bytes_of(out), {memory_, offset + (at + count) * size, count * size});
    for (T& v : in) v = static_cast<T>(v * 3);
    EXPECT_EQ(out, in);
  }

  Device* device_ = nullptr;
  Memory memory_;
};

TEST_F(FarOffsets, ElementsBeyond2To31) { expect_tripled<std::uint8_t>(DType::UInt8, far, 0); }

TEST_F(FarOffsets, BytesBeyond2To31) { expect_tripled<std::int32_t>(DType::Int32, far / 4, 0); }

TEST_F(FarOffsets, BuffersThatBeginAtByte2To31) { expect_tripled<float>(DType::Float32, 0, far); }

}  // namespace
}  // namespace croze::test
