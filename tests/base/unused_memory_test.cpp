// Freed memory goes back to the system.
#include "croze/base/unused_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/memory.h"
#include "support/sanitizers.h"

namespace croze {
namespace {

// A sanitizer has the place of malloc, and keeps what is freed.
#if defined(__GLIBC__) && !CROZE_ASAN && !CROZE_TSAN

// Blocks so small that they are not mapped by themselves, below one that stays.
TEST(UnusedMemory, GoesBackFromBelowWhatIsUsed) {
  constexpr std::size_t block = 16 << 10, count = 4096;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (std::size_t i = 0; i < count; i++) blocks.push_back(std::make_unique<char[]>(block));
  const std::unique_ptr<char[]> above = std::make_unique<char[]>(block);
  blocks.clear();
  const std::int64_t before = test::resident_bytes();
  return_unused_memory();
  EXPECT_LT(test::resident_bytes(), before - static_cast<std::int64_t>(block * count / 2));
}

#endif

}  // namespace
}  // namespace croze
