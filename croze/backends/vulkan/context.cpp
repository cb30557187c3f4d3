#include "croze/backends/vulkan/context.h"

#include <fmt/format.h>

#include "croze/render/spirv/arguments.h"

namespace croze::vulkan {

Context::Context(const Library& vk, const Offer& offer, std::string name)
    : vk_(vk), offer_(offer), name_(std::move(name)), loss_(name_) {
  open();
  try {
    make_layout();
  } catch (...) {
    vk_.destroy_device(device_, nullptr);
    throw;
  }
}

Context::~Context() {
  vk_.destroy_layout(device_, layout_, nullptr);
  vk_.destroy_device(device_, nullptr);
}

// With what kernels use and no more.
void Context::open() {
  const float priority = 1;
  DeviceQueueCreateInfo queue;
  queue.family = offer_.queue_family;
  queue.priorities = &priority;
  Vulkan12Features features_1_2;
  features_1_2.storage_8_bits = features_1_2.int8 = offer_.target.bytes;
  features_1_2.float16 = offer_.target.float16;
  features_1_2.timeline_semaphore = features_1_2.buffer_address = 1;
  Vulkan11Features features_1_1;
  features_1_1.next = &features_1_2;
  features_1_1.storage_16_bits = offer_.target.halfwords;
  Features2 features;
  features.next = &features_1_1;
  features.int16 = offer_.target.halfwords;
  features.int64 = offer_.target.int64;
  features.float64 = offer_.target.float64;
  DeviceCreateInfo wanted;
  wanted.next = &features;
  wanted.queues = &queue;
  check(vk_.create_device(offer_.handle, &wanted, nullptr, &device_), "opening the device");
  vk_.get_queue(device_, offer_.queue_family, 0, &queue_);
}

void Context::make_layout() {
  PushConstantRange range;
  range.bytes = 8 * spirv::most_pushed;
  PipelineLayoutCreateInfo wanted;
  wanted.num_ranges = 1;
  wanted.ranges = &range;
  check(vk_.create_layout(device_, &wanted, nullptr, &layout_), "opening the device");
}

void Context::check(Status status, std::string_view what) {
  if (status == Status::Success) return;
  loss_.fail(fmt::format("{}: {}", what, text_of(status)), status == Status::DeviceLost);
}

void Context::check_final(Status status, std::string_view what) {
  if (status != Status::Success) loss_.fail(fmt::format("{}: {}", what, text_of(status)), true);
}

}  // namespace croze::vulkan
