// vulkan_device.h -- VULKAN: groups of items on whatever the system's drivers of Vulkan offer.
#pragma once

#include <memory>

#include "croze/backends/vulkan/physical_device.h"
#include "croze/device/device.h"

namespace croze {

// How many devices the drivers know that can run kernels; none without the loader.
int count_vulkan_devices();

// One of them, in the order of the loader; null if there are not so many.
std::unique_ptr<Device> make_vulkan_device(int ordinal = 0);

namespace vulkan {

// A device of these drivers, which must live as long; null if there are not so many.
std::unique_ptr<Device> make_device(const Drivers& drivers, int ordinal);

}  // namespace vulkan
}  // namespace croze
