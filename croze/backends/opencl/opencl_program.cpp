// opencl_program.cpp -- kernels hold the arguments of one launch, so there is a lock around each.
#include "croze/backends/opencl/opencl_program.h"

#include <utility>

#include "croze/backends/opencl/opencl_stream.h"
#include "croze/render/c_family/opencl.h"

namespace croze::opencl {

std::vector<Access> accesses_of(const ProgramInfo& info, std::span<const MemoryView> buffers) {
  std::vector<Access> accesses;
  for (std::size_t i = 0; i < buffers.size(); i++) {
    const MemoryView& view = buffers[i];
    accesses.push_back({view.memory.handle, view.offset, view.offset + view.bytes, info.writes(i)});
  }
  return accesses;
}

OpenClProgram::OpenClProgram(const Context& context, MainStream& main, ProgramInfo info,
                             BuiltProgram built, std::string source)
    : context_(context),
      main_(main),
      info_(std::move(info)),
      source_(std::move(source)),
      built_(std::move(built)),
      kernel_(make_kernel(built_)) {
  ask_for_items();
}

OpenClProgram::~OpenClProgram() {
  cl_.release_kernel(kernel_);
  if (plain_kernel_) cl_.release_kernel(plain_kernel_);
}

void OpenClProgram::launch(std::span<const MemoryView> buffers,
                           std::span<const std::int64_t> variables) {
  main_.use([&](OpenClStream& stream) { stream.launch(*this, buffers, variables); });
}

bool OpenClProgram::sizes(std::span<const std::int64_t> variables, Sizes& sizes) const {
  for (std::size_t axis = 0; axis < 3; axis++) {
    sizes.local[axis] = items_[axis];
    sizes.global[axis] =
        static_cast<std::size_t>(info_.launch.groups[axis].value(variables)) * sizes.local[axis];
    if (sizes.global[axis] == 0) return false;
  }
  return true;
}

cl_kernel OpenClProgram::make_kernel(const BuiltProgram& built) const {
  cl_int status = CL_SUCCESS;
  cl_kernel kernel =
      cl_.create_kernel(built.get(), OpenClRenderer::entry(info_.name).c_str(), &status);
  context_.check(status, "kernel " + info_.name);
  return kernel;
}

void OpenClProgram::ask_for_items() {
  context_.check(
      cl_.get_kernel_work_group_info(kernel_, context_.device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                     sizeof(items_), items_, nullptr),
      "kernel " + info_.name);
}

const BuiltProgram& OpenClProgram::plain() {
  if (!plain_) plain_ = built_of_text(context_, info_.name, source_, TextForm::Plain);
  return plain_;
}

cl_kernel OpenClProgram::plain_kernel() {
  if (!plain_kernel_) plain_kernel_ = make_kernel(plain());
  return plain_kernel_;
}

cl_kernel OpenClProgram::with_fixed_arguments(std::span<const MemoryView> buffers,
                                              std::span<const std::int64_t> variables) {
  const std::lock_guard lock(mutex_);
  const std::optional<Images> images = images_for(buffers);
  cl_kernel kernel = make_kernel(images ? built_ : plain());
  try {
    set_arguments(kernel, buffers, variables, images);
  } catch (...) {
    cl_.release_kernel(kernel);
    throw;
  }
  return kernel;
}

// None if one of them cannot be had: the buffer begins within a pixel, or leaves what the image of
// its memory shows, or the kernel writes the same bytes as another buffer, of which images need not
// know.
std::optional<OpenClProgram::Images> OpenClProgram::images_for(
    std::span<const MemoryView> buffers) const {
  Images images;
  for (const ImageBuffer& i : info_.images) {
    const MemoryView& view = buffers[static_cast<std::size_t>(i.slot)];
    DeviceMemory& memory = device_memory(view.memory);
    if (view.offset % i.pixel_bytes() != 0 || is_written(view, buffers) ||
        view.offset + view.bytes > memory.bytes_shown(i.element_bytes)) {
      return {};
    }
    cl_mem image = memory.image(i.element_bytes);
    if (!image) return {};
    images.push_back(image);
  }
  return images;
}

bool OpenClProgram::is_written(const MemoryView& view, std::span<const MemoryView> buffers) const {
  for (std::size_t i = 0; i < buffers.size(); i++) {
    const MemoryView& b = buffers[i];
    if (info_.writes(i) && b.memory.handle == view.memory.handle &&
        b.offset < view.offset + view.bytes && view.offset < b.offset + b.bytes) {
      return true;
    }
  }
  return false;
}

void OpenClProgram::set_arguments(cl_kernel kernel, std::span<const MemoryView> buffers,
                                  std::span<const std::int64_t> variables,
                                  const std::optional<Images>& images) const {
  cl_uint next = 0;
  const auto set = [&](auto value) {
    context_.check(cl_.set_kernel_arg(kernel, next++, sizeof(value), &value),
                   "kernel " + info_.name);
  };
  std::int64_t taken = 0;
  for (std::size_t slot = 0; slot < buffers.size(); slot++) {
    const MemoryView& view = buffers[slot];
    if (images && info_.reads_image(static_cast<std::int64_t>(slot))) {
      const ImageBuffer& image = info_.images[static_cast<std::size_t>(taken)];
      set((*images)[taken++]);
      set(cl_long{view.offset / image.pixel_bytes()});
    } else {
      set(buffer_of(view.memory));
      set(cl_long{view.offset});
    }
  }
  for (std::int64_t value : variables.first(static_cast<std::size_t>(info_.num_variables))) {
    set(cl_long{value});
  }
}

}  // namespace croze::opencl
