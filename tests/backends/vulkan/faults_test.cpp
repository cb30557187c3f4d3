// faults_test.cpp -- memory that runs out, kernels that are refused, devices that are lost: by
// drivers that fail when they are told to.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "croze/backends/vulkan/vulkan_device.h"
#include "croze/base/error.h"
#include "croze/device/queue.h"
#include "support/programs.h"

namespace croze::test {
namespace {

using namespace vulkan;

// What the driver says to the next calls, where that is not what it says by itself.
struct Failures {
  Status allocate = Status::Success, pipeline = Status::Success;
  Status submit = Status::Success, wait = Status::Success;
} failures;

const Library& true_library() {
  static const std::unique_ptr<Library> library = Library::load();
  return *library;
}

Status allocate_memory(LogicalDevice device, const MemoryAllocateInfo* info, const void* allocator,
                       MemoryHandle* memory) {
  if (failures.allocate != Status::Success) return failures.allocate;
  return true_library().allocate_memory(device, info, allocator, memory);
}

Status create_pipelines(LogicalDevice device, void* cache, std::uint32_t count,
                        const ComputePipelineCreateInfo* info, const void* allocator,
                        Pipeline* pipelines) {
  if (failures.pipeline != Status::Success) return failures.pipeline;
  return true_library().create_pipelines(device, cache, count, info, allocator, pipelines);
}

Status submit(QueueHandle queue, std::uint32_t count, const SubmitInfo* info, void* fence) {
  if (failures.submit != Status::Success) return failures.submit;
  return true_library().submit(queue, count, info, fence);
}

Status wait_semaphores(LogicalDevice device, const SemaphoreWaitInfo* info, std::uint64_t timeout) {
  const Status status = true_library().wait_semaphores(device, info, timeout);
  return failures.wait == Status::Success ? status : failures.wait;
}

const Drivers& drivers() {
  static const Drivers& found = *new Drivers([] {
    std::unique_ptr<Library> library = Library::load();
    if (library) {
      library->allocate_memory = allocate_memory;
      library->create_pipelines = create_pipelines;
      library->submit = submit;
      library->wait_semaphores = wait_semaphores;
    }
    return look_for_drivers(std::move(library));
  }());
  return found;
}

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

LinearProgram doubling(const std::string& name) {
  ProgramBuilder b(name);
  const UOp x = b.param(DType::Int32, 16);
  const UOp i = b.begin_loop(16);
  b.store(x, i, b.load(x, i) * 2);
  b.end_loop(i);
  return b.finish();
}

class VulkanFaults : public testing::Test {
 protected:
  void SetUp() override {
    failures = {};
    device = make_device(drivers(), 0);
    if (!device) GTEST_SKIP() << "no driver of Vulkan here";
    memory = device->allocate(64);
  }
  void TearDown() override {
    failures = {};
    if (device) device->release(memory);
  }

  std::unique_ptr<Program> loaded(const std::string& name) {
    return compile_program(*device, doubling(name));
  }
  void launch(Program& program) {
    const MemoryView view = MemoryView::all_of(memory);
    program.launch(std::span(&view, 1), {});
  }

  std::unique_ptr<Device> device;
  Memory memory;
};

TEST_F(VulkanFaults, NoMemoryLeftIsAnErrorAndPassesByItself) {
  failures.allocate = Status::OutOfDeviceMemory;
  expect_contains(message_of([&] { device->allocate(64 << 20); }),
                  "VULKAN: cannot allocate 67108864 bytes: there is no memory left");
  failures = {};
  device->release(device->allocate(64 << 20));
}

TEST_F(VulkanFaults, AKernelThatTheDriverRefusesIsNamedWithItsDevice) {
  failures.pipeline = Status::OutOfHostMemory;
  expect_contains(message_of([&] { loaded("refused"); }),
                  "VULKAN: loading kernel refused: VK_ERROR_OUT_OF_HOST_MEMORY");
  failures = {};
  const auto program = loaded("taken");
  launch(*program);
  device->synchronize();
}

TEST_F(VulkanFaults, ADeviceThatIsLostWhileAKernelRunsNamesIt) {
  const auto good = loaded("good"), slow = loaded("slow");
  launch(*good);
  device->synchronize();
  launch(*slow);
  failures.wait = Status::DeviceLost;
  const std::string said = message_of([&] { device->synchronize(); });
  expect_contains(said, "kernel slow: VULKAN: ");
  expect_contains(said, "VK_ERROR_DEVICE_LOST");
  EXPECT_EQ(said.find("good"), std::string::npos) << said;
}

TEST_F(VulkanFaults, ALostDeviceRefusesWorkAndOthersGoOn) {
  const auto program = loaded("doomed");
  const std::unique_ptr<Device> other = make_device(drivers(), 0);
  launch(*program);
  failures.submit = Status::DeviceLost;
  expect_contains(message_of([&] { device->synchronize(); }), "kernel doomed");
  failures = {};
  for (const std::string& said :
       {message_of([&] { device->allocate(16); }), message_of([&] { launch(*program); }),
        message_of([&] { device->synchronize(); }), message_of([&] { device->make_stream(); }),
        message_of([&] { loaded("new"); })}) {
    expect_contains(said, "VULKAN is lost to this process: submitting work: VK_ERROR_DEVICE_LOST");
  }
  std::vector<std::int32_t> values(16, 4);
  run_program(*other, doubling("good"), {bytes_of(values)});
  EXPECT_EQ(values, std::vector<std::int32_t>(16, 8));
}

TEST_F(VulkanFaults, AQueueOfALostDeviceFailsWhatItWasToSignal) {
  const auto program = loaded("doomed");
  const MemoryView view = MemoryView::all_of(memory);
  const Nest nest{program.get(), std::span(&view, 1), {}};
  const Sequence sequence{std::span(&nest, 1)};
  Queue queue(*device);
  const Timeline done;
  failures.submit = Status::DeviceLost;
  queue.launch(std::span(&sequence, 1));
  queue.signal(done, 1);
  expect_contains(message_of([&] { done.wait(1); }), "kernel doomed");
  EXPECT_THROW(queue.synchronize(), Error);
  failures = {};
  queue.launch(std::span(&sequence, 1));
  expect_contains(message_of([&] { queue.synchronize(); }), "VULKAN is lost to this process");
}

}  // namespace
}  // namespace croze::test
