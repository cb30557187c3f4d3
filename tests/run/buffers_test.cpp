// buffers_test.cpp -- the storage behind Buffer nodes.
#include "croze/run/buffers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <vector>

#include "croze/base/error.h"
#include "croze/run/devices.h"
#include "croze/run/random_state.h"
#include "croze/run/statistics.h"

namespace croze {
namespace {

template <typename T>
std::vector<T> read(UOp buffer) {
  std::vector<T> values(static_cast<std::size_t>(buffer.elements()));
  read_buffer(buffer, std::as_writable_bytes(std::span(values)));
  return values;
}

template <typename T>
void write(UOp buffer, const std::vector<T>& values) {
  write_buffer(buffer, std::as_bytes(std::span(values)));
}

std::vector<int> available_devices() {
  std::vector<int> result;
  for (const DeviceEntry& entry : list_devices()) {
    if (entry.available && entry.name != "NULL") result.push_back(device_index(entry.name));
  }
  return result;
}

TEST(Buffers, WhatIsWrittenIsReadBackOnEveryDevice) {
  for (int device : available_devices()) {
    Graph graph;
    const UOp a = new_buffer(graph, DType::Int32, 1000, device);
    const UOp b = new_buffer(graph, DType::Int32, 1000, device);
    std::vector<std::int32_t> values(1000);
    for (int i = 0; i < 1000; i++) values[static_cast<std::size_t>(i)] = i * i - 500;
    write(a, values);
    write(b, std::vector<std::int32_t>(1000, -1));
    EXPECT_EQ(read<std::int32_t>(a), values) << device_name(device);
    release_buffer(a.buffer_id());
    release_buffer(b.buffer_id());
  }
}

TEST(Buffers, OneThatIsSpareIsTakenAgain) {
  for (const std::int64_t elements : {5, 1 << 20}) {
    Graph graph;
    const int device = device_index("CPU");
    const MemoryUse before = memory_use();
    const UOp b = new_buffer(graph, DType::Float32, elements, device);
    const std::vector<float> values(static_cast<std::size_t>(elements), 1);
    write(b, values);
    SpareBuffers spare;
    spare.put(b);
    EXPECT_EQ(memory_use().bytes, before.bytes);
    EXPECT_EQ(memory_use().buffers, before.buffers);
    EXPECT_FALSE(spare.take(DType::Float32, elements + 1, device));
    EXPECT_FALSE(spare.take(DType::Int32, elements, device));
    EXPECT_EQ(spare.take(DType::Float32, elements, device), b);
    EXPECT_FALSE(spare.take(DType::Float32, elements, device));
    EXPECT_EQ(memory_use().buffers, before.buffers + 1);
    write(b, values);
    EXPECT_EQ(read<float>(b), values);
    EXPECT_EQ(memory_use().bytes, before.bytes + elements * 4);
    spare.put(b);
    release_buffer(b.buffer_id());  // as the collector does
    EXPECT_EQ(memory_use().bytes, before.bytes);
    EXPECT_EQ(memory_use().buffers, before.buffers);
  }
}

TEST(Buffers, MemoryOfOneThatIsSpareIsNotTakenFromWhoHoldsIt) {
  Graph graph;
  const int cpu = device_index("CPU");
  const UOp b = new_buffer(graph, DType::Float32, 5, cpu);
  write(b, std::vector<float>(5, 1));
  const HeldMemory held = buffer_memory(b);
  SpareBuffers spare;
  spare.put(b);
  ASSERT_EQ(spare.take(DType::Float32, 5, cpu), b);
  write(b, std::vector<float>(5, 2));
  std::vector<float> values(5);
  device(cpu).copy_out(std::as_writable_bytes(std::span(values)), held.view);
  EXPECT_EQ(values, std::vector<float>(5, 1));
  EXPECT_EQ(read<float>(b), std::vector<float>(5, 2));
  release_buffer(b.buffer_id());
}

// What was lost with its writer is no loss to who writes next.
TEST(Buffers, OneThatIsSpareForgetsThatItWasNeverWritten) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 5, device_index("CPU"));
  {
    const MemoryAccess::Use use[] = {{b, true}};
    const MemoryAccess given_up(use);
  }
  SpareBuffers spare;
  spare.put(b);
  ASSERT_EQ(spare.take(DType::Float32, 5, device_index("CPU")), b);
  write(b, std::vector<float>(5, 1));
  EXPECT_EQ(read<float>(b), std::vector<float>(5, 1));
  release_buffer(b.buffer_id());
}

TEST(Buffers, OfThoseThatAreSpareAFewAreKept) {
  Graph graph;
  const std::int64_t before = memory_use().buffers;
  SpareBuffers spare;
  for (int i = 0; i < 100; i++) {
    spare.put(new_buffer(graph, DType::Float32, 5, device_index("CPU")));
  }
  EXPECT_EQ(memory_use().buffers, before);
  std::vector<UOp> taken;
  while (const UOp b = spare.take(DType::Float32, 5, device_index("CPU"))) taken.push_back(b);
  EXPECT_LT(taken.size(), 20u);
  for (UOp b : taken) release_buffer(b.buffer_id());
  EXPECT_EQ(memory_use().buffers, before);
}

TEST(Buffers, ABufferNeverWrittenReadsAsZeros) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 5, device_index("CPU"));
  EXPECT_EQ(read<float>(b), std::vector<float>(5, 0.0f));
  release_buffer(b.buffer_id());
}

TEST(Buffers, ABufferOfNoElementsIsReadAndWritten) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 0, device_index("CPU"));
  write(b, std::vector<float>{});
  EXPECT_TRUE(read<float>(b).empty());
  release_buffer(b.buffer_id());
}

