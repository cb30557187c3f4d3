// program_entry.cpp -- the fields of a compiled kernel, which archives find beside the types.
#include "croze/run/cache/program_entry.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "croze/base/bytes.h"
#include "croze/base/error.h"
#include "croze/device/device.h"
#include "croze/graph/text/archive.h"

namespace croze {

template <typename A>
void fields(A& a, Launch& launch) {
  a(launch.tasks);
  for (LaunchSize& size : launch.groups) a(size);
  for (std::int64_t& items : launch.items) a(items);
  a(launch.scratch_bytes);
}
template <typename A>
void fields(A& a, VariableBounds& bounds) {
  a(bounds.lo), a(bounds.hi);
}
template <typename A>
void fields(A& a, BufferSize& size) {
  a(size.buffer), a(size.bytes);
}
template <typename A>
void fields(A& a, ImageBuffer& image) {
  a(image.slot), a(image.element_bytes);
}
template <typename A>
void fields(A& a, BoxedBuffer& b) {
  a(b.slot), a(b.dtype), a(b.sizes), a(b.strides), a(b.box);
}
template <typename A>
void fields(A& a, ProgramInfo& info) {
  a(info.name), a(info.launch), a(info.num_buffers), a(info.num_variables), a(info.flops);
  a(info.bytes), a(info.variables), a(info.sizes), a(info.written), a(info.images), a(info.boxed);
}
template <typename A>
void fields(A& a, KernelCode& kernel) {
  a(kernel.info), a(kernel.code);
}

namespace {

// What is said of a buffer must be of one that there is.
void check_info(const ProgramInfo& info) {
  const auto is_buffer = [&](std::int64_t slot) { return 0 <= slot && slot < info.num_buffers; };
  const auto is_image = [&](const ImageBuffer& image) {
    const std::int64_t bytes = image.element_bytes;
    return is_buffer(image.slot) && (bytes == 1 || bytes == 2 || bytes == 4);
  };
  const auto is_box = [&](const BoxedBuffer& b) {
    return is_buffer(b.slot) && static_cast<int>(b.dtype) < num_dtypes && !b.box.empty() &&
           b.sizes.size() == b.box.size() && b.strides.size() == b.box.size();
  };
  check(std::ssize(info.variables) <= info.num_variables, "program cache: too many variables");
  check(std::ranges::all_of(info.sizes, is_buffer, &BufferSize::buffer),
        "program cache: the size of no buffer");
  check(std::ranges::all_of(info.images, is_image), "program cache: an image of no buffer");
  check(std::ranges::all_of(info.boxed, is_box), "program cache: a box of no buffer");
}

}  // namespace

std::string entry_of(KernelCode kernel) {
  ArchiveWriter writer;
  writer(kernel);
  return std::move(writer.bytes);
}

KernelCode kernel_of(std::string_view entry) {
  ArchiveReader reader(ByteReader(std::as_bytes(std::span(entry)), "program cache"));
  KernelCode kernel;
  reader(kernel);
  reader.end();
  check_info(kernel.info);
  return kernel;
}

}  // namespace croze
