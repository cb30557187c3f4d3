// packing_test.cpp -- pieces needed at one time do not overlap, and hardly any space is lost.
#include "croze/schedule/memory/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace croze {
namespace {

constexpr std::int64_t alignment = 64;

std::int64_t rounded(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// Few large pieces and many small ones, most of them short-lived.
std::vector<Lifetime> random_pieces(std::uint32_t seed, int count, int times) {
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % limit); };
  std::vector<Lifetime> pieces;
  for (int i = 0; i < count; i++) {
    const int first = below(times);
    const int duration = below(4) == 0 ? below(times) : below(4);
    const std::int64_t bytes = below(50) == 0 ? 0 : 1 + below(below(3) == 0 ? 20'000 : 300);
    pieces.push_back({first, std::min(times - 1, first + duration), bytes});
  }
  return pieces;
}

std::int64_t most_at_once(const std::vector<Lifetime>& pieces, int times) {
  std::int64_t most = 0;
  for (int t = 0; t < times; t++) {
    std::int64_t alive = 0;
    for (const Lifetime& b : pieces) alive += b.first <= t && t <= b.last ? rounded(b.bytes) : 0;
    most = std::max(most, alive);
  }
  return most;
}

void expect_valid(const std::vector<Lifetime>& pieces, const Packing& packing) {
  ASSERT_EQ(packing.offsets.size(), pieces.size());
  std::int64_t end = 0, sum = 0;
  for (std::size_t i = 0; i < pieces.size(); i++) {
    const Lifetime& a = pieces[i];
    const std::int64_t at = packing.offsets[i];
    ASSERT_GE(at, 0);
    ASSERT_EQ(at % alignment, 0);
    end = std::max(end, at + rounded(a.bytes));
    sum += rounded(a.bytes);
    for (std::size_t j = 0; j < i; j++) {
      const Lifetime& b = pieces[j];
      const bool at_once = a.first <= b.last && b.first <= a.last;
      const bool share = at < packing.offsets[j] + b.bytes && packing.offsets[j] < at + a.bytes;
      ASSERT_FALSE(at_once && share && a.bytes > 0 && b.bytes > 0) << i << " and " << j;
    }
  }
  EXPECT_EQ(packing.bytes, end);
  EXPECT_LE(packing.bytes, sum);
  EXPECT_GE(packing.bytes, packing.lower_bound);
}

TEST(Packing, BlocksNeededAtOneTimeDoNotOverlap) {
  for (std::uint32_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const int count = 1 + static_cast<int>(seed) * 2, times = 1 + static_cast<int>(seed % 60);
    const std::vector<Lifetime> pieces = random_pieces(seed, count, times);
    const Packing packing = pack(pieces, alignment);
    expect_valid(pieces, packing);
    EXPECT_EQ(packing.lower_bound, most_at_once(pieces, times));
  }
}

TEST(Packing, StaysNearTheLowerBound) {
  double logarithms = 0;
  constexpr int seeds = 40;
  for (std::uint32_t seed = 1; seed <= seeds; seed++) {
    const Packing packing = pack(random_pieces(seed, 300, 100), alignment);
    logarithms +=
        std::log(static_cast<double>(packing.bytes) / static_cast<double>(packing.lower_bound));
  }
  EXPECT_LT(std::exp(logarithms / seeds), 1.01);
}

// A place taken as soon as a piece appears would lie between the two that go before the third
// comes.
TEST(Packing, WhatGoesTogetherLiesTogether) {
  const std::vector<Lifetime> pieces{{0, 1, 64}, {0, 3, 64}, {1, 1, 64}, {2, 3, 128}};
  const Packing packing = pack(pieces, alignment);
  expect_valid(pieces, packing);
  EXPECT_EQ(packing.bytes, 3 * 64);
}

TEST(Packing, IsTheSameEachTime) {
  const std::vector<Lifetime> pieces = random_pieces(5, 500, 40);
  EXPECT_EQ(pack(pieces, alignment).offsets, pack(pieces, alignment).offsets);
}

TEST(Packing, OneBlockAndNoneArePacked) {
  EXPECT_EQ(pack({}, alignment).bytes, 0);
  const std::vector<Lifetime> one{{3, 3, 100}};
  EXPECT_EQ(pack(one, alignment).offsets, std::vector<std::int64_t>{0});
  EXPECT_EQ(pack(one, alignment).bytes, 128);
}

// Every piece within the life of the one before it, with a hole on either side.
TEST(Packing, NestedLivesAreStacked) {
  std::vector<Lifetime> pieces;
  for (int i = 0; i < 2000; i++) pieces.push_back({i, 4000 - i, 64 * (1 + i % 7)});
  const Packing packing = pack(pieces, alignment);
  expect_valid(pieces, packing);
  EXPECT_EQ(packing.bytes, packing.lower_bound);
}

}  // namespace
}  // namespace croze
