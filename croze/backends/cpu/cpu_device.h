// cpu_device.h -- CPU: kernels compiled by LLVM, run in this process by a pool of threads.
#pragma once

#include <memory>

#include "croze/device/device.h"

namespace croze {

std::unique_ptr<Device> make_cpu_device(int ordinal = 0);

}  // namespace croze
