// The memory that croze's own library of LLVM gets small pieces from; the tests have it compiled
// into them.
#include "croze/device/llvm/small_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace croze::small_blocks {
namespace {

struct Piece {
  unsigned char* at;
  std::size_t bytes;
  unsigned char filled_with;
};

bool is_untouched(const Piece& p) {
  for (std::size_t i = 0; i < p.bytes; i++) {
    if (p.at[i] != p.filled_with) return false;
  }
  return true;
}

Piece make_piece(std::mt19937& random) {
  const std::size_t bytes = random() % (random() % 4 == 0 ? most_bytes + 1 : 300);
  const Piece result{static_cast<unsigned char*>(allocate(bytes)), bytes,
                     static_cast<unsigned char>(random())};
  if (result.at) std::memset(result.at, result.filled_with, bytes);
  return result;
}

TEST(SmallBlocks, HoldWhatIsAskedForAndAreAligned) {
  for (std::size_t bytes = 0; bytes <= most_bytes; bytes++) {
    void* const block = allocate(bytes);
    ASSERT_NE(block, nullptr);
    ASSERT_TRUE(owns(block));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t), 0U);
    ASSERT_GE(bytes_of(block), bytes);
    ASSERT_LE(bytes_of(block), bytes + bytes / 8 + 16) << bytes;
    std::memset(block, 1, bytes_of(block));
    release(block);
    ASSERT_EQ(allocate(bytes), block);  // the last one of its size comes again
    release(block);
  }
}

TEST(SmallBlocks, OwnNothingElse) {
  int here = 0;
  const std::vector<int> there(1);
  EXPECT_FALSE(owns(nullptr));
  EXPECT_FALSE(owns(&here));
  EXPECT_FALSE(owns(there.data()));
}

TEST(SmallBlocks, AreApartWhileTheyAreAlive) {
  std::mt19937 random(7);
  std::vector<Piece> alive;
  for (int i = 0; i < 20000; i++) {
    if (alive.empty() || random() % 5 < 3) {
      alive.push_back(make_piece(random));
      ASSERT_NE(alive.back().at, nullptr);
      continue;
    }
    std::swap(alive[random() % alive.size()], alive.back());
    ASSERT_TRUE(is_untouched(alive.back()));
    release(alive.back().at);
    alive.pop_back();
  }
  for (const Piece& p : alive) {
    ASSERT_TRUE(is_untouched(p));
    release(p.at);
  }
}

TEST(SmallBlocks, MayBeReleasedByAnotherThread) {
  constexpr int threads = 4, rounds = 50;
  std::vector<Piece> handed_on[threads];
  for (int round = 0; round < rounds; round++) {
    std::vector<std::thread> running;
    for (int t = 0; t < threads; t++) {
      running.emplace_back([&pieces = handed_on[t], seed = round * threads + t] {
        std::mt19937 random(static_cast<unsigned>(seed));
        for (const Piece& p : pieces) {
          EXPECT_TRUE(is_untouched(p));
          release(p.at);
        }
        pieces.clear();
        for (int i = 0; i < 500; i++) pieces.push_back(make_piece(random));
      });
    }
    for (std::thread& t : running) t.join();
    std::set<unsigned char*> places;
    for (const auto& pieces : handed_on) {
      for (const Piece& p : pieces) ASSERT_TRUE(places.insert(p.at).second);
    }
    std::rotate(std::begin(handed_on), std::begin(handed_on) + 1, std::end(handed_on));
  }
}

TEST(SmallBlocks, OfThreadsThatEndedAreUsedAgain) {
  void* of_first = nullptr;
  std::thread([&] { release(of_first = allocate(most_bytes)); }).join();
  bool comes_again = false;
  std::thread([&] { comes_again = allocate(most_bytes) == of_first; }).join();
  EXPECT_TRUE(comes_again);
}

}  // namespace
}  // namespace croze::small_blocks
