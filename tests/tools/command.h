// command.h -- runs the croze command as a user does.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "support/files.h"

namespace croze::test {

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Command : public FilesTest {
 protected:
  // Runs croze with these arguments; `variables` stand before it.
  Outcome run(const std::string& arguments, const std::string& variables = "") const {
    const std::string line = variables + " " + CROZE_COMMAND + " " + arguments + " >" +
                             path("out") + " 2>" + path("err") + " </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(path("out")),
            content(path("err"))};
  }
};

// One line, without an escape sequence, that begins as all errors do.
inline void expect_error(const Outcome& outcome, const std::string& text) {
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("croze: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
}

}  // namespace croze::test
