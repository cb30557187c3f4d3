// buffers_test.cpp -- the storage behind Buffer nodes.
#include "run/buffers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/error.h"
#include "run/devices.h"

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
  const std::vector<DeviceEntry> entries = list_devices();
  for (std::size_t i = 0; i < entries.size(); i++) {
    if (entries[i].available && entries[i].name != "NULL") result.push_back(static_cast<int>(i));
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

TEST(Buffers, AdoptedMemoryOfTheHostIsUsedInPlaceAndKeptAlive) {
  Graph graph;
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  std::weak_ptr<std::vector<float>> alive = owner;
  const float* address = owner->data();
  const auto bytes = std::as_bytes(std::span(*owner));
  const UOp b = adopt_buffer(graph, DType::Float32, bytes, std::move(owner), device_index("CPU"));
  EXPECT_EQ(buffer_memory(b).memory.handle, address);
  EXPECT_EQ(read<float>(b), (std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(alive.expired());
  release_buffer(b.buffer_id());
  EXPECT_TRUE(alive.expired());
}

TEST(RandomKeys, AreNewEachTimeAndFollowTheSeed) {
  Graph graph;
  const int device = device_index("CPU");
  seed_random(42);
  const UOp a = new_random_key(graph, device), b = new_random_key(graph, device);
  const auto first = read<std::uint64_t>(a), second = read<std::uint64_t>(b);
  EXPECT_NE(first, second);
  EXPECT_TRUE(is_random_key(a.buffer_id()));
  refresh_random_key(a);
  EXPECT_NE(read<std::uint64_t>(a), first);
  seed_random(42);
  const UOp again = new_random_key(graph, device);
  EXPECT_EQ(read<std::uint64_t>(again), first);
  for (UOp key : {a, b, again}) release_buffer(key.buffer_id());
}

}  // namespace
}  // namespace croze
