// faults_test.cpp -- memory that runs out, kernels that are refused, devices that are lost: by
// drivers that fail when they are told to.
#include "support/faults.h"

#include <gtest/gtest.h>

#include <memory>

#include "croze/backends/vulkan/vulkan_device.h"

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

class VulkanFaults : public testing::Test {
 protected:
  void SetUp() override {
    failures = {};
    std::unique_ptr<Device> made = make_device(drivers(), 0);
    if (!made) GTEST_SKIP() << "no driver of Vulkan here";
    faulty = std::make_unique<FaultyDevice>(std::move(made));
    device = &faulty->device();
  }
  void TearDown() override { failures = {}; }

  std::unique_ptr<FaultyDevice> faulty;
  Device* device = nullptr;
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
  expect_contains(message_of([&] { faulty->loaded("refused"); }),
                  "VULKAN: loading kernel refused: VK_ERROR_OUT_OF_HOST_MEMORY");
  failures = {};
  const auto program = faulty->loaded("taken");
  faulty->launch(*program);
  device->synchronize();
}

TEST_F(VulkanFaults, ADeviceThatIsLostWhileAKernelRunsNamesIt) {
  const auto good = faulty->loaded("good"), slow = faulty->loaded("slow");
  faulty->launch(*good);
  device->synchronize();
  faulty->launch(*slow);
  failures.wait = Status::DeviceLost;
  const std::string said = message_of([&] { device->synchronize(); });
  expect_contains(said, "kernel slow: VULKAN: ");
  expect_contains(said, "VK_ERROR_DEVICE_LOST");
  EXPECT_EQ(said.find("good"), std::string::npos) << said;
}

TEST_F(VulkanFaults, ALostDeviceRefusesWorkAndOthersGoOn) {
  const auto program = faulty->loaded("doomed");
  const std::unique_ptr<Device> other = make_device(drivers(), 0);
  faulty->launch(*program);
  failures.submit = Status::DeviceLost;
  expect_contains(message_of([&] { device->synchronize(); }), "kernel doomed");
  failures = {};
  faulty->expect_refused(*program,
                         "VULKAN is lost to this process: submitting work: VK_ERROR_DEVICE_LOST");
  expect_doubles(*other);
}

// Nobody would ever reach the number that is waited for.
TEST_F(VulkanFaults, WhatCannotBeSubmittedLosesTheDevice) {
  const auto program = faulty->loaded("unsent");
  faulty->launch(*program);
  failures.submit = Status::OutOfHostMemory;
  expect_contains(message_of([&] { device->synchronize(); }), "kernel unsent: VULKAN: ");
  failures = {};
  expect_contains(message_of([&] { device->synchronize(); }), "VULKAN is lost to this process");
}

TEST_F(VulkanFaults, AQueueOfALostDeviceFailsWhatItWasToSignal) {
  faulty->expect_queue_fails("doomed", "VULKAN is lost to this process",
                             [] { failures.submit = Status::DeviceLost; });
}

}  // namespace
}  // namespace croze::test
