// Measurements over commits: their order, and what counts as a regression.
#include "tools/history/history.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "support/files.h"

namespace croze {
namespace {

TEST(Worsening, IsThatOfTheBestOverTheWorst) {
  const std::vector<double> before = {10, 11, 10.5}, now = {12, 13.75, 14};
  EXPECT_DOUBLE_EQ(worsening(before, now, true), 1 / 11.0);
  EXPECT_DOUBLE_EQ(worsening(now, before, true), (10 - 14) / 14.0);
  EXPECT_DOUBLE_EQ(worsening(now, before, false), (12 - 11) / 12.0);
  EXPECT_DOUBLE_EQ(worsening(std::vector{0.0}, now, true), 0);
}

class History : public test::FilesTest {
 protected:
  void add(const std::string& commit, const std::string& date, const std::string& machine,
           const std::string& values, bool is_changed = false) const {
    std::filesystem::create_directories(path(machine));
    file(machine + "/" + commit + ".json",
         R"({"croze-bench": 1, "commit": ")" + commit + R"(", "date": ")" + date +
             R"(", "subject": "s", "changed": )" + (is_changed ? "true" : "false") +
             R"(, "machine": ")" + machine +
             R"(", "figures": [{"name": "f", "unit": "ms", "better": "less", "values": )" + values +
             R"(, "peers": {"PyTorch": 20}}]})");
  }
};

TEST_F(History, HasCommitsInTheOrderOfTimeAndMachinesApart) {
  add("c", "2026-03", "one", "[10, 12, 11]");
  add("a", "2026-01", "one", "[9, 10, 11]");
  add("b", "2026-02", "two", "[100]");
  add("d", "2026-04", "one", "[13, 13.5, 14]");
  const Json history = history_of(folder());
  const auto& commits = history["commits"].elements();
  ASSERT_EQ(commits.size(), 4U);
  EXPECT_EQ(commits[0]["commit"].get<std::string>(), "a");
  EXPECT_EQ(commits[1]["machine"].get<std::string>(), "two");
  const auto& figures = history["figures"].elements();
  ASSERT_EQ(figures.size(), 2U);
  const auto& points = figures[0]["points"].elements();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[1]["commit"].get<int>(), 2);
  EXPECT_EQ(points[1]["value"].get<double>(), 11);
  EXPECT_EQ(points[1]["least"].get<double>(), 10);
  EXPECT_FALSE(points[1]["regression"].get<bool>());  // 10 % worse, which is within the noise
  EXPECT_TRUE(points[2]["regression"].get<bool>());
  EXPECT_FALSE(points[0].contains("regression"));
  EXPECT_EQ(figures[0]["peers"]["PyTorch"].get<double>(), 20);
  EXPECT_EQ(print_last(history), 1);
}

TEST_F(History, OfAnEmptyFolderIsEmptyAndOfNoneAnError) {
  EXPECT_TRUE(history_of(folder())["commits"].elements().empty());
  EXPECT_NE(test::error_of([&] { history_of(path("missing")); }).find("missing"),
            std::string::npos);
}

}  // namespace
}  // namespace croze
