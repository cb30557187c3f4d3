// A history as text comes back to the last bit, and damaged ones are refused.
#include "croze/llm/train/history.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace croze::llm {
namespace {

TEST(History, ComesBackToTheLastBit) {
  const TrainingHistory history{{6.9314718f, 0.1f, 1e-5f, {}},
                                {1.17549435e-38f, 3.0000002f, 2e-3f, 1.0 / 3},
                                {5, 1, 0, 1.25}};
  EXPECT_EQ(history_from_text(to_text(history), "file"), history);
  EXPECT_EQ(history_from_text(to_text({}), "file"), TrainingHistory{});
}

TEST(History, RefusesWhatIsNone) {
  const std::string text = to_text({{1, 2, 3, 4.}, {5, 6, 7, {}}});
  const auto refused = [](const std::string& damaged) {
    return test::error_of([&] { history_from_text(damaged, "file"); }).find("file") == 0;
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("step\n"));
  EXPECT_TRUE(refused(text + "4\t1\t2\t3\t\n"));
  EXPECT_TRUE(refused(text + "\n"));
  EXPECT_TRUE(refused(text + "3\t1\t2\n"));
  EXPECT_TRUE(refused(text + "3\t1\t2\tx\t\n"));
  EXPECT_TRUE(refused(text + "3\t1\t2\t3\t4x\n"));
}

}  // namespace
}  // namespace croze::llm
