// device.cpp -- the device suite, for CUDA.
#include "croze/backends/cuda/cuda_device.h"
#include "support/device_suite.h"

namespace croze::test {

Device* device_under_test() {
  static const std::unique_ptr<Device> device = make_cuda_device();
  return device.get();
}

namespace {

TEST(CudaDevice, RejectedSourceIsAnInternalErrorWithTheCompilersMessage) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no CUDA";
  if (device->renderer().name() == "ptx") {
    const std::string code = device->compile("broken", ".version 7.1\n.target sm_80\nunknown\n");
    EXPECT_THROW(device->load({.name = "broken", .launch = {}}, code), Error);
    return;
  }
  expect_broken_is_refused(
      *device, "// group memory: 0\nextern \"C\" __global__ void croze_broken() { unknown(); }");
}

TEST(CudaDevice, LimitsAreThoseOfAMachine) {
  Device* device = device_under_test();
  if (!device) GTEST_SKIP() << "the machine has no CUDA";
  expect_limits_of_groups(device->caps());
}

}  // namespace
}  // namespace croze::test
