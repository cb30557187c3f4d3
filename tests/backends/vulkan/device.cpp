// device.cpp -- the device suite, for VULKAN.
#include "croze/backends/vulkan/vulkan_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_vulkan_device();
  return device.get();
}

}  // namespace croze::test
