// dependencies_test.cpp -- which commands wait for which: by hand, and whether all orders that the
// waits leave open compute what the order of the calls does.
#include "croze/backends/opencl/dependencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace croze::opencl {
namespace {

using Places = std::vector<std::size_t>;

struct Noting {
  Dependencies dependencies;
  std::size_t count = 0;

  Places add(const std::vector<Access>& accesses) {
    const Places before = dependencies.of(accesses);
    dependencies.note(count++, accesses);
    return before;
  }
};

const int a = 0, b = 0;  // two memories

TEST(OpenClDependencies, AReadWaitsForTheWriteOfItsBytes) {
  Noting n;
  EXPECT_EQ(n.add({{&a, 0, 8, true}}), Places());
  EXPECT_EQ(n.add({{&a, 8, 16, true}}), Places());
  EXPECT_EQ(n.add({{&a, 7, 9, false}}), Places({0, 1}));
  EXPECT_EQ(n.add({{&a, 8, 9, false}}), Places({1}));
  EXPECT_EQ(n.add({{&b, 0, 16, false}}), Places());
}

TEST(OpenClDependencies, AWriteWaitsForReadsAndStandsForThemFromThenOn) {
  Noting n;
  n.add({{&a, 0, 8, true}});
  n.add({{&a, 0, 8, false}});
  n.add({{&a, 4, 8, false}});
  EXPECT_EQ(n.add({{&a, 0, 8, true}}), Places({0, 1, 2}));
  EXPECT_EQ(n.add({{&a, 0, 8, false}}), Places({3}));
  EXPECT_EQ(n.add({{&a, 2, 3, true}}), Places({3, 4}));
}

TEST(OpenClDependencies, WhatReadsAndWritesOneMemoryDoesNotWaitForItself) {
  Noting n;
  EXPECT_EQ(n.add({{&a, 0, 8, true}, {&a, 0, 8, false}}), Places());
  EXPECT_EQ(n.add({{&a, 0, 8, true}, {&a, 0, 8, false}}), Places({0}));
  EXPECT_EQ(n.add({{nullptr, 0, 8, true}}), Places());
  EXPECT_EQ(n.add({{nullptr, 4, 5, false}}), Places({2}));
}

TEST(OpenClDependencies, NothingIsWaitedForWhenAllIsDone) {
  Noting n;
  n.add({{&a, 0, 8, true}});
  n.dependencies.forget();
  EXPECT_EQ(n.add({{&a, 0, 8, true}}), Places());
}

// A command of made-up work: what it writes depends on all that it reads.
struct Command {
  std::vector<Access> accesses;
  Places before;
};

void do_command(std::size_t number, const Command& c, std::vector<std::uint64_t>& memory) {
  std::uint64_t value = number + 1;
  const auto each = [&](bool writes, auto work) {
    for (const Access& x : c.accesses) {
      if (x.writes != writes) continue;
      for (auto i = x.begin; i < x.end; i++) work(memory[static_cast<std::size_t>(i)], i);
    }
  };
  each(false, [&](std::uint64_t& at, std::int64_t) { value = value * 31 + at; });
  each(true,
       [&](std::uint64_t& at, std::int64_t i) { at = value + static_cast<std::uint64_t>(i); });
}

TEST(OpenClDependencies, AnyOrderThatKeepsTheWaitsComputesTheSame) {
  constexpr std::int64_t bytes = 24;
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; turn++) {
    Noting n;
    std::vector<Command> commands;
    std::vector<std::uint64_t> expected(bytes);
    for (std::size_t k = 0; k < 20; k++) {
      Command& c = commands.emplace_back();
      for (int i = 0; i < 3; i++) {
        const auto begin = static_cast<std::int64_t>(random() % (bytes - 6));
        const auto length = static_cast<std::int64_t>(1 + random() % 6);
        c.accesses.push_back({&a, begin, begin + length, i == 0});
      }
      c.before = n.add(c.accesses);
      do_command(k, c, expected);
    }
    std::vector<std::uint64_t> memory(bytes);
    std::vector<bool> done(commands.size());
    for (std::size_t left = commands.size(); left > 0;) {
      const std::size_t k = random() % commands.size();
      const auto is_done = [&](std::size_t before) { return done[before]; };
      if (done[k] || !std::ranges::all_of(commands[k].before, is_done)) continue;
      do_command(k, commands[k], memory);
      done[k] = true;
      left--;
    }
    ASSERT_EQ(memory, expected) << turn;
  }
}

}  // namespace
}  // namespace croze::opencl
