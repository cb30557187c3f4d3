// device_suite_groups.cpp -- small programs of groups, whose items meet, shuffle and share memory,
// compared with what C++ computes.
#include <gtest/gtest.h>

#include <cstring>

#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

class DeviceGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test()) GTEST_SKIP() << "the machine lacks the device";
    // INTERP runs both shapes of programs whatever its caps say.
    if (!device().caps().has_groups && device().name() != "INTERP")
      GTEST_SKIP() << "the device runs tasks";
  }
  Device& device() { return *device_under_test(); }
};

TEST_F(DeviceGroups, ItemsOfAGroupMeetAtABarrier) {
  ProgramBuilder b("reverse");
  const UOp x = b.param(DType::Float32, 64), y = b.param(DType::Float32, 64);
  const UOp shared = b.local(DType::Float32, 16, Space::Group);
  const UOp group = b.special(0, 4, LoopKind::Group), item = b.special(0, 16, LoopKind::Item);
  const UOp stored = b.store(shared, item, b.load(x, group * 16 + item));
  const UOp met = b.barrier();
  b.store(y, group * 16 + item, b.load(shared, -item + 15, {}, {stored, met}));

  std::vector<float> xs = consecutive(64), ys(64);
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys)});
  for (int k = 0; k < 64; k++) EXPECT_EQ(ys[k], xs[k / 16 * 16 + (15 - k % 16)]);
}

// Two warps of two rows each, whose first axis counts fastest: what items have of others that
// differ in the bit.
template <typename T>
void expect_shuffled(Device& device, DType t, std::int64_t bit) {
  const std::int64_t width = device.caps().warp_items, count = 2 * width;
  ProgramBuilder b("shuffled");
  const UOp x = b.param(t, count), y = b.param(t, count);
  const UOp column = b.special(0, width / 2, LoopKind::Item), row = b.special(1, 4, LoopKind::Item);
  const UOp item = row * (width / 2) + column;
  b.store(y, item, b.shuffle(b.load(x, item), bit));

  std::vector<T> xs(static_cast<std::size_t>(count)), ys(xs.size());
  for (std::size_t k = 0; k < xs.size(); k++)
    xs[k] = static_cast<T>(-1'000'000'000'007) * static_cast<T>(k);
  run_program(device, b.finish(), {bytes_of(xs), bytes_of(ys)});
  for (std::size_t k = 0; k < xs.size(); k++) {
    EXPECT_EQ(ys[k], xs[k ^ static_cast<std::size_t>(bit)])
        << name_of(t) << ", item " << k << ", bit " << bit;
  }
}

TEST_F(DeviceGroups, ItemsOfAWarpShuffle) {
  const Caps& caps = device().caps();
  if (!caps.shuffles_items) GTEST_SKIP() << "the device shuffles nothing";
  for (std::int64_t bit = 1; bit < caps.warp_items; bit *= 2) {
    expect_shuffled<float>(device(), DType::Float32, bit);
    // What has 8 bytes is more than a word.
    if (caps.has_dtype(DType::Int64)) expect_shuffled<std::int64_t>(device(), DType::Int64, bit);
  }
}

TEST_F(DeviceGroups, ItemsOfAWarpVote) {
  const Caps& caps = device().caps();
  if (!caps.ballots_items) GTEST_SKIP() << "the device has no ballots";
  const std::int64_t width = caps.warp_items, count = 2 * width;
  ProgramBuilder b("ballot");
  const UOp x = b.param(DType::Float32, count);
  const UOp y = b.param(width > 32 ? DType::UInt64 : DType::UInt32, count);
  const UOp column = b.special(0, width / 2, LoopKind::Item), row = b.special(1, 4, LoopKind::Item);
  const UOp item = row * (width / 2) + column, two = b.graph().constant(DType::Float32, 2.0);
  b.store(y, item, b.ballot(b.emit(b.graph().alu(Op::Lt, {b.load(x, item), two})), width));

  std::vector<float> xs(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < xs.size(); k++) xs[k] = static_cast<float>(k * k % 7);
  std::vector<std::byte> ys(xs.size() * (width > 32 ? 8 : 4));
  run_program(device(), b.finish(), {bytes_of(xs), ys});
  for (std::int64_t k = 0; k < count; k++) {
    std::uint64_t expected = 0, voted = 0;
    for (std::int64_t i = 0; i < width; i++) {
      const bool holds = xs[static_cast<std::size_t>(k / width * width + i)] < 2;
      expected |= std::uint64_t{holds} << i;
    }
    const std::size_t bytes = width > 32 ? 8 : 4;
    std::memcpy(&voted, &ys[static_cast<std::size_t>(k) * bytes], bytes);
    EXPECT_EQ(voted, expected) << k;
  }
}

