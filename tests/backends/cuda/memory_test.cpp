// memory_test.cpp -- allocation, and who may use memory when.
#include <numeric>

#include "fake_device.h"

namespace croze::test {
namespace {

std::vector<std::byte> pattern(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; i++) {
    bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<std::size_t>(seed));
  }
  return bytes;
}

TEST_F(FakeCuda, CopiesOfAllSizesAreWhole) {
  constexpr std::int64_t largest = (std::int64_t{13} << 20) + 5;  // several pieces and a bit
  const Memory memory = device->allocate(largest + 3);
  for (std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4} << 20, largest}) {
    const std::vector<std::byte> bytes = pattern(static_cast<std::size_t>(size), 1);
    std::vector<std::byte> given = bytes, seen(bytes.size());
    device->copy_in({memory, 3, size}, given);
    std::ranges::fill(given, std::byte{0});  // it may be reused at once
    device->copy_out(seen, {memory, 3, size});
    EXPECT_EQ(seen, bytes) << size;
  }
  device->release(memory);
}

TEST_F(FakeCuda, ReleasedMemoryServesWhoAsksNext) {
  const Memory first = device->allocate(3 << 20);
  const int allocations = fake::counts().allocations;
  device->release(first);
  const Memory next = device->allocate((3 << 20) - 100);  // nearly as much
  EXPECT_EQ(next.handle, first.handle);
  EXPECT_EQ(next.bytes, (3 << 20) - 100);
  const Memory more = device->allocate(3 << 20);
  EXPECT_NE(more.handle, first.handle);
  EXPECT_EQ(fake::counts().allocations, allocations + 1);
  device->release(next);
  const Memory small = device->allocate(100);  // for which it is too large
  EXPECT_NE(small.handle, first.handle);
  device->release(more);
  device->release(small);
}

TEST_F(FakeCuda, MemoryIsAlignedAndMayBeEmpty) {
  const Memory a = device->allocate(0), b = device->allocate(0);
  EXPECT_NE(a.handle, nullptr);
  EXPECT_NE(a.handle, b.handle);
  EXPECT_EQ(a.bytes, 0);
  EXPECT_THROW(device->allocate(-1), Error);
  device->release(a);
  device->release(b);
  device->release({});
}

TEST_F(FakeCuda, WhatIsKeptIsGivenBackWhereMemoryIsShort) {
  fake::limit_memory(64 << 20);
  const Memory first = device->allocate(20 << 20), second_memory = device->allocate(30 << 20);
  device->release(first);
  device->release(second_memory);
  const Memory large = device->allocate(50 << 20);
  EXPECT_EQ(large.bytes, 50 << 20);
  const std::string said = message_of([&] { device->allocate(40 << 20); });
  expect_contains(said, "CUDA: cannot allocate 41943040 bytes: of 67108864 bytes");
  device->release(large);
  EXPECT_EQ(device->allocate(60 << 20).bytes, 60 << 20);
}

// A stream still reads memory when it is released, and the next owner writes it on another.
TEST_F(FakeCuda, TheNextOwnerOfMemoryWaitsForTheLast) {
  constexpr std::int64_t size = 1 << 12;
  const Memory result = device->allocate(size);
  const auto stream = device->make_stream();
  const std::vector<std::byte> first = pattern(size, 1), later = pattern(size, 9);
  Memory memory = device->allocate(size);
  device->copy_in(MemoryView::all_of(memory), first);
  device->synchronize();
  stream->copy(MemoryView::all_of(result), MemoryView::all_of(memory));
  const void* const handle = memory.handle;
  device->release(memory);

  memory = device->allocate(size);
  ASSERT_EQ(memory.handle, handle);
  device->copy_in(MemoryView::all_of(memory), later);
  device->synchronize();
  stream->finish();
  std::vector<std::byte> seen(size);
  device->copy_out(seen, MemoryView::all_of(result));
  EXPECT_EQ(seen, first);
  device->release(memory);
  device->release(result);
}

// The other way round: the device's own work was enqueued before the stream was there.
TEST_F(FakeCuda, ANewStreamComesAfterWhatWasEnqueued) {
  constexpr std::int64_t size = 1 << 12;
  const Memory result = device->allocate(size);
  const std::vector<std::byte> first = pattern(size, 1), later = pattern(size, 9);
  Memory memory = device->allocate(size);
  device->copy_in(MemoryView::all_of(memory), first);
  const void* const handle = memory.handle;
  device->release(memory);  // the copy is still to be done

  const auto stream = device->make_stream();
  memory = device->allocate(size);
  ASSERT_EQ(memory.handle, handle);
  stream->copy_in(MemoryView::all_of(memory), later);
  stream->finish();
  device->synchronize();
  std::vector<std::byte> seen(size);
  device->copy_out(seen, MemoryView::all_of(memory));
  EXPECT_EQ(seen, later);
  device->release(memory);
  device->release(result);
}

}  // namespace
}  // namespace croze::test
