// ptx_interp_device.h -- PTX_INTERP: runs the text of the PTX renderer on the host, and watches it.
// For tests: it stands in no table but theirs, and is no part of the library.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {

std::unique_ptr<Device> make_ptx_interp_device(int ordinal = 0);

}  // namespace croze
