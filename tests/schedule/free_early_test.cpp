// free_early_test.cpp -- steps that free memory move forward, none before what it waits for.
#include "croze/schedule/free_early.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "croze/schedule/liveness.h"

namespace croze {
namespace {

constexpr std::int64_t large = 4096, small = 4;  // elements

// Steps and their buffers, written down one by one.  Each step writes a buffer of its own.
struct Steps {
  Schedule schedule;
  StepOrder order;

  // A step that waits for the ones whose results it reads, and its number.
  int add(std::int64_t elements, std::vector<int> reads,
          ScheduleBuffer::Kind kind = ScheduleBuffer::Kind::Temporary) {
    const int step = static_cast<int>(order.steps.size());
    schedule.buffers.push_back({.kind = kind, .dtype = DType::Float32, .elements = elements});
    ScheduleStep made;
    made.buffers = {step};
    made.buffers.insert(made.buffers.end(), reads.begin(), reads.end());
    order.steps.push_back({made});
    order.waits_for.push_back(std::move(reads));
    return step;
  }

  StepOrder early() const { return free_early(order, schedule); }
  std::int64_t most_bytes(const StepOrder& o) const { return most_bytes_alive(o, schedule); }
};

// The steps in their new places, by the buffers that they write.
std::vector<int> written(const StepOrder& order) {
  std::vector<int> buffers;
  for (const auto& steps : order.steps) buffers.push_back(steps[0].buffers[0]);
  return buffers;
}

// Gradients that pass from layer to layer, each of which the update of a weight reads too: the
// updates, which nobody waits for, would come last.
TEST(FreeEarly, AnUpdateFollowsItsGradient) {
  Steps s;
  std::vector<int> gradients{s.add(large, {})};
  for (int layer = 1; layer < 4; layer++) gradients.push_back(s.add(large, {gradients.back()}));
  for (int g : gradients) s.add(small, {g}, ScheduleBuffer::Kind::Output);
  EXPECT_EQ(s.most_bytes(s.order), 4 * large * 4);
  const StepOrder early = s.early();
  EXPECT_EQ(s.most_bytes(early), 2 * large * 4);
  EXPECT_EQ(written(early), (std::vector<int>{0, 1, 4, 2, 5, 3, 6, 7}));
}

TEST(FreeEarly, AnOrderThatIsAsGoodStays) {
  Steps s;
  const int a = s.add(large, {}), b = s.add(large, {a});
  s.add(small, {b}, ScheduleBuffer::Kind::Output);
  s.add(small, {}, ScheduleBuffer::Kind::Output);
  EXPECT_EQ(written(s.early()), written(s.order));
}

// The last step leaves less behind than it found, but it needs room for its result while `kept` is
// still alive if it runs before the one that ends that.
TEST(FreeEarly, TheOrderStaysIfAStepWouldNeedRoomTooEarly) {
  Steps s;
  const int kept = s.add(2 * large, {}), wide = s.add(3 * large, {}), first = s.add(small, {});
  s.add(small, {kept, first}, ScheduleBuffer::Kind::Output);
  const int narrow = s.add(2 * large, {wide});
  EXPECT_EQ(written(s.early()), written(s.order));
  s.add(small, {narrow}, ScheduleBuffer::Kind::Output);
  EXPECT_EQ(written(s.early()), written(s.order));
}

TEST(FreeEarly, StepsWaitForTheSameAsBeforeAndNoMoreIsAlive) {
  int moved = 0;
  for (std::uint32_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Steps s;
    for (int i = 0; i < 60; i++) {
      std::vector<int> reads;
      for (std::uint32_t n = random() % 4; n > 0 && i > 0; n--) {
        reads.push_back(static_cast<int>(random() % static_cast<std::uint32_t>(i)));
      }
      const bool wanted = random() % 5 == 0;
      s.add(1 + random() % large, reads,
            wanted ? ScheduleBuffer::Kind::Output : ScheduleBuffer::Kind::Temporary);
    }
    const StepOrder early = s.early();
    EXPECT_LE(s.most_bytes(early), s.most_bytes(s.order));
    const std::vector<int> steps = written(early);
    ASSERT_TRUE(std::ranges::is_permutation(steps, written(s.order)));
    moved += steps != written(s.order);
    for (std::size_t i = 0; i < steps.size(); i++) {
      std::vector<int> waits;
      for (int w : early.waits_for[i]) {
        ASSERT_LT(w, static_cast<int>(i));
        waits.push_back(steps[static_cast<std::size_t>(w)]);
      }
      EXPECT_EQ(waits, s.order.waits_for[static_cast<std::size_t>(steps[i])]);
    }
  }
  EXPECT_GT(moved, 100);
}

// The most alive at once, counted without any of what Liveness remembers.
TEST(Liveness, CountsWhatIsUsedNowAndWasOrWillBeUsed) {
  std::mt19937 random(3);
  Steps s;
  for (int i = 0; i < 100; i++) {
    const int back = 1 + static_cast<int>(random() % 9);
    s.add(1 + random() % large, {std::max(0, i - back), std::max(0, i - 1)});
    s.order.steps.back()[0].buffers.push_back(i);  // named twice
  }
  std::int64_t most = 0;
  for (int now = 0; now < 100; now++) {
    std::int64_t alive = 0;
    for (int b = 0; b <= now; b++) {
      int last = b;
      for (int step = b; step < 100; step++) {
        const auto& buffers = s.order.steps[static_cast<std::size_t>(step)][0].buffers;
        if (std::ranges::find(buffers, b) != buffers.end()) last = step;
      }
      alive += last >= now ? s.schedule.buffers[static_cast<std::size_t>(b)].bytes() : 0;
    }
    most = std::max(most, alive);
  }
  EXPECT_EQ(s.most_bytes(s.order), most);
}

}  // namespace
}  // namespace croze
