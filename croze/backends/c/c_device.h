// c_device.h -- C: the device that runs kernels through the system's C compiler.  Slower to compile
// than CPU, but its source is plain C that can be read, kept and built anywhere.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {

// Null if no `cc` is on the PATH.
std::unique_ptr<Device> make_c_device(int ordinal = 0);

}  // namespace croze
