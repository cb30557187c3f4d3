// webgpu_device.h -- WEBGPU: groups of work-items on whatever a library of WebGPU offers.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {

// The device of the adapter that the library prefers; null if there is no library (see
// CROZE_WEBGPU_LIBRARY) or it has no adapter.
std::unique_ptr<Device> make_webgpu_device();

}  // namespace croze
