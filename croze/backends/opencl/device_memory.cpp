#include "croze/backends/opencl/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace croze::opencl {

DeviceMemory::DeviceMemory(const Context& context, std::int64_t bytes)
    : context_(context), bytes_(context.images.whole(std::max<std::int64_t>(bytes, 1))) {
  cl_int status = CL_SUCCESS;
  buffer_ = context_.cl.create_buffer(context_.handle, CL_MEM_READ_WRITE,
                                      static_cast<std::size_t>(bytes_), nullptr, &status);
  if (status != CL_SUCCESS) context_.check(status, fmt::format("allocating {} bytes", bytes));
}

DeviceMemory::~DeviceMemory() {
  for (const std::optional<cl_mem>& image : images_) {
    if (image && *image) context_.cl.release_mem_object(*image);
  }
  context_.cl.release_mem_object(buffer_);
}

cl_mem DeviceMemory::image(std::int64_t element_bytes) {
  const std::lock_guard lock(mutex_);
  std::optional<cl_mem>& image =
      images_[std::countr_zero(static_cast<std::uint64_t>(element_bytes))];
  if (!image) {
    image = context_.images.image_of(context_.cl, context_.handle, buffer_,
                                     bytes_ / (4 * element_bytes), element_bytes);
  }
  return *image;
}

std::int64_t DeviceMemory::bytes_shown(std::int64_t element_bytes) const {
  return context_.images.pixels_shown(bytes_ / (4 * element_bytes)) * 4 * element_bytes;
}

}  // namespace croze::opencl
