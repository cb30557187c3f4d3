// physical_device.h -- the devices that the drivers of Vulkan know, and what each of them offers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "croze/backends/vulkan/cooperative.h"
#include "croze/backends/vulkan/vulkan_library.h"
#include "croze/device/caps.h"
#include "croze/render/spirv/spirv.h"

namespace croze::vulkan {

// A device that can run kernels of croze: it has Vulkan 1.2, addresses of buffers, timelines, and
// floats whose infinities and NaN are kept.
struct Offer {
  PhysicalDevice handle = nullptr;
  std::string name, driver;
  std::uint32_t version = 0;  // of Vulkan
  DeviceType type = DeviceType::Other;
  Limits limits{};
  std::uint32_t subgroup_items = 1;
  // Whether kernels have whole subgroups of so many items, which work together in these ways.
  bool has_whole_subgroups = false, shuffles = false, ballots = false;
  std::uint64_t allocation_bytes = 0;  // of one piece of memory, at most
  std::uint32_t queue_family = 0;
  SpirvTarget target;
  MatrixOffer matrices;
};

// The loader with an instance, and the devices as long as it lives.
struct Drivers {
  std::unique_ptr<Library> library;
  Instance instance = nullptr;
  std::vector<Offer> devices;
};

// All of them, in the order of the loader; none without a library.  What a device lacks that is
// not listed, the log says.
Drivers look_for_drivers(std::unique_ptr<Library> library);

// One line for people; it has in it all that code for the device depends on.
std::string description_of(const Offer& offer);

Caps caps_of(const Offer& offer);

}  // namespace croze::vulkan
