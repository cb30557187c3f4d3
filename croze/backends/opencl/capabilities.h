// capabilities.h -- internal to backends/opencl/: what a device offers.
#pragma once

#include <string_view>

#include "croze/backends/opencl/opencl_library.h"
#include "croze/device/caps.h"

namespace croze::opencl {

// Whether it names the extension.
bool has_extension(const OpenClLibrary& cl, cl_device_id device, std::string_view name);

// Whether numbers of 16 bits can be loaded, stored and converted.
bool has_halves(const OpenClLibrary& cl, cl_device_id device);

Caps probe(const OpenClLibrary& cl, cl_device_id device);

}  // namespace croze::opencl
