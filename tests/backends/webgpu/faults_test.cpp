// faults_test.cpp -- memory that runs out, kernels that are refused, devices that are lost: by a
// library that fails when it is told to.
#include "support/faults.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>

#include "croze/backends/webgpu/webgpu_device.h"
#include "croze/backends/webgpu/webgpu_library.h"
#include "croze/base/options.h"

namespace croze::test {
namespace {

using namespace webgpu;

// What the library does at the next calls, where that is not what it does by itself.
struct Failures {
  bool allocate = false, pipeline = false, submit = false, map = false;
} failures;

// The device that is to be lost.
struct Doomed {
  GpuDevice device = nullptr;
  CallbackInfo<LostCallback> tell;
} doomed;

const Library& true_library() {
  static const std::unique_ptr<Library> library = Library::load();
  return *library;
}

// As a library says it of a device whose driver has gone.
void lose() {
  doomed.tell.callback(&doomed.device, 1, std::string_view("the driver is gone"), doomed.tell.user1,
                       doomed.tell.user2);
}

Future request_device(Adapter adapter, const DeviceDescriptor* wanted,
                      CallbackInfo<DeviceCallback> info) {
  doomed.tell = wanted->lost;
  return true_library().request_device(adapter, wanted, info);
}

Buffer create_buffer(GpuDevice device, const BufferDescriptor* wanted) {
  doomed.device = device;
  return failures.allocate ? nullptr : true_library().create_buffer(device, wanted);
}

Pipeline create_pipeline(GpuDevice device, const PipelineDescriptor* wanted) {
  PipelineDescriptor changed = *wanted;
  if (failures.pipeline) changed.compute.entry = std::string_view("nothing");
  return true_library().create_pipeline(device, &changed);
}

void submit(webgpu::Queue queue, std::size_t count, const Commands* commands) {
  true_library().submit(queue, count, commands);
  if (failures.submit) lose();
}

Future map_buffer(Buffer buffer, std::uint64_t mode, std::size_t offset, std::size_t size,
                  CallbackInfo<MapCallback> info) {
  if (failures.map) lose();
  return true_library().map_buffer(buffer, mode, offset, size, info);
}

std::unique_ptr<Device> make_faulty_device() {
  std::unique_ptr<Library> library = Library::load();
  if (!library) return nullptr;
  library->request_device = request_device;
  library->create_buffer = create_buffer;
  library->create_pipeline = create_pipeline;
  library->submit = submit;
  library->map_buffer = map_buffer;
  return webgpu::make_device(std::move(library));
}

class WebGpuFaults : public testing::Test {
 protected:
  void SetUp() override {
    failures = {};
    std::unique_ptr<Device> made = make_faulty_device();
    if (!made) GTEST_SKIP() << "no library of WebGPU here (CROZE_WEBGPU_LIBRARY)";
    faulty = std::make_unique<FaultyDevice>(std::move(made));
    device = &faulty->device();
  }
  void TearDown() override { failures = {}; }

  std::unique_ptr<FaultyDevice> faulty;
  Device* device = nullptr;
};

TEST_F(WebGpuFaults, NoMemoryLeftIsAnErrorAndPassesByItself) {
  failures.allocate = true;
  expect_contains(message_of([&] { device->allocate(1 << 20); }),
                  "WEBGPU: cannot allocate 1048576 bytes: there is no memory left");
  failures = {};
  device->release(device->allocate(1 << 20));
}

TEST_F(WebGpuFaults, AKernelThatTheDriverRefusesIsNamedWithItsDevice) {
  failures.pipeline = true;
  std::string said = "no error";
  try {
    faulty->loaded("refused");
  } catch (const InternalError& e) {
    said = e.message();
  }
  expect_contains(said, "WEBGPU: kernel refused is refused: ");
  failures = {};
  const auto program = faulty->loaded("taken");
  faulty->launch(*program);
  device->synchronize();
}

TEST_F(WebGpuFaults, ADeviceThatIsLostWhileAKernelRunsNamesIt) {
  const auto good = faulty->loaded("good"), slow = faulty->loaded("slow");
  faulty->launch(*good);
  device->synchronize();
  faulty->launch(*slow);
  failures.map = true;
  const std::string said = message_of([&] { device->synchronize(); });
  expect_contains(said, "kernel slow: WEBGPU: ");
  expect_contains(said, "the driver is gone");
  EXPECT_EQ(said.find("good"), std::string::npos) << said;
}

TEST_F(WebGpuFaults, ALostDeviceRefusesWorkAndOthersGoOn) {
  const auto program = faulty->loaded("doomed");
  failures.submit = true;
  faulty->launch(*program);
  expect_contains(message_of([&] { device->synchronize(); }), "kernel doomed: WEBGPU: ");
  failures = {};
  faulty->expect_refused(*program,
                         "WEBGPU is lost to this process: launch of kernel doomed: the driver is "
                         "gone");
  const std::unique_ptr<Device> other = make_webgpu_device();
  expect_doubles(*other);
}

// By the library's own doing, which answers what it was asked before.
TEST_F(WebGpuFaults, ADeviceThatIsDestroyedIsLost) {
  void* const library =
      dlopen(Options::text(Option::WebgpuLibrary).c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto destroy =
      library ? reinterpret_cast<void (*)(GpuDevice)>(dlsym(library, "wgpuDeviceDestroy"))
              : nullptr;
  if (!destroy) GTEST_SKIP() << "the library destroys no devices";
  const auto program = faulty->loaded("doomed");
  faulty->launch(*program);
  destroy(doomed.device);
  expect_contains(message_of([&] { device->synchronize(); }), "kernel doomed: WEBGPU: ");
  faulty->expect_refused(*program, "WEBGPU is lost to this process: ");
}

TEST_F(WebGpuFaults, AQueueOfALostDeviceFailsWhatItWasToSignal) {
  faulty->expect_queue_fails("doomed", "WEBGPU is lost to this process",
                             [] { failures.submit = true; });
}

}  // namespace
}  // namespace croze::test
