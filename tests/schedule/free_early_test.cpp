// free_early_test.cpp -- steps that free memory move forward, none before what it waits for.
#include "croze/schedule/free_early.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "schedule/written_steps.h"

namespace croze {
namespace {

struct Steps : WrittenSteps {
  StepOrder early() const { return free_early(order, schedule); }
};

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
    const Steps s{random_steps(seed)};
    const StepOrder early = s.early();
    EXPECT_LE(s.most_bytes(early), s.most_bytes(s.order));
    moved += written(early) != written(s.order);
    s.expect_same_waits(early);
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
