// SmallVector, FlatMap, FlatSet, Arena and the hash, against the standard containers.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "croze/base/arena.h"
#include "croze/base/flat_map.h"
#include "croze/base/hash.h"
#include "croze/base/small_vector.h"

namespace croze {
namespace {

using Vector = SmallVector<int64_t, 4>;

std::vector<int64_t> standard(const Vector& v) { return {v.begin(), v.end()}; }

TEST(SmallVector, AgreesWithStdVectorOnRandomOperations) {
  std::mt19937 random(1);
  Vector small;
  std::vector<int64_t> large;
  for (int step = 0; step < 20000; ++step) {
    int64_t value = random();
    int64_t at = large.empty() ? 0 : value % static_cast<int64_t>(large.size());
    switch (random() % 7) {
      case 0: small.push_back(value), large.push_back(value); break;
      case 1:
        small.insert(small.begin() + at, value), large.insert(large.begin() + at, value);
        break;
      case 2:
        if (!large.empty()) small.erase(small.begin() + at), large.erase(large.begin() + at);
        break;
      case 3: small.resize(at + 2, 7), large.resize(static_cast<size_t>(at + 2), 7); break;
      case 4: {
        Vector moved = std::move(small);
        EXPECT_TRUE(small.empty());
        small = std::move(moved);
        break;
      }
      case 5: {
        Vector copy(small);
        EXPECT_EQ(copy, small);
        small.clear();
        small = copy;
        break;
      }
      case 6:
        if (large.size() > 20) small.clear(), large.clear();
        break;
    }
    ASSERT_EQ(standard(small), large);
  }
}

TEST(SmallVector, KeepsFewElementsInsideItself) {
  Vector v{1, 2, 3, 4};
  const char* self = reinterpret_cast<const char*>(&v);
  const char* elements = reinterpret_cast<const char*>(v.data());
  EXPECT_TRUE(self <= elements && elements < self + sizeof(v));
  v.push_back(v.front());
  EXPECT_EQ(standard(v), (std::vector<int64_t>{1, 2, 3, 4, 1}));
  EXPECT_LT((Vector{1, 2}), (Vector{1, 3}));
  EXPECT_LT((Vector{1, 2}), (Vector{1, 2, 0}));
  std::span<const int64_t> view = v;
  EXPECT_EQ(view.size(), 5u);
}

TEST(FlatMap, AgreesWithStdMapOnRandomOperations) {
  std::mt19937_64 random(2);
  FlatMap<int64_t, int> flat;
  std::map<int64_t, int> tree;
  for (int step = 0; step < 200000; ++step) {
    int64_t key = static_cast<int64_t>(random() % 3000) * 4096;
    int value = static_cast<int>(random() % 1000);
    switch (random() % 4) {
      case 0: EXPECT_EQ(flat.insert(key, value).second, tree.emplace(key, value).second); break;
      case 1: flat[key] = tree[key] = value; break;
      case 2: EXPECT_EQ(flat.erase(key), tree.erase(key) == 1); break;
      case 3: {
        auto found = tree.find(key);
        const int* mine = flat.find(key);
        ASSERT_EQ(mine != nullptr, found != tree.end());
        if (mine) {
          EXPECT_EQ(*mine, found->second);
        }
      }
    }
    ASSERT_EQ(flat.size(), static_cast<int64_t>(tree.size()));
  }
  std::map<int64_t, int> copy;
  for (const auto& [key, value] : flat) copy.emplace(key, value);
  EXPECT_EQ(copy, tree);
}

TEST(FlatMap, IteratesInTheOrderOfInsertion) {
  FlatMap<const char*, std::unique_ptr<int>> map;
  const char text[] = "abcdefghijklmnopqrstuvwxyz";
  for (int i = 25; i >= 0; --i) map.insert(text + i, std::make_unique<int>(i));
  int expected = 25;
  for (const auto& [key, value] : map) {
    EXPECT_EQ(*value, expected);
    EXPECT_EQ(key, text + expected--);
  }
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(map.contains(text));
}

TEST(FlatSet, AgreesWithStdSetOnRandomOperations) {
  std::mt19937 random(3);
  FlatSet<uint32_t> flat;
  std::set<uint32_t> tree;
  for (int step = 0; step < 100000; ++step) {
    uint32_t key = static_cast<uint32_t>(random() % 500);
    if (random() % 2) {
      EXPECT_EQ(flat.insert(key), tree.insert(key).second);
    } else {
      EXPECT_EQ(flat.erase(key), tree.erase(key) == 1);
    }
    EXPECT_EQ(flat.contains(key), tree.contains(key));
  }
  EXPECT_EQ(std::set<uint32_t>(flat.begin(), flat.end()), tree);
}

TEST(Hash, EveryInputBitMovesAboutHalfOfTheOutput) {
  std::mt19937_64 random(4);
  for (int bit = 0; bit < 64; ++bit) {
    int flipped = 0;
    for (int i = 0; i < 1000; ++i) {
      uint64_t value = random();
      flipped += std::popcount(hash_word(value) ^ hash_word(value ^ uint64_t{1} << bit));
    }
    EXPECT_NEAR(flipped / 1000.0, 32.0, 2.0) << "input bit " << bit;
  }
}

TEST(Hash, BytesDifferByContentLengthAndSeed) {
  std::unordered_set<uint64_t> seen;
  std::string zeros(40, '\0');
  for (size_t length = 0; length <= zeros.size(); ++length) {
    seen.insert(hash_bytes(std::string_view(zeros).substr(0, length)));
    seen.insert(hash_bytes(std::string_view(zeros).substr(0, length), 1));
  }
  EXPECT_EQ(seen.size(), 82u);
  EXPECT_EQ(hash_bytes("croze"), hash_bytes(std::string("croze")));
}

TEST(Arena, FindsItsOwnerFromAnyObject) {
  int owners[2];
  Arena first(&owners[0]), second(&owners[1]);
  std::mt19937 random(5);
  std::vector<std::pair<int64_t*, void*>> objects;
  for (int i = 0; i < 20000; ++i) {
    Arena& arena = i % 2 ? first : second;
    int64_t count = i % 1000 == 0 ? 50000 : 1 + random() % 40;
    int64_t* object = arena.allocate_array<int64_t>(count);
    std::fill(object, object + count, i);
    objects.emplace_back(object, &owners[i % 2 ? 0 : 1]);
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(*objects[i].first, static_cast<int64_t>(i));
    EXPECT_EQ(Arena::owner_of(objects[i].first), objects[i].second);
  }
  EXPECT_GE(first.bytes_reserved(), first.bytes_used());
  first.clear();
  EXPECT_EQ(first.bytes_reserved(), 0);
  EXPECT_EQ(*first.create<int>(42), 42);
}

TEST(Arena, KeepsAlignment) {
  Arena arena(nullptr);
  for (int64_t alignment = 1; alignment <= 64; alignment *= 2) {
    arena.allocate(1, 1);
    for (int64_t bytes : {8, 100000}) {
      auto address = reinterpret_cast<uintptr_t>(arena.allocate(bytes, alignment));
      EXPECT_EQ(address % static_cast<uintptr_t>(alignment), 0u);
    }
  }
}

}  // namespace
}  // namespace croze
