// platforms.h -- internal to backends/opencl/: the devices of all platforms.
#pragma once

#include <memory>
#include <vector>

#include "croze/backends/opencl/opencl_library.h"

namespace croze::opencl {

// A device, and what its platform has beside OpenCL 1.2.
struct FoundDevice {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
};

// The library, and its devices as long as it lives: what all OpenClDevices share.
struct OpenCl {
  std::unique_ptr<OpenClLibrary> library;
  std::vector<FoundDevice> devices;
};

// Process-wide: named in docs/architecture.md as global state.  Immutable once it was looked for.
const OpenCl& opencl();

}  // namespace croze::opencl
