// Which call of the user's a thread is at work on, and that errors name it.
#include "croze/base/call_site.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "croze/base/error.h"

namespace croze {
namespace {

using Location = std::source_location;

TEST(CallSite, IsTheOutermostCall) {
  EXPECT_TRUE(current_call().function.empty());
  {
    const Location here = Location::current();
    const CallScope outer("softmax", here);
    {
      const CallScope inner("exp", Location::current());
      EXPECT_EQ(current_call().function, "softmax");
      EXPECT_EQ(current_call().where.line(), here.line());
    }
    EXPECT_EQ(current_call().function, "softmax");
  }
  EXPECT_TRUE(current_call().function.empty());
}

TEST(CallSite, BelongsToItsThread) {
  const CallScope outer("softmax", Location::current());
  std::thread([] { EXPECT_TRUE(current_call().function.empty()); }).join();
}

TEST(CallSite, OfAFunctionOfTheUsersIsItsOwn) {
  const CallScope outer("capture", Location::current());
  {
    const CallbackScope callback;
    EXPECT_TRUE(current_call().function.empty());
    const CallScope inner("exp", Location::current());
    EXPECT_EQ(current_call().function, "exp");
  }
  EXPECT_EQ(current_call().function, "capture");
}

TEST(CallSite, KnowsThePartThatRuns) {
  const CallScope outer("run", Location::current());
  {
    const PartScope node("If");
    const PartScope inner("Conv");
    EXPECT_EQ(current_call().part, "Conv");
  }
  EXPECT_EQ(current_call().part, "");
}

TEST(CallSite, IsNamedByErrors) {
  const Location user = Location::current();
  try {
    const CallScope outer("softmax", user);
    const CallScope inner("exp", Location::current());
    fail({.op = "exp", .where = Location::current()}, "{} is wrong", "it");
  } catch (const Error& e) {
    EXPECT_EQ(e.details().where.line(), user.line());
    EXPECT_EQ(e.details().op, "exp");
  }
  EXPECT_TRUE(current_call().function.empty()) << "an error leaves the call";
}

}  // namespace
}  // namespace croze
