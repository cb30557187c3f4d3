// command.h -- runs the croze command as a user does.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace croze::test {

struct Outcome {
  int status = -1;
  std::string out, err;
};

inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Command : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "croze-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Runs croze with these arguments; `variables` stand before it.
  Outcome run(const std::string& arguments, const std::string& variables = "") const {
    const std::string line = variables + " " + CROZE_COMMAND + " " + arguments + " >" +
                             path("out") + " 2>" + path("err") + " </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(path("out")),
            content(path("err"))};
  }

 private:
  std::filesystem::path folder_;
};

// One line, without an escape sequence, that begins as all errors do.
inline void expect_error(const Outcome& outcome, const std::string& text) {
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("croze: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
}

}  // namespace croze::test
