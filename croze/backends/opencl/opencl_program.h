// opencl_program.h -- internal to backends/opencl/: a kernel with the arguments of a launch.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/opencl/builds.h"
#include "croze/backends/opencl/context.h"
#include "croze/backends/opencl/dependencies.h"
#include "croze/backends/opencl/device_memory.h"
#include "croze/base/small_vector.h"
#include "croze/device/device.h"

namespace croze::opencl {

class MainStream;

// What a launch touches.
std::vector<Access> accesses_of(const ProgramInfo& info, std::span<const MemoryView> buffers);

class OpenClProgram final : public Program {
 public:
  // `source`: that of a program that reads images, of which it is built once more for launches
  // that have none.
  OpenClProgram(const Context& context, MainStream& main, ProgramInfo info, BuiltProgram built,
                std::string source);
  ~OpenClProgram() override;
  OpenClProgram(const OpenClProgram&) = delete;
  OpenClProgram& operator=(const OpenClProgram&) = delete;

  const ProgramInfo& info() const override { return info_; }
  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override;

  // How many items there are, and in a group; false if there is nothing to run.
  struct Sizes {
    std::size_t global[3], local[3];
  };
  bool sizes(std::span<const std::int64_t> variables, Sizes& sizes) const;

  // Calls `use` with the kernel while its arguments are these.
  template <typename Use>
  void with_arguments(std::span<const MemoryView> buffers, std::span<const std::int64_t> variables,
                      Use use) {
    const std::lock_guard lock(mutex_);
    const std::optional<Images> images = images_for(buffers);
    cl_kernel kernel = images ? kernel_ : plain_kernel();
    set_arguments(kernel, buffers, variables, images);
    use(kernel);
  }
  // A kernel that has these arguments for ever, to be released by the caller.
  cl_kernel with_fixed_arguments(std::span<const MemoryView> buffers,
                                 std::span<const std::int64_t> variables);

 private:
  using Images = SmallVector<cl_mem, 8>;  // in the order of ProgramInfo::images

  cl_kernel make_kernel(const BuiltProgram& built) const;
  void ask_for_items();
  const BuiltProgram& plain();
  cl_kernel plain_kernel();
  bool is_written(const MemoryView& view, std::span<const MemoryView> buffers) const;
  std::optional<Images> images_for(std::span<const MemoryView> buffers) const;
  void set_arguments(cl_kernel kernel, std::span<const MemoryView> buffers,
                     std::span<const std::int64_t> variables,
                     const std::optional<Images>& images) const;

  const Context& context_;
  const OpenClLibrary& cl_ = context_.cl;
  MainStream& main_;
  ProgramInfo info_;
  std::string source_;
  BuiltProgram built_, plain_;  // the plain one once it is wanted
  cl_kernel kernel_ = nullptr, plain_kernel_ = nullptr;
  // In a group, as the kernel was compiled: those that work together have one axis.
  std::size_t items_[3] = {1, 1, 1};
  std::mutex mutex_;  // a kernel holds the arguments of one launch
};

}  // namespace croze::opencl
