// image_form.cpp -- asking a device for its images, and making them.
#include "croze/backends/opencl/image_form.h"

#include <algorithm>
#include <bit>

#include "croze/base/options.h"

namespace croze::opencl {
namespace {

// Older headers know it by other names, or not at all.
constexpr cl_device_info image_pitch_alignment = 0x104A;

// A gigabyte of floats.  Memory of which images show no more than the beginning is of little use:
// intermediate values share one buffer.
constexpr std::int64_t enough_pixels = 64 << 20;

constexpr std::int64_t element_sizes[] = {1, 2, 4};

std::int64_t power_of_two_from(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}
std::int64_t power_of_two_to(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

// Rows are short, since memory is made up to whole ones, and powers of two, for which places need
// no division.
ImageForm of_two_dimensions(const OpenClLibrary& cl, cl_device_id device) {
  const auto size = [&](cl_device_info property) {
    return static_cast<std::int64_t>(cl.device_info<std::size_t>(device, property));
  };
  const auto alignment = std::int64_t{cl.device_info<cl_uint>(device, image_pitch_alignment)};
  const std::int64_t width = size(CL_DEVICE_IMAGE2D_MAX_WIDTH);
  const std::int64_t height = size(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  if (alignment <= 0 || alignment > width || height <= 0) return {};
  const std::int64_t needed = power_of_two_from((enough_pixels + height - 1) / height);
  const std::int64_t row =
      std::max(power_of_two_from(alignment), std::min(needed, power_of_two_to(width)));
  return {.most_pixels = row * height, .row = row, .alignment = power_of_two_from(alignment)};
}

// GPUs with memory of their own read buffers as fast, and tiles that are filled by pixels cost them
// conflicts of banks.
bool are_wanted(const OpenClLibrary& cl, cl_device_id device) {
  const std::int64_t option = Options::integer(Option::Images);
  if (option >= 0) return option == 1;
  return (cl.device_info<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0 &&
         cl.device_info<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY);
}

}  // namespace

ImageForm ImageForm::wanted_of(const OpenClLibrary& cl, cl_device_id device) {
  constexpr cl_uint enough_images = 64;  // of one kernel, for as many buffers as it may have
  if (!are_wanted(cl, device) || !cl.device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) ||
      cl.device_info<cl_uint>(device, CL_DEVICE_MAX_READ_IMAGE_ARGS) < enough_images) {
    return {};
  }
  const ImageForm line{.most_pixels = static_cast<std::int64_t>(
                           cl.device_info<std::size_t>(device, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE))};
  if (line.most_pixels >= enough_pixels) return line;
  const ImageForm rows = of_two_dimensions(cl, device);
  return rows.most_pixels > line.most_pixels ? rows : line;
}

std::int64_t ImageForm::whole(std::int64_t bytes) const {
  if (most_pixels == 0) return bytes;
  std::int64_t unit = alignment * 4 * element_sizes[2];
  for (std::int64_t size : element_sizes) {
    if (bytes > row * 4 * size) unit = std::max(unit, row * 4 * size);
  }
  return (bytes + unit - 1) / unit * unit;
}

std::int64_t ImageForm::pixels_shown(std::int64_t pixels) const {
  const std::int64_t whole_rows = row > 0 && pixels > row ? row : alignment;
  return std::min(most_pixels, pixels / whole_rows * whole_rows);
}

cl_mem ImageForm::image_of(const OpenClLibrary& cl, cl_context context, cl_mem buffer,
                           std::int64_t pixels, std::int64_t element_bytes) const {
  const cl_image_format format{CL_RGBA, element_bytes == 1   ? cl_channel_type{CL_UNSIGNED_INT8}
                                        : element_bytes == 2 ? cl_channel_type{CL_UNSIGNED_INT16}
                                                             : cl_channel_type{CL_UNSIGNED_INT32}};
  cl_image_desc shape{};
  const std::int64_t shown = pixels_shown(pixels), width = row > 0 ? std::min(row, shown) : shown;
  if (shown == 0) return nullptr;
  shape.image_type = row > 0 ? CL_MEM_OBJECT_IMAGE2D : CL_MEM_OBJECT_IMAGE1D_BUFFER;
  shape.image_width = static_cast<std::size_t>(width);
  if (row > 0) {
    shape.image_height = static_cast<std::size_t>(shown / width);
    shape.image_row_pitch = static_cast<std::size_t>(width * 4 * element_bytes);
  }
  shape.buffer = buffer;
  cl_int status = CL_SUCCESS;
  cl_mem image = cl.create_image(context, CL_MEM_READ_ONLY, &format, &shape, nullptr, &status);
  return status == CL_SUCCESS ? image : nullptr;
}

}  // namespace croze::opencl
