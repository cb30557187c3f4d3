// caps.h -- machines that run WGSL.
#pragma once

#include <cstdint>

#include "croze/device/caps.h"

namespace croze::wgsl {

// What is different from device to device.  The numbers here are those that every device of WebGPU
// has at least.
struct Limits {
  std::int64_t items = 256;  // of a group
  std::int64_t axis_items[3] = {256, 256, 64};
  std::int64_t group_memory = 16 << 10;
  std::int64_t storage_buffers = 8;  // of a kernel
  std::int64_t alignment = 256;      // of what is bound
};

// The capabilities of a device with these limits, but for its names.
Caps caps_of(const Limits& limits);

}  // namespace croze::wgsl
