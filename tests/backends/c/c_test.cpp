// c_test.cpp -- the C device beside the device suite.
#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

TEST(CDevice, RejectedSourceIsAnInternalErrorWithTheCompilersMessage) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no cc";
  try {
    device->compile("broken", "void broken( { return unknown; }");
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_NE(e.message().find("kernel broken"), std::string::npos);
    EXPECT_NE(e.message().find("error:"), std::string::npos) << e.message();
  }
}

TEST(CDevice, CodeWithoutTheKernelIsAnError) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no cc";
  const std::string code = device->compile("one", "void one(void) {}");
  ProgramInfo info;
  info.name = "another";
  EXPECT_THROW(device->load(info, code), Error);
}

}  // namespace
}  // namespace croze::test
