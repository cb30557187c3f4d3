// device.cpp -- the device suite, for OPENCL.
#include "croze/backends/opencl/opencl_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_opencl_device();
  return device.get();
}

}  // namespace croze::test
