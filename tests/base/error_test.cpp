// Messages of the two exceptions.
#include "croze/base/error.h"

#include <gtest/gtest.h>

namespace croze {
namespace {

TEST(Error, CarriesItsDetailsAndShowsThem) {
  auto where = std::source_location::current();
  try {
    fail({.op = "matmul",
          .shapes = {"(2, 3)", "(4, 5)"},
          .dtypes = {"f32", "f16"},
          .devices = {"CPU"},
          .where = where,
          .hint = "transpose the second operand"},
         "inner sizes {} and {} differ", 3, 4);
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "inner sizes 3 and 4 differ");
    EXPECT_EQ(error.details().op, "matmul");
    EXPECT_EQ(error.details().shapes.size(), 2u);
    std::string text = error.what();
    for (const char* part :
         {"matmul: inner sizes 3 and 4 differ", "shapes: (2, 3), (4, 5)", "dtypes: f32, f16",
          "devices: CPU", "error_test.cpp:", "hint: transpose the second operand"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
    return;
  }
  FAIL() << "nothing was thrown";
}

TEST(Error, WithoutDetailsIsItsMessage) {
  EXPECT_STREQ(Error("the disk is full").what(), "the disk is full");
}

TEST(Error, CheckThrowsOnlyIfTheConditionFails) {
  EXPECT_NO_THROW(check(true, "never"));
  EXPECT_THROW(check(1 > 2, "{} is not above {}", 1, 2), Error);
  try {
    check(false, std::source_location::current(), "axis {}", 7);
  } catch (const Error& error) {
    EXPECT_GT(error.details().where.line(), 0u);
    EXPECT_EQ(error.message(), "axis 7");
  }
}

TEST(InternalError, NamesPassAndNodeAndAsksForAReport) {
  EXPECT_NO_THROW(ensure(true, "never"));
  EXPECT_THROW(ensure(false, "{}", 1), InternalError);
  try {
    fail_internal({.pass = "expand", .node = "ADD i32 (x, y)"}, "no dtype");
  } catch (const InternalError& error) {
    EXPECT_EQ(error.details().pass, "expand");
    std::string text = error.what();
    for (const char* part :
         {"internal error: no dtype", "pass: expand", "node: ADD i32 (x, y)", "report"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
    return;
  }
  FAIL() << "nothing was thrown";
}

}  // namespace
}  // namespace croze
