// context.h -- one device of Vulkan as this process sees it, and whether it still works.
#pragma once

#include <string>
#include <string_view>

#include "croze/backends/vulkan/physical_device.h"
#include "croze/device/loss.h"

namespace croze::vulkan {

class Context {
 public:
  // Throws Error if the driver does not open the device.
  Context(const Library& vk, const Offer& offer, std::string name);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Library& vk() const { return vk_; }
  const Offer& offer() const { return offer_; }
  const std::string& name() const { return name_; }
  LogicalDevice device() const { return device_; }
  QueueHandle queue() const { return queue_; }
  // What all kernels have in common: room for push constants.
  PipelineLayout layout() const { return layout_; }

  // Throws Error, naming the device and what was tried, unless the call was a success.
  void check(Status status, std::string_view what);
  // The same of calls after whose failure nothing can go on: then the device is lost.
  void check_final(Status status, std::string_view what);
  Loss& loss() { return loss_; }

 private:
  void open();
  void make_layout();

  const Library& vk_;
  const Offer& offer_;
  const std::string name_;
  LogicalDevice device_ = nullptr;
  QueueHandle queue_ = nullptr;
  PipelineLayout layout_ = nullptr;

  Loss loss_;
};

}  // namespace croze::vulkan