// A matrix multiply staged through group memory: 2-D groups of 2-D items, barriers inside a loop.
LinearProgram staged_matmul(std::int64_t n, std::int64_t tile, bool fused) {
  ProgramBuilder b("staged_matmul");
  const UOp x = b.param(DType::Float32, n * n), y = b.param(DType::Float32, n * n);
  const UOp z = b.param(DType::Float32, n * n);
  const UOp xs = b.local(DType::Float32, tile * tile, Space::Group);
  const UOp ys = b.local(DType::Float32, tile * tile, Space::Group);
  const UOp row = b.special(1, tile, LoopKind::Item), column = b.special(0, tile, LoopKind::Item);
  const UOp top = b.special(1, n / tile, LoopKind::Group) * tile;
  const UOp left = b.special(0, n / tile, LoopKind::Group) * tile;
  const UOp sum = b.mutable_register(DType::Float32);
  b.write(sum, b.graph().constant(DType::Float32, 0.0));

  const UOp own = b.emit(row * tile + column);
  const UOp out = b.emit((top + row) * n + left + column);
  const UOp block = b.begin_loop(n / tile);
  const UOp s1 = b.store(xs, own, b.load(x, (top + row) * n + block * tile + column));
  const UOp s2 = b.store(ys, own, b.load(y, (block * tile + row) * n + left + column));
  const UOp staged = b.barrier();
  const UOp k = b.begin_loop(tile);
  const UOp a = b.load(xs, row * tile + k, {}, {s1, staged});
  const UOp c = b.load(ys, k * tile + column, {}, {s2, staged});
  b.write(sum, fused ? b.graph().alu(Op::MulAdd, {a, c, b.read(sum)}) : b.read(sum) + a * c);
  b.end_loop(k);
  b.barrier();
  const UOp end = b.end_loop(block);
  b.store(z, out, b.read(sum, {end}));
  return b.finish();
}

TEST_F(DeviceGroups, GroupsStageTilesInSharedMemory) {
  const int n = 16;
  std::vector<float> xs(n * n), ys(n * n), zs(n * n);
  for (int k = 0; k < n * n; k++) {
    xs[k] = static_cast<float>(k % 7 - 3);
    ys[k] = static_cast<float>(k % 11 - 5);
  }
  run_program(device(), staged_matmul(n, 4, device().caps().has_op(Op::MulAdd)),
              {bytes_of(xs), bytes_of(ys), bytes_of(zs)});
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      float expected = 0;
      for (int k = 0; k < n; k++) expected += xs[i * n + k] * ys[k * n + j];
      EXPECT_EQ(zs[i * n + j], expected);
    }
  }
}

// Vectors of four and single elements, some of which the source's gate turns to zeros, and some
// that the target's leaves alone; the second batch is still on its way when the first one is read.
TEST_F(DeviceGroups, ItemsGoOnWhileTheyCopy) {
  if (!device().caps().copies_async && device().name() != "INTERP")
    GTEST_SKIP() << "the device copies by loads and stores";
  const int items = 16, rows = 2 * items;
  ProgramBuilder b("copied");
  const UOp x = b.param(DType::Float32, 4 * rows), y = b.param(DType::Float32, 4 * rows);
  const UOp z = b.param(DType::Float32, items);
  const UOp tile = b.local(DType::Float32, 4 * items, Space::Group);
  const UOp later = b.local(DType::Float32, items, Space::Group);
  const UOp item = b.special(0, items, LoopKind::Item), lane = b.lane(4);
  Graph& g = b.graph();
  const UOp first = b.begin_copy(g.place(tile, item * 4 + lane),
                                 g.place(x, item * 4 + (lane + 4 * items), b.emit(less(item, 11))));
  b.awaiting_barrier(0);
  const UOp second = b.begin_copy(g.place(later, item, b.emit(less(item, 9))), g.place(x, item));
  const UOp met = b.awaiting_barrier(1);
  b.store(y, item * 4 + lane, b.load(tile, (-item + (items - 1)) * 4 + lane, {}, {first, met}));
  const UOp all = b.awaiting_barrier(0);
  const UOp other = b.emit(less(-item + (items - 1), 9));
  b.store(z, item, b.load(later, -item + (items - 1), other, {second, all}));

  std::vector<float> xs = consecutive(4 * rows), ys(4 * rows), zs(items);
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys), bytes_of(zs)});
  for (int k = 0; k < items; k++) {
    const int from = items - 1 - k;
    for (int l = 0; l < 4; l++)
      EXPECT_EQ(ys[4 * k + l], from < 11 ? xs[4 * (items + from) + l] : 0) << k << ", " << l;
    EXPECT_EQ(zs[k], from < 9 ? xs[from] : 0) << k;
  }
}

}  // namespace
}  // namespace croze::test
