// webgpu_device.h -- WEBGPU: groups of work-items on whatever a library of WebGPU offers.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {
namespace webgpu {
struct Library;
}

// The device of the adapter that the library prefers; null if there is no library (see
// CROZE_WEBGPU_LIBRARY) or it has no adapter.
std::unique_ptr<Device> make_webgpu_device();

namespace webgpu {

// That of this library.
std::unique_ptr<Device> make_device(std::unique_ptr<Library> library);

}  // namespace webgpu

}  // namespace croze
