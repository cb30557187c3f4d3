// The cache that threads share: made once, made at once, waited for, dropped by age.
#include "croze/base/shared_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace croze {
namespace {

using Cache = SharedCache<std::string>;
constexpr Cache::Limits no_limits = {.values = 1'000'000, .weight = 1'000'000};

Cache::Pointer made(std::string text) { return std::make_shared<std::string>(std::move(text)); }

void in_threads(int count, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

TEST(SharedCache, AValueIsMadeOnceHoweverManyWantIt) {
  Cache cache(no_limits);
  std::atomic<int> makers = 0;
  std::vector<Cache::Pointer> got(8);
  in_threads(8, [&](int i) {
    got[static_cast<std::size_t>(i)] = cache.get("key", [&](std::int64_t&) {
      makers++;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return made("value");
    });
  });
  EXPECT_EQ(makers, 1);
  for (const Cache::Pointer& p : got) EXPECT_EQ(p, got[0]);
}

// Each maker waits for all others: this ends only if all are at work at once.
TEST(SharedCache, ValuesOfDifferentKeysAreMadeAtOnce) {
  Cache cache(no_limits);
  std::barrier all(4);
  in_threads(4, [&](int i) {
    const std::string key = std::to_string(i);
    const auto value = cache.get(key, [&](std::int64_t&) {
      all.arrive_and_wait();
      return made(key + "!");
    });
    EXPECT_EQ(*value, key + "!");
  });
}

TEST(SharedCache, TheExceptionOfTheMakerReachesAllWhoWaitAndTheNextTriesAgain) {
  Cache cache(no_limits);
  Cache::Claim maker = cache.claim("key");
  ASSERT_TRUE(maker.must_make());
  std::thread waiting([&] {
    const Cache::Claim claim = cache.claim("key");
    EXPECT_FALSE(claim.must_make());
    EXPECT_THROW(claim.wait(), std::runtime_error);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  maker.fail(std::make_exception_ptr(std::runtime_error("no")));
  waiting.join();
  EXPECT_THROW(maker.wait(), std::runtime_error);
  EXPECT_EQ(*cache.get("key", [](std::int64_t&) { return made("later"); }), "later");
}

TEST(SharedCache, AMakerThatLeavesIsAFailure) {
  Cache cache(no_limits);
  auto maker = std::make_unique<Cache::Claim>(cache.claim("key"));
  const Cache::Claim waiting = cache.claim("key");
  maker.reset();
  EXPECT_THROW(waiting.wait(), InternalError);
}

TEST(SharedCache, TheLeastRecentlyUsedGoFirstOneByOne) {
  Cache cache({.values = 3, .weight = 100});
  const auto make = [](std::int64_t&) { return made(""); };
  for (const char* key : {"a", "b", "c"}) cache.get(key, make);
  EXPECT_TRUE(cache.find("a"));  // now b is the oldest
  cache.get("d", make);
  EXPECT_FALSE(cache.find("b"));
  for (const char* key : {"a", "c", "d"}) EXPECT_TRUE(cache.find(key)) << key;
}

TEST(SharedCache, WeightIsBoundedAndTheNewestIsKeptWhateverItWeighs) {
  Cache cache({.values = 10, .weight = 10});
  const auto weighing = [](std::int64_t w) {
    return [w](std::int64_t& weight) {
      weight = w;
      return made("");
    };
  };
  cache.get("a", weighing(4));
  cache.get("b", weighing(4));
  cache.get("c", weighing(4));
  EXPECT_FALSE(cache.find("a"));
  EXPECT_TRUE(cache.find("b"));
  cache.get("d", weighing(50));
  EXPECT_FALSE(cache.find("c"));
  EXPECT_TRUE(cache.find("d"));
}

TEST(SharedCache, WhatIsBeingMadeIsNeitherDroppedNorFound) {
  Cache cache({.values = 1, .weight = 10});
  Cache::Claim maker = cache.claim("slow");
  EXPECT_FALSE(cache.find("slow"));
  for (const char* key : {"a", "b"}) cache.get(key, [](std::int64_t&) { return made(""); });
  cache.clear();
  const Cache::Claim waiting = cache.claim("slow");
  EXPECT_FALSE(waiting.must_make());
  maker.put(made("here"), 1);
  EXPECT_EQ(*waiting.wait(), "here");
}

}  // namespace
}  // namespace croze
