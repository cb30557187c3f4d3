// memory_test.cpp -- pieces of chunks: that they do not overlap, come back, and are joined.
#include "croze/backends/vulkan/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "croze/base/error.h"

namespace croze::test {
namespace {

using namespace vulkan;

class VulkanMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (drivers().devices.empty()) GTEST_SKIP() << "no driver of Vulkan here";
    context = std::make_unique<Context>(*drivers().library, drivers().devices[0], "VULKAN");
    memory = std::make_unique<MemoryChunks>(*context);
  }

  static const Drivers& drivers() {
    static const Drivers& found = *new Drivers(look_for_drivers(Library::load()));
    return found;
  }

  std::unique_ptr<Context> context;
  std::unique_ptr<MemoryChunks> memory;
};

TEST_F(VulkanMemory, PiecesThatAreOutDoNotOverlap) {
  std::mt19937 random(1);
  std::vector<Block*> out;
  for (int turn = 0; turn < 2000; turn++) {
    if (out.size() > 60 || (!out.empty() && random() % 2)) {
      const std::size_t k = random() % out.size();
      memory->release(out[k], 0);
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(k));
      continue;
    }
    Block* const fresh = memory->allocate(random() % 5 ? random() % 3000 : random() % 3'000'000);
    ASSERT_NE(fresh, nullptr);
    EXPECT_EQ(fresh->address() % 256, 0u);
    for (const Block* other : out) {
      const bool apart = fresh->chunk != other->chunk ||
                         fresh->offset + fresh->bytes <= other->offset ||
                         other->offset + other->bytes <= fresh->offset;
      ASSERT_TRUE(apart);
    }
    out.push_back(fresh);
  }
  for (Block* block : out) memory->release(block, 0);
  memory->give_back();
  EXPECT_EQ(memory->held_bytes(), 0);
}

TEST_F(VulkanMemory, WhatHasComeBackIsGivenAgain) {
  Block* const first = memory->allocate(1000);
  const auto address = first->address();
  memory->release(first, 7);
  Block* const second = memory->allocate(900);
  EXPECT_EQ(second->address(), address);
  EXPECT_EQ(second->free_after, 7u);
  memory->release(second, 7);
}

TEST_F(VulkanMemory, WhatIsLargerThanAChunkHasOneOfItsSize) {
  Block* const large = memory->allocate(100 << 20);
  EXPECT_EQ(memory->held_bytes(), 100 << 20);
  memory->release(large, 0);
}

TEST_F(VulkanMemory, MoreThanTheDeviceGivesAtOnceIsAnErrorThatNamesIt) {
  try {
    memory->allocate(std::int64_t{1} << 50);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("VULKAN: cannot allocate"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace croze::test
