// device_suite.h -- the tests that every device must pass.
//
// device_suite_*.cpp hold the tests; the test program of a back end compiles them together with a
// file of its own that says which device is meant.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "croze/base/error.h"
#include "croze/device/device.h"

namespace croze::test {

// The device, opened once; null if the machine lacks it, and then the tests are skipped.  Defined
// by the test program.
Device* device_under_test();

// That source of a kernel "broken", which says `unknown`, is an InternalError with the kernel's
// name and the compiler's message.
inline void expect_broken_is_refused(Device& device, const std::string& source) {
  try {
    device.compile("broken", source);
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_NE(e.message().find("kernel broken"), std::string::npos);
    EXPECT_NE(e.message().find("unknown"), std::string::npos) << e.message();
  }
}

// What every device with groups has.
inline void expect_limits_of_groups(const Caps& caps) {
  EXPECT_TRUE(caps.has_groups);
  EXPECT_GE(caps.max_items, 64);
  EXPECT_GE(caps.group_memory, 16 << 10);
  EXPECT_GE(caps.max_buffers, 8);
  EXPECT_EQ(caps.alignment & (caps.alignment - 1), 0);
}

}  // namespace croze::test
