// The table of environment variables, scopes and the log.
#include "croze/base/options.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/log.h"

namespace croze {
namespace {

// Collects log lines while it lives.
class Lines {
 public:
  Lines() {
    set_log_sink(
        [](void* context, std::string_view line) {
          static_cast<std::vector<std::string>*>(context)->emplace_back(line);
        },
        &lines);
  }
  ~Lines() { set_log_sink(nullptr, nullptr); }
  std::vector<std::string> lines;
};

// Runs `body` in a child process with one variable set, since a process reads its environment once.
// Returns whether it ended with status 0.
template <typename Body>
bool passes_with(const char* name, const char* value, Body body) {
  pid_t child = fork();
  if (child == 0) {
    setenv(name, value, 1);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// These come first: a child reads its own environment only if no option was read before.
TEST(Options, TakeTheirValueFromTheEnvironment) {
  EXPECT_TRUE(passes_with("CROZE_DEBUG", "3", [] { return Options::integer(Option::Debug) == 3; }));
  EXPECT_TRUE(passes_with("CROZE_CACHE", "0", [] { return !Options::flag(Option::Cache); }));
  EXPECT_TRUE(passes_with("CROZE_DEVICE", "INTERP",
                          [] { return Options::text(Option::Device) == "INTERP"; }));
}

TEST(Options, MalformedValuesAreErrorsThatNameTheVariable) {
  for (const char* value : {"8", "-1", "two", "1x"}) {
    EXPECT_TRUE(passes_with("CROZE_DEBUG", value, [] {
      try {
        return Options::integer(Option::Debug) < 0;
      } catch (const Error& error) {
        return error.message().find("CROZE_DEBUG") != std::string::npos;
      }
    })) << value;
  }
}

TEST(Options, UnknownVariablesAreFoundAndWarnedOfOnce) {
  EXPECT_TRUE(passes_with("CROZE_DEBUGG", "1", [] {
    Lines log;
    warn_of_unknown_options();
    warn_of_unknown_options();
    return Options::unknown_variables() == std::vector<std::string>{"CROZE_DEBUGG"} &&
           log.lines.size() == 1 && log.lines[0].find("CROZE_DEBUGG") != std::string::npos;
  }));
}

TEST(Options, AScopeOverridesWhileItLives) {
  int64_t before = Options::integer(Option::Debug);
  {
    Options::Scope outer{{Option::Debug, 2}, {Option::Device, "NULL"}};
    EXPECT_EQ(Options::integer(Option::Debug), 2);
    {
      Options::Scope inner{{Option::Debug, 5}, {Option::Debug, 6}};
      EXPECT_EQ(Options::integer(Option::Debug), 6);
    }
    EXPECT_EQ(Options::integer(Option::Debug), 2);
    EXPECT_EQ(Options::text(Option::Device), "NULL");
    EXPECT_THROW((Options::Scope{{Option::Debug, 3}, {Option::Debug, 8}}), Error);
    EXPECT_EQ(Options::integer(Option::Debug), 2);
  }
  EXPECT_EQ(Options::integer(Option::Debug), before);
}

TEST(Options, ReadingAnotherTypeIsABugOfOurs) {
  EXPECT_THROW(Options::flag(Option::Debug), InternalError);
  EXPECT_THROW((Options::Scope{{Option::Device, 1}}), InternalError);
  EXPECT_THROW((Options::Scope{{Option::Debug, "1"}}), InternalError);
}

TEST(Options, TheDocumentationNamesEveryVariable) {
  std::string text = Options::markdown();
  for (const OptionInfo& info : Options::table()) {
    EXPECT_NE(text.find(info.name), std::string::npos);
    EXPECT_NE(text.find(info.meaning), std::string::npos);
  }
}

TEST(Log, LinesAppearFromTheirLevelOn) {
  Lines log;
  Options::Scope scope{{Option::Debug, 2}};
  log_line(1, "one {}", 1);
  log_line(2, "two {}", 2);
  log_line(3, "three {}", 3);
  log_warning("careful");
  EXPECT_EQ(log.lines, (std::vector<std::string>{"one 1", "two 2", "croze: warning: careful"}));
}

}  // namespace
}  // namespace croze