TEST(Buffers, SizesMustMatch) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 5, device_index("CPU"));
  EXPECT_THROW(write(b, std::vector<float>(4)), InternalError);
  write(b, std::vector<float>(5));
  std::vector<std::byte> few(8);
  EXPECT_THROW(read_buffer(b, few), InternalError);
  release_buffer(b.buffer_id());
}

TEST(Buffers, AReleasedBufferHasNoStorage) {
  Graph graph;
  const MemoryUse before = memory_use();
  const UOp b = new_buffer(graph, DType::Float32, 1 << 20, device_index("CPU"));
  EXPECT_EQ(memory_use().bytes, before.bytes) << "memory comes with the first write";
  write(b, std::vector<float>(1 << 20));
  EXPECT_EQ(memory_use().bytes, before.bytes + (4 << 20));
  EXPECT_EQ(memory_use().buffers, before.buffers + 1);
  release_buffer(b.buffer_id());
  EXPECT_EQ(memory_use().bytes, before.bytes);
  EXPECT_EQ(memory_use().buffers, before.buffers);
  EXPECT_THROW(read<float>(b), InternalError);
  release_buffer(b.buffer_id());  // once more is no error
}

TEST(Buffers, MemoryThatIsHeldOutlivesItsBuffer) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 3, device_index("CPU"));
  write(b, std::vector<float>{1, 2, 3});
  const HeldMemory held = buffer_memory(b);
  release_buffer(b.buffer_id());
  std::vector<float> values(3);
  device(device_index("CPU")).copy_out(std::as_writable_bytes(std::span(values)), held.view);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
}

TEST(Buffers, AdoptedMemoryOfTheHostIsUsedInPlaceAndKeptAlive) {
  Graph graph;
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  std::weak_ptr<std::vector<float>> alive = owner;
  const float* address = owner->data();
  const auto bytes = std::as_bytes(std::span(*owner));
  const UOp b = adopt_buffer(graph, DType::Float32, bytes, std::move(owner), device_index("CPU"));
  EXPECT_EQ(buffer_memory(b).view.memory.handle, address);
  EXPECT_EQ(read<float>(b), (std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(alive.expired());
  release_buffer(b.buffer_id());
  EXPECT_TRUE(alive.expired());
}

// ---- the order of what threads do with memory --------------------------------------------------

// Whether the access has its turn, looked at for a moment.
std::future<void> turn_of(const MemoryAccess& access) {
  return std::async(std::launch::async, [&] { access.wait(); });
}
bool has_come(const std::future<void>& turn) {
  return turn.wait_for(std::chrono::milliseconds(30)) == std::future_status::ready;
}
// The same on a machine that may be busy.
bool comes(const std::future<void>& turn) {
  return turn.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
}

MemoryAccess access_to(UOp buffer, bool writes) {
  const MemoryAccess::Use use[] = {{buffer, writes}};
  return MemoryAccess(use);
}

TEST(MemoryAccess, AReadComesAfterTheWriteBeforeItAndAWriteAfterTheReads) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 3, device_index("CPU"));
  MemoryAccess write = access_to(b, true), read = access_to(b, false), other = access_to(b, false),
               later = access_to(b, true);
  write.wait();
  auto reads = turn_of(read), reads_too = turn_of(other), writes = turn_of(later);
  EXPECT_FALSE(has_come(reads));
  write.end();
  EXPECT_TRUE(comes(reads) && comes(reads_too)) << "reads wait for no reads";
  read.end();
  EXPECT_FALSE(has_come(writes));
  other.end();
  writes.get();
  later.end();
  release_buffer(b.buffer_id());
}

TEST(MemoryAccess, OtherBuffersAndAnAccessToOneBufferTwiceWaitForNothing) {
  Graph graph;
  const UOp a = new_buffer(graph, DType::Float32, 3, device_index("CPU"));
  const UOp b = new_buffer(graph, DType::Float32, 3, device_index("CPU"));
  MemoryAccess write = access_to(a, true), other = access_to(b, true);
  other.wait();
  other.end();
  write.end();
  const MemoryAccess::Use both[] = {{a, false}, {a, true}};
  MemoryAccess twice(both);
  twice.wait();
  twice.end();
  for (UOp buffer : {a, b}) release_buffer(buffer.buffer_id());
}

TEST(MemoryAccess, WhatShouldHaveBeenWrittenCannotBeRead) {
  Graph graph;
  const UOp b = new_buffer(graph, DType::Float32, 3, device_index("CPU"));
  { MemoryAccess given_up = access_to(b, true); }
  EXPECT_THROW(read<float>(b), Error);
  access_to(b, true).fail(std::make_exception_ptr(InternalError("at fault")));
  EXPECT_THROW(read<float>(b), InternalError);
  release_buffer(b.buffer_id());
}

TEST(RandomKeys, AreNewEachTimeAndFollowTheSeed) {
  Graph graph;
  const int device = device_index("CPU");
  set_random_state({.seed = 42});
  const UOp a = new_random_key(graph, device), b = new_random_key(graph, device);
  const auto first = read<std::uint64_t>(a), second = read<std::uint64_t>(b);
  EXPECT_NE(first, second);
  EXPECT_TRUE(is_random_key(a.buffer_id()));
  refresh_random_key(a);
  EXPECT_NE(read<std::uint64_t>(a), first);
  set_random_state({.seed = 42});
  const UOp again = new_random_key(graph, device);
  EXPECT_EQ(read<std::uint64_t>(again), first);
  for (UOp key : {a, b, again}) release_buffer(key.buffer_id());
}

}  // namespace
}  // namespace croze
