// opencl_device.h -- OPENCL: groups of work-items on whatever the system's OpenCL offers.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {
namespace opencl {
struct OpenCl;
}

// How many devices that have a compiler the machine has; none without OpenCL.
int count_opencl_devices();

// One of them, in the order of the platforms; null if there are not so many.
std::unique_ptr<Device> make_opencl_device(int ordinal = 0);

namespace opencl {

// A device of these, which must live as long; null if there are not so many.
std::unique_ptr<Device> make_device(const OpenCl& found, int ordinal);

}  // namespace opencl

}  // namespace croze
