// cuda_device.h -- CUDA: groups of items on a GPU of NVIDIA's, by its driver alone.
#pragma once

#include <memory>

#include "croze/backends/cuda/cuda_compiler.h"
#include "croze/backends/cuda/driver_library.h"
#include "croze/device/device.h"

namespace croze {

// How many devices the driver finds; none without a driver.
int count_cuda_devices();

// One of them; null if there are not so many.
std::unique_ptr<Device> make_cuda_device(int ordinal = 0);

namespace cuda {

// How a device compiles kernels for its processor, "sm_90a".
using MakeCompiler = CudaCompiler (*)(const std::string& architecture);

// A device of this driver, which must live as long; null if there are not so many.
std::unique_ptr<Device> make_device(const Driver& driver, int ordinal,
                                    MakeCompiler compiler = chosen_compiler);

}  // namespace cuda
}  // namespace croze
