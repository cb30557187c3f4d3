// device.cpp -- the device suite, for WEBGPU.
#include "croze/backends/webgpu/webgpu_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_webgpu_device();
  return device.get();
}

}  // namespace croze::test
