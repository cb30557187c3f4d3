// What searches have found, in a file and back.
#include "croze/tune/table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace croze::tune {
namespace {

class Table : public testing::Test {
 protected:
  Table() { std::filesystem::remove(path_); }
  ~Table() override { std::filesystem::remove(path_); }

  void write(const std::string& text) { std::ofstream(path_) << text; }

  std::string path_ = testing::TempDir() + "croze_tuned_kernels_test.txt";
};

TEST_F(Table, GivesBackWhatWasAdded) {
  TunedTable table(path_, "CPU zen");
  EXPECT_TRUE(table.empty());
  EXPECT_TRUE(table.add("abc", {"split r0 by 4; bind r2 lane", 1e-6, 2e-6}));
  TunedTable again(path_, "CPU zen");
  ASSERT_NE(again.find("abc"), nullptr);
  EXPECT_EQ(again.find("abc")->edits, "split r0 by 4; bind r2 lane");
  EXPECT_DOUBLE_EQ(again.find("abc")->gain(), 2);
  EXPECT_EQ(again.find("abd"), nullptr);
  EXPECT_TRUE(TunedTable(path_, "CPU other").empty());
}

TEST_F(Table, OfJoinedFilesTheGreatestGainCounts) {
  write(
      "m\tk\t1e-6\t2e-6\tsplit r0 by 2\n"
      "m\tk\t1e-6\t3e-6\tsplit r0 by 3\n"
      "m\tk\t1e-6\t1e-6\tsplit r0 by 4\n"
      "m\tplain\t1e-6\t1e-6\t");
  const TunedTable table(path_, "m");
  ASSERT_NE(table.find("k"), nullptr);
  EXPECT_EQ(table.find("k")->edits, "split r0 by 3");
  ASSERT_NE(table.find("plain"), nullptr);
  EXPECT_EQ(table.find("plain")->edits, "");
}

TEST_F(Table, PassesOverWhatItCannotRead) {
  std::string noise =
      "m\tk0\t-1\t1e-6\tsplit r0 by 2\nm\tk1\t1e-6\tnan\t\nm\tk2\t1e-6\t1e-6\tdo it\n";
  noise += "m\tk3\t1e-6\t1e-6\nm\tk4\t1\t1\t\t\n\n\t\t\t\t\n";
  for (int i = 0; i < 256; i++) noise += static_cast<char>(i);
  write(noise + "\nm\tgood\t1e-6\t2e-6\tsimplify\n");
  const TunedTable table(path_, "m");
  for (const char* k : {"k0", "k1", "k2", "k3", "k4"}) EXPECT_EQ(table.find(k), nullptr) << k;
  EXPECT_NE(table.find("good"), nullptr);
  EXPECT_TRUE(TunedTable(testing::TempDir(), "m").empty());
}

TEST(TunedTable, WithoutAFileStaysInMemory) {
  TunedTable table("", "m");
  EXPECT_TRUE(table.add("k", {"", 1, 1}));
  EXPECT_NE(table.find("k"), nullptr);
  EXPECT_FALSE(TunedTable("/nonexistent/folder/file", "m").add("k", {"", 1, 1}));
}

}  // namespace
}  // namespace croze::tune
