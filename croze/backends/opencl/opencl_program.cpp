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
                             cl_program program)
    : context_(context), main_(main), info_(std::move(info)), program_(program) {
  try {
    kernel_ = make_kernel();
  } catch (...) {
    cl_.release_program(program_);
    throw;
  }
}

OpenClProgram::~OpenClProgram() {
  cl_.release_kernel(kernel_);
  cl_.release_program(program_);
}

void OpenClProgram::launch(std::span<const MemoryView> buffers,
                           std::span<const std::int64_t> variables) {
  main_.use([&](OpenClStream& stream) { stream.launch(*this, buffers, variables); });
}

bool OpenClProgram::sizes(std::span<const std::int64_t> variables, Sizes& sizes) const {
  for (std::size_t axis = 0; axis < 3; axis++) {
    sizes.local[axis] = static_cast<std::size_t>(info_.launch.items[axis]);
    sizes.global[axis] =
        static_cast<std::size_t>(info_.launch.groups[axis].value(variables)) * sizes.local[axis];
    if (sizes.global[axis] == 0) return false;
  }
  return true;
}

cl_kernel OpenClProgram::make_kernel() const {
  cl_int status = CL_SUCCESS;
  cl_kernel kernel =
      cl_.create_kernel(program_, OpenClRenderer::entry(info_.name).c_str(), &status);
  context_.check(status, "kernel " + info_.name);
  return kernel;
}

cl_kernel OpenClProgram::with_fixed_arguments(std::span<const MemoryView> buffers,
                                              std::span<const std::int64_t> variables) const {
  cl_kernel kernel = make_kernel();
  try {
    set_arguments(kernel, buffers, variables);
  } catch (...) {
    cl_.release_kernel(kernel);
    throw;
  }
  return kernel;
}

void OpenClProgram::set_arguments(cl_kernel kernel, std::span<const MemoryView> buffers,
                                  std::span<const std::int64_t> variables) const {
  cl_uint next = 0;
  const auto set = [&](auto value) {
    context_.check(cl_.set_kernel_arg(kernel, next++, sizeof(value), &value),
                   "kernel " + info_.name);
  };
  for (const MemoryView& view : buffers) {
    set(buffer_of(view.memory));
    set(cl_long{view.offset});
  }
  for (std::int64_t value : variables.first(static_cast<std::size_t>(info_.num_variables))) {
    set(cl_long{value});
  }
}

}  // namespace croze::opencl
