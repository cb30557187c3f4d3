// opencl_device.h -- OPENCL: groups of work-items on whatever the system's OpenCL offers.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {

// The first device that has a compiler; null if the machine has no OpenCL or no such device.
std::unique_ptr<Device> make_opencl_device();

}  // namespace croze
