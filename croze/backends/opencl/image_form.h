// image_form.h -- internal to backends/opencl/: which images of buffers a device has.
//
// An image is made of a buffer, whose bytes it shows as pixels of four elements: of one dimension
// where those of the device are long enough (image1d_buffer_t), else of two (of
// cl_khr_image2d_from_buffer, or OpenCL 2.0), whose rows follow each other in memory.
#pragma once

#include <cstdint>

#include "croze/backends/opencl/opencl_library.h"

namespace croze::opencl {

struct ImageForm {
  std::int64_t most_pixels = 0;  // in one image; 0: there are none
  std::int64_t row = 0;          // pixels, a power of two; 0: images have one dimension
  std::int64_t alignment = 1;    // of the length of a row, in pixels

  // The form that is wanted of the device (CROZE_IMAGES), if it has any.
  static ImageForm wanted_of(const OpenClLibrary& cl, cl_device_id device);

  // The bytes of a buffer of at least so many all of which images show, whatever its elements are.
  std::int64_t whole(std::int64_t bytes) const;
  // How many pixels an image shows of so many.
  std::int64_t pixels_shown(std::int64_t pixels) const;

  // Pixels of four unsigned integers of so many bytes; null if the driver makes none.
  cl_mem image_of(const OpenClLibrary& cl, cl_context context, cl_mem buffer, std::int64_t pixels,
                  std::int64_t element_bytes) const;
};

}  // namespace croze::opencl
