#include "croze/base/zero_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "support/errors.h"

namespace croze {
namespace {

// Pages of these that take memory.
std::size_t present(void* start, std::size_t bytes) {
  std::vector<unsigned char> state(bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(mincore(start, bytes, state.data()), 0);
  std::size_t count = 0;
  for (unsigned char page : state) count += page & 1;
  return count;
}

TEST(ZeroPages, AreZeroAndTakeMemoryWhereTheyAreWritten) {
  constexpr std::size_t bytes = 1 << 20;
  const std::shared_ptr<void> pages = zero_pages(bytes);
  EXPECT_EQ(present(pages.get(), bytes), 0u);
  auto* memory = static_cast<std::byte*>(pages.get());
  EXPECT_EQ(memory[bytes - 1], std::byte{0});
  memory[5] = std::byte{1};
  EXPECT_GE(present(pages.get(), bytes), 1u);
}

TEST(ZeroPages, ThatTheAddressSpaceHasNoRoomForAreAnError) {
  EXPECT_NE(test::error_of([] {
              zero_pages(std::numeric_limits<std::int64_t>::max() / 2);
            }).find("no room for"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
