// capabilities.h -- internal to backends/opencl/: what a device offers.
#pragma once

#include <string_view>

#include "croze/backends/opencl/opencl_library.h"
#include "croze/backends/opencl/subgroups.h"
#include "croze/device/caps.h"

namespace croze::opencl {

// Whether it names the extension.
bool has_extension(const OpenClLibrary& cl, cl_device_id device, std::string_view name);

// Whether numbers of 16 bits can be loaded, stored and converted.
bool has_halves(const OpenClLibrary& cl, cl_device_id device);

// How many items run in lockstep, by whatever number the device knows; 0 if it knows none.
std::int64_t items_in_lockstep(const OpenClLibrary& cl, cl_device_id device);

// With the images that kernels read, if any, and their subgroups.
Caps probe(const Context& context, const Subgroups& subgroups);

}  // namespace croze::opencl
