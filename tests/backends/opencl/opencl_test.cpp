// opencl_test.cpp -- the OpenCL device beside the device suite.
#include <gtest/gtest.h>

#include "support/device_suite.h"

namespace croze::test {
namespace {

TEST(OpenClDevice, RejectedSourceIsAnInternalErrorWithTheBuildLog) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no OpenCL";
  expect_broken_is_refused(*device, "__kernel void broken(__global float* x) { x[0] = unknown; }");
}

TEST(OpenClDevice, LimitsAreThoseOfAMachine) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no OpenCL";
  expect_limits_of_groups(device->caps());
}

}  // namespace
}  // namespace croze::test
