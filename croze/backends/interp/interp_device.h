// interp_device.h -- INTERP: the device that interprets linear programs.  It is the meaning of
// every op; other devices are compared with it.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {

// What INTERP claims: every op on every dtype, scalars only, one task.  It executes vectors, tasks
// and groups as well, so a test may hand it any other device's capabilities.
Caps interp_caps();

std::unique_ptr<Device> make_interp_device(int ordinal = 0);
std::unique_ptr<Device> make_interp_device(const Caps& caps);

}  // namespace croze
