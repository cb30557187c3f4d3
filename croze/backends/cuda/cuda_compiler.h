// cuda_compiler.h -- how a device makes code of kernels: a renderer, and a function from its text
// to an image that the driver loads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "croze/backends/cuda/architectures.h"
#include "croze/device/target.h"
#include "croze/render/renderer.h"

namespace croze::cuda {

// The text defines one function, croze_NAME, whose arguments are an address for each buffer and 64
// bits for each variable.  An image may be code of the processor (a cubin) or PTX, which the driver
// compiles.
struct CudaCompiler {
  std::shared_ptr<const Renderer> renderer;
  Language language;
  std::string version;  // what the code depends on beside the processor
  std::function<KernelImage(const std::string& name, const std::string& source)> image_of;
  // The group memory that a launch must give to the function of a text, beside what it declares.
  std::int64_t (*group_bytes_of)(std::string_view source) = nullptr;
};

// CUDA C by NVRTC.  Without NVRTC compiling is an Error that says so.
CudaCompiler nvrtc_compiler(const std::string& architecture);

// PTX, which the driver compiles: nothing else is needed.
CudaCompiler ptx_compiler(const std::string& architecture);

// The one that CROZE_CUDA_COMPILER names; if none is named, NVRTC where it is found, else PTX.
// Throws Error for a name that is none.
CudaCompiler chosen_compiler(const std::string& architecture);

// Of CUDA C: the bytes that the first line names, "// group memory: 4096".  Throws InternalError if
// it does not.
std::int64_t group_bytes_of(std::string_view source);

// What a device keeps of a kernel: its image, and the group memory of a launch.
struct CudaCode {
  std::int64_t group_bytes = 0;
  std::string_view image;
};
std::string pack(std::int64_t group_bytes, std::string_view image);
// Throws Error if the bytes are not what pack() returned.
CudaCode unpack(std::string_view code);

// The processors that croze compiles for without having one (run/devices.h).
std::vector<Target> cuda_targets();

}  // namespace croze::cuda
