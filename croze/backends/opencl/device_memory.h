// device_memory.h -- internal to backends/opencl/: a buffer, and the images that kernels see it as.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "croze/backends/opencl/context.h"
#include "croze/device/device.h"

namespace croze::opencl {

// What the handle of a Memory is.
class DeviceMemory {
 public:
  // Throws Error if there is no memory left.
  DeviceMemory(const Context& context, std::int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  cl_mem buffer() const { return buffer_; }

  // The image that shows elements of so many bytes, for as long as the memory lives; null if the
  // driver makes none.
  cl_mem image(std::int64_t element_bytes);
  // How many of its bytes that image shows.
  std::int64_t bytes_shown(std::int64_t element_bytes) const;

 private:
  const Context& context_;
  std::int64_t bytes_;
  cl_mem buffer_ = nullptr;
  std::mutex mutex_;
  std::optional<cl_mem> images_[3];  // by the logarithm of the bytes of an element, once asked for
};

inline DeviceMemory& device_memory(const Memory& memory) {
  return *static_cast<DeviceMemory*>(memory.handle);
}
inline cl_mem buffer_of(const Memory& memory) {
  return memory.handle ? device_memory(memory).buffer() : nullptr;
}

}  // namespace croze::opencl
