// device.cpp -- the device suite, for INTERP.
#include "croze/backends/interp/interp_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_interp_device();
  return device.get();
}

}  // namespace croze::test
