// What is freed is handed out again, within limits.
#include "croze/device/memory_pool.h"

#include <gtest/gtest.h>

#include "croze/device/host_memory.h"

namespace croze {
namespace {

constexpr std::int64_t mega = 1 << 20;

Memory allocated(std::int64_t bytes) { return allocate_host(bytes, 64, "a test"); }

TEST(MemoryPool, HandsOutWhatWasFreed) {
  MemoryPool pool(8 * mega);
  EXPECT_FALSE(pool.take(mega));
  const Memory m = allocated(mega);
  pool.put(m);
  const std::optional<Memory> again = pool.take(mega);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->handle, m.handle);
  EXPECT_EQ(again->bytes, mega);
  EXPECT_FALSE(pool.take(mega));
  pool.put(*again);
}

TEST(MemoryPool, FitsAndKnowsTheWholeSizeAgain) {
  MemoryPool pool(8 * mega);
  const Memory small = allocated(mega), large = allocated(2 * mega);
  pool.put(large);
  pool.put(small);
  EXPECT_FALSE(pool.take(2 * mega + 1));
  EXPECT_FALSE(pool.take(mega / 2));  // half of it would be wasted
  const std::optional<Memory> part = pool.take(mega - 1000);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->handle, small.handle);
  EXPECT_EQ(part->bytes, mega - 1000);
  pool.put(*part);
  const std::optional<Memory> whole = pool.take(mega);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->handle, small.handle);
  pool.put(*whole);
}

TEST(MemoryPool, LetsGoOfTheOldestFirst) {
  MemoryPool pool(3 * mega);
  const Memory first = allocated(2 * mega), second = allocated(mega), third = allocated(mega);
  pool.put(first);
  pool.put(second);
  pool.put(third);
  EXPECT_FALSE(pool.take(2 * mega));
  for (int i = 0; i < 2; i++) {
    const std::optional<Memory> m = pool.take(mega);
    ASSERT_TRUE(m);
    release_host(*m);
  }
}

TEST(MemoryPool, OfNothingKeepsNothing) {
  MemoryPool pool(0);
  pool.put(allocated(mega));
  pool.put(allocated(10));
  pool.put({});
  EXPECT_FALSE(pool.take(mega));
  EXPECT_FALSE(pool.take(10));
}

}  // namespace
}  // namespace croze
