// Memory of the host: what vectors may reach over lies in pages that were touched, and large memory
// in huge pages.
#include "croze/device/host_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace croze {
namespace {

bool is_resident(const std::byte* address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  unsigned char state = 0;
  return mincore(reinterpret_cast<void*>(where / page * page), 1, &state) == 0 && (state & 1);
}

// A masked access to a page that nobody has touched costs hundreds of cycles, each time again.
TEST(HostMemory, IsSurroundedByPagesThatWereTouched) {
  constexpr std::int64_t page = 4096, vector = 64;
  for (const std::int64_t bytes : {std::int64_t{0}, page, 64 * page, 8192 * page}) {
    const Memory memory = allocate_host(bytes, page, "a test");
    const auto* begin = static_cast<const std::byte*>(memory.handle);
    EXPECT_TRUE(is_resident(begin - 1)) << bytes;
    EXPECT_TRUE(is_resident(begin + bytes + vector - 1)) << bytes;
    release_host(memory);
  }
}

TEST(HostMemory, OfHugePagesBeginsAtOne) {
  constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20;
  for (const std::uintptr_t pages : {1, 2, 5}) {
    const auto bytes = static_cast<std::int64_t>(pages * huge_page + pages % 2);
    const Memory memory = allocate_host(bytes, 64, "a test");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.handle) % huge_page, 0u) << bytes;
    EXPECT_EQ(host_capacity(memory), bytes);
    release_host(memory);
  }
}

}  // namespace
}  // namespace croze
