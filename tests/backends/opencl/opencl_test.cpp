// opencl_test.cpp -- the OpenCL device beside the device suite.
#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

TEST(OpenClDevice, RejectedSourceIsAnInternalErrorWithTheBuildLog) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no OpenCL";
  try {
    device->compile("broken", "__kernel void broken(__global float* x) { x[0] = unknown; }");
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_NE(e.message().find("kernel broken"), std::string::npos);
    EXPECT_NE(e.message().find("unknown"), std::string::npos) << e.message();
  }
}

TEST(OpenClDevice, LimitsAreThoseOfAMachine) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no OpenCL";
  const Caps& caps = device->caps();
  EXPECT_TRUE(caps.has_groups);
  EXPECT_GE(caps.max_items, 64);
  EXPECT_GE(caps.group_memory, 16 << 10);
  EXPECT_GE(caps.max_buffers, 8);
  EXPECT_EQ(caps.alignment & (caps.alignment - 1), 0);
}

}  // namespace
}  // namespace croze::test
