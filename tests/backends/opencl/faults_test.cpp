// faults_test.cpp -- memory that runs out, kernels that are refused, devices that are lost: by a
// library that fails when it is told to.
#include "support/faults.h"

#include <gtest/gtest.h>

#include <memory>

#include "croze/backends/opencl/opencl_device.h"
#include "croze/backends/opencl/platforms.h"

namespace croze::test {
namespace {

using namespace opencl;

// What the library says to the next calls, where that is not what it says by itself.
struct Failures {
  cl_int allocate = CL_SUCCESS, load = CL_SUCCESS, enqueue = CL_SUCCESS, finish = CL_SUCCESS;
  bool never_done = false;  // what events say
} failures;

const OpenClLibrary& true_library() { return *opencl::opencl().library; }

cl_mem create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host,
                     cl_int* status) {
  if (failures.allocate == CL_SUCCESS) {
    return true_library().create_buffer(context, flags, size, host, status);
  }
  *status = failures.allocate;
  return nullptr;
}

cl_kernel create_kernel(cl_program program, const char* name, cl_int* status) {
  if (failures.load == CL_SUCCESS) return true_library().create_kernel(program, name, status);
  *status = failures.load;
  return nullptr;
}

cl_int enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint axes,
                      const std::size_t* first, const std::size_t* items, const std::size_t* group,
                      cl_uint num_waits, const cl_event* waits, cl_event* event) {
  if (failures.enqueue != CL_SUCCESS) return failures.enqueue;
  return true_library().enqueue_nd_range_kernel(queue, kernel, axes, first, items, group, num_waits,
                                                waits, event);
}

cl_int finish(cl_command_queue queue) {
  const cl_int status = true_library().finish(queue);
  return failures.finish == CL_SUCCESS ? status : failures.finish;
}

cl_int get_event_info(cl_event event, cl_event_info property, std::size_t size, void* value,
                      std::size_t* size_of_value) {
  const cl_int status = true_library().get_event_info(event, property, size, value, size_of_value);
  if (failures.never_done) *static_cast<cl_int*>(value) = CL_RUNNING;
  return status;
}

const OpenCl& devices() {
  static const OpenCl& found = *new OpenCl([] {
    OpenCl cl{nullptr, opencl::opencl().devices};
    if (cl.devices.empty()) return cl;
    cl.library = std::make_unique<OpenClLibrary>(true_library());
    cl.library->create_buffer = create_buffer;
    cl.library->create_kernel = create_kernel;
    cl.library->enqueue_nd_range_kernel = enqueue_kernel;
    cl.library->finish = finish;
    cl.library->get_event_info = get_event_info;
    return cl;
  }());
  return found;
}

class OpenClFaults : public testing::Test {
 protected:
  void SetUp() override {
    failures = {};
    std::unique_ptr<Device> made = make_device(devices(), 0);
    if (!made) GTEST_SKIP() << "the machine has no OpenCL";
    faulty = std::make_unique<FaultyDevice>(std::move(made));
    device = &faulty->device();
  }
  void TearDown() override { failures = {}; }

  // The queue fails, and what was begun is never done.
  void lose_while_running() {
    failures.finish = CL_OUT_OF_RESOURCES;
    failures.never_done = true;
  }

  std::unique_ptr<FaultyDevice> faulty;
  Device* device = nullptr;
};

TEST_F(OpenClFaults, NoMemoryLeftIsAnErrorAndPassesByItself) {
  failures.allocate = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  const std::string said = message_of([&] { device->allocate(64 << 20); });
  expect_contains(said, "OPENCL: allocating 67108864 bytes: ");
  expect_contains(said, "(error -4)");
  failures = {};
  device->release(device->allocate(64 << 20));
}

TEST_F(OpenClFaults, AKernelThatTheDriverRefusesIsNamedWithItsDevice) {
  failures.load = CL_OUT_OF_RESOURCES;
  expect_contains(message_of([&] { faulty->loaded("refused"); }), "OPENCL: kernel refused: ");
  failures = {};
  const auto program = faulty->loaded("taken");
  faulty->launch(*program);
  device->synchronize();
}

// There may be room for a smaller one.
TEST_F(OpenClFaults, AKernelThatIsTooLargeToBeginLosesNothing) {
  const auto program = faulty->loaded("large");
  failures.enqueue = CL_OUT_OF_RESOURCES;
  expect_contains(message_of([&] { faulty->launch(*program); }), "OPENCL: kernel large: ");
  failures = {};
  faulty->launch(*program);
  device->synchronize();
}

TEST_F(OpenClFaults, ADeviceThatIsLostWhileAKernelRunsNamesIt) {
  const auto good = faulty->loaded("good"), slow = faulty->loaded("slow");
  faulty->launch(*good);
  device->synchronize();
  faulty->launch(*slow);
  lose_while_running();
  const std::string said = message_of([&] { device->synchronize(); });
  expect_contains(said, "OPENCL: kernel slow: ");
  expect_contains(said, "(error -5)");
  EXPECT_EQ(said.find("good"), std::string::npos) << said;
}

TEST_F(OpenClFaults, ALostDeviceRefusesWorkAndOthersGoOn) {
  const auto program = faulty->loaded("doomed");
  const std::unique_ptr<Device> other = make_device(devices(), 0);
  failures.enqueue = CL_DEVICE_NOT_AVAILABLE;
  expect_contains(message_of([&] { faulty->launch(*program); }), "OPENCL: kernel doomed: ");
  failures = {};
  faulty->expect_refused(*program, "OPENCL is lost to this process: kernel doomed: ");
  expect_doubles(*other);
}

TEST_F(OpenClFaults, AQueueOfALostDeviceFailsWhatItWasToSignal) {
  faulty->expect_queue_fails("doomed", "OPENCL is lost to this process",
                             [this] { lose_while_running(); });
}

}  // namespace
}  // namespace croze::test
