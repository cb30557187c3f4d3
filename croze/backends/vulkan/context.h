// context.h -- one device of Vulkan as this process sees it, and whether it still works.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "croze/backends/vulkan/physical_device.h"

namespace croze::vulkan {

// A device that is lost stays so: what is asked of it is refused with the first failure, and other
// devices go on.
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
  // Throws Error if the device is lost.
  void check_alive() const;
  bool is_lost() const { return is_lost_; }

 private:
  void open();
  void make_layout();

  const Library& vk_;
  const Offer& offer_;
  const std::string name_;
  LogicalDevice device_ = nullptr;
  QueueHandle queue_ = nullptr;
  PipelineLayout layout_ = nullptr;

  std::atomic<bool> is_lost_ = false;
  mutable std::mutex mutex_;
  std::string lost_by_;
};

}  // namespace croze::vulkan
