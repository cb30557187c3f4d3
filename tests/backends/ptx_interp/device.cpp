// device.cpp -- the device suite, for PTX_INTERP.
#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_ptx_interp_device();
  return device.get();
}

}  // namespace croze::test
