#include "croze/log/progress.h"

#include <gtest/gtest.h>

namespace croze::logs {
namespace {

TEST(Progress, SaysHowFarTheLoopIsAndWhatIsLeft) {
  EXPECT_EQ(progress_text("epoch 1/4", 50, 200, 10, "loss 0.31"),
            "epoch 1/4 ━━━━━━──────────────────  25%  5.0/s  30 s left  loss 0.31");
  EXPECT_EQ(progress_text("epoch", 4, 4, 2, ""), "epoch ━━━━━━━━━━━━━━━━━━━━━━━━ 100%  2.0/s");
  EXPECT_EQ(progress_text("read", 12, 0, 2, "a"), "read 12 steps  6.0/s  a");
  EXPECT_EQ(progress_text("read", 1, 1000, 1, ""),
            "read ━───────────────────────   0%  1.0/s  16:39 left");
  EXPECT_EQ(progress_text("read", 1, 7385, 1, ""),
            "read ━───────────────────────   0%  1.0/s  2:03:04 left");
}

TEST(Progress, OfMoreStepsThanWereToldIsFull) {
  EXPECT_EQ(progress_text("e", 9, 4, 0, ""), "e ━━━━━━━━━━━━━━━━━━━━━━━━ 100%");
}

}  // namespace
}  // namespace croze::logs
