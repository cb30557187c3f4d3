// schedule_bytes_test.cpp -- schedules come back from their bytes as they were, and what is no
// schedule is refused.
#include "croze/schedule/schedule_bytes.h"

#include <random>

#include "croze/base/error.h"
#include "scheduled.h"

namespace croze::test {
namespace {

// Rows that are normalized in place, and a product of them: a sequence of blocks, a temporary, an
// assignment and two results.
Schedule made(Scheduled& s) {
  const UOp state = s.buffer({64, 64}), weights = s.buffer({64, 64});
  const UOp sums = s.expand(s.reshape(s.reduce(Op::Add, state, {1}), {64, 1}), {64, 64});
  const UOp rows = s.contiguous(state / (sums + 1));
  const UOp product = s.reduce(Op::Add,
                               s.expand(s.reshape(rows, {64, 64, 1}), {64, 64, 64}) *
                                   s.expand(s.reshape(weights, {1, 64, 64}), {64, 64, 64}),
                               {1});
  return s.schedule({product, s.assign(state, state, rows * 2), s.flip(rows, {0})});
}

// That of the graph above: two buffers, and the devices of Scheduled.
ScheduleFrame frame_of(const Schedule& schedule) {
  return {.inputs = 2, .roots = 3, .variables = 0, .device = schedule.buffers.at(0).device};
}

TEST(ScheduleBytes, HoldAllOfASchedule) {
  Scheduled s;
  const Schedule schedule = made(s);
  const std::string bytes = schedule_to_bytes(schedule);
  const Schedule again = schedule_from_bytes(bytes, frame_of(schedule));
  EXPECT_EQ(schedule_to_bytes(again), bytes);
  ASSERT_EQ(again.steps.size(), schedule.steps.size());
  for (std::size_t i = 0; i < again.steps.size(); i++) {
    ASSERT_EQ(!again.steps[i].kernel, !schedule.steps[i].kernel);
    if (again.steps[i].kernel) {
      EXPECT_EQ(again.steps[i].kernel->key, schedule.steps[i].kernel->key);
    }
    EXPECT_EQ(again.steps[i].buffers, schedule.steps[i].buffers);
  }
  EXPECT_EQ(again.results, schedule.results);
  EXPECT_EQ(again.launches.size(), schedule.launches.size());
}

TEST(ScheduleBytes, AreRefusedForAnotherGraph) {
  Scheduled s;
  const Schedule schedule = made(s);
  const std::string bytes = schedule_to_bytes(schedule);
  ScheduleFrame frame = frame_of(schedule);
  frame.inputs = 1;
  EXPECT_THROW(schedule_from_bytes(bytes, frame), Error);
  frame = frame_of(schedule);
  frame.roots = 4;
  EXPECT_THROW(schedule_from_bytes(bytes, frame), Error);
  frame = frame_of(schedule);
  frame.device++;
  EXPECT_THROW(schedule_from_bytes(bytes, frame), Error);
}

TEST(ScheduleBytes, AreRefusedWhereTheyEndEarlyOrGoOn) {
  Scheduled s;
  const Schedule schedule = made(s);
  const std::string bytes = schedule_to_bytes(schedule);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 64) {
    EXPECT_THROW(schedule_from_bytes(bytes.substr(0, size), frame_of(schedule)), std::exception)
        << size;
  }
  EXPECT_THROW(schedule_from_bytes(bytes + '\0', frame_of(schedule)), Error);
}

// Whatever a byte becomes, all places of a schedule that is taken are there.
TEST(ScheduleBytes, NameNothingThatIsNotThereWhenDamaged) {
  Scheduled s;
  const Schedule schedule = made(s);
  const std::string bytes = schedule_to_bytes(schedule);
  constexpr unsigned seed = 5;
  std::mt19937 random(seed);
  int taken = 0;
  for (int i = 0; i < 2000; i++) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    try {
      const Schedule got = schedule_from_bytes(damaged, frame_of(schedule));
      taken++;
      for (const ScheduleStep& step : got.steps) {
        for (int b : step.buffers) ASSERT_LT(static_cast<std::size_t>(b), got.buffers.size());
      }
    } catch (const std::exception&) {
      // Refused.
    }
  }
  EXPECT_LT(taken, 2000) << "seed " << seed;
}

}  // namespace
}  // namespace croze::test
