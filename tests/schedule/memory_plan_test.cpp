// memory_plan_test.cpp -- temporaries alive at once do not overlap, and little space is lost.
#include "croze/schedule/memory/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "croze/backends/interp/interp_device.h"

namespace croze {
namespace {

constexpr std::int64_t alignment = 64;

const Caps& aligned_caps(int) {
  static const Caps caps = [] {
    Caps c = interp_caps();
    c.alignment = alignment;
    return c;
  }();
  return caps;
}

// Steps that each write one temporary and read a few earlier ones.
Schedule random_schedule(std::uint32_t seed, int steps, int devices) {
  std::mt19937 random(seed);
  Schedule schedule;
  for (int i = 0; i < steps; i++) {
    const auto size = static_cast<std::int64_t>(1 + random() % (random() % 3 == 0 ? 4096 : 64));
    schedule.buffers.push_back({.kind = ScheduleBuffer::Kind::Temporary,
                                .dtype = DType::Float32,
                                .elements = size,
                                .device = static_cast<int>(random() % devices)});
    ScheduleStep step;
    step.buffers.push_back(i);
    for (int reads = static_cast<int>(random() % 3); reads > 0 && i > 0; reads--) {
      const int back = 1 + static_cast<int>(random() % (random() % 5 == 0 ? 40 : 4));
      step.buffers.push_back(std::max(0, i - back));
    }
    schedule.steps.push_back(step);
    schedule.launches.push_back({i, i + 1});
  }
  return schedule;
}

struct Lifetime {
  int first = -1, last = -1;
};

std::vector<Lifetime> lifetimes(const Schedule& schedule) {
  std::vector<Lifetime> result(schedule.buffers.size());
  for (int i = 0; i < static_cast<int>(schedule.steps.size()); i++) {
    for (int b : schedule.steps[static_cast<std::size_t>(i)].buffers) {
      Lifetime& life = result[static_cast<std::size_t>(b)];
      if (life.first < 0) life.first = i;
      life.last = i;
    }
  }
  return result;
}

bool overlap(std::int64_t a, std::int64_t a_end, std::int64_t b, std::int64_t b_end) {
  return a < b_end && b < a_end;
}

TEST(MemoryPlan, TemporariesAliveAtOnceDoNotOverlap) {
  for (std::uint32_t seed = 1; seed <= 60; seed++) {
    Schedule schedule = random_schedule(seed, 120, 2);
    plan_memory(schedule, {aligned_caps, 0});
    const std::vector<Lifetime> lives = lifetimes(schedule);
    for (std::size_t i = 0; i < lives.size(); i++) {
      const ScheduleBuffer& a = schedule.buffers[i];
      ASSERT_EQ(a.arena_offset % alignment, 0);
      for (const ArenaPlan& arena : schedule.arenas) {
        const bool fits = a.arena_offset + a.bytes() <= arena.bytes;
        ASSERT_TRUE(fits || arena.device != a.device);
      }
      for (std::size_t j = i + 1; j < lives.size(); j++) {
        const ScheduleBuffer& b = schedule.buffers[j];
        if (a.device != b.device) continue;
        const bool at_once =
            overlap(lives[i].first, lives[i].last + 1, lives[j].first, lives[j].last + 1);
        const bool share = overlap(a.arena_offset, a.arena_offset + a.bytes(), b.arena_offset,
                                   b.arena_offset + b.bytes());
        ASSERT_FALSE(at_once && share) << "seed " << seed << ": " << i << " and " << j;
      }
    }
  }
}

TEST(MemoryPlan, TheLowerBoundIsTheMostAliveAtOnce) {
  Schedule schedule = random_schedule(7, 100, 1);
  plan_memory(schedule, {aligned_caps, 0});
  const std::vector<Lifetime> lives = lifetimes(schedule);
  std::int64_t most = 0;
  for (int step = 0; step < 100; step++) {
    std::int64_t alive = 0;
    for (std::size_t b = 0; b < lives.size(); b++) {
      if (lives[b].first > step || step > lives[b].last) continue;
      alive += (schedule.buffers[b].bytes() + alignment - 1) / alignment * alignment;
    }
    most = std::max(most, alive);
  }
  ASSERT_EQ(schedule.arenas.size(), 1u);
  EXPECT_EQ(schedule.arenas[0].lower_bound, most);
}

TEST(MemoryPlan, StaysNearTheLowerBound) {
  double ratio = 0;
  constexpr int seeds = 40;
  for (std::uint32_t seed = 1; seed <= seeds; seed++) {
    Schedule schedule = random_schedule(seed, 200, 1);
    plan_memory(schedule, {aligned_caps, 0});
    const ArenaPlan& arena = schedule.arenas.at(0);
    EXPECT_GE(arena.bytes, arena.lower_bound);
    ratio += static_cast<double>(arena.bytes) / static_cast<double>(arena.lower_bound) / seeds;
  }
  EXPECT_LT(ratio, 1.01);
}

TEST(MemoryPlan, ATemporaryThatNothingUsesTakesNoRoom) {
  Schedule schedule = random_schedule(3, 5, 1);
  schedule.buffers.push_back({.kind = ScheduleBuffer::Kind::Temporary,
                              .dtype = DType::Float32,
                              .elements = 1 << 20,
                              .device = 0});
  plan_memory(schedule, {aligned_caps, 0});
  EXPECT_LT(schedule.arenas.at(0).bytes, 1 << 20);
}

}  // namespace
}  // namespace croze
