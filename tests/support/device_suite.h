// device_suite.h -- the tests that every device must pass.
//
// device_suite_*.cpp hold the tests; the test program of a back end compiles them together with a
// file of its own that says which device is meant.
#pragma once

#include "croze/device/device.h"

namespace croze::test {

// The device, opened once; null if the machine lacks it, and then the tests are skipped.  Defined
// by the test program.
Device* device_under_test();

}  // namespace croze::test
