// device.cpp -- the device suite, for C.
#include "croze/backends/c/c_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_c_device();
  return device.get();
}

}  // namespace croze::test
