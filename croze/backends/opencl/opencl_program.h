// opencl_program.h -- internal to backends/opencl/: a kernel with the arguments of a launch.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "croze/backends/opencl/context.h"
#include "croze/backends/opencl/dependencies.h"
#include "croze/device/device.h"

namespace croze::opencl {

class MainStream;

inline cl_mem buffer_of(const Memory& memory) { return static_cast<cl_mem>(memory.handle); }

// What a launch touches.
std::vector<Access> accesses_of(const ProgramInfo& info, std::span<const MemoryView> buffers);

class OpenClProgram final : public Program {
 public:
  // Takes the program over.
  OpenClProgram(const Context& context, MainStream& main, ProgramInfo info, cl_program program);
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
    set_arguments(kernel_, buffers, variables);
    use(kernel_);
  }
  // A kernel that has these arguments for ever, to be released by the caller.
  cl_kernel with_fixed_arguments(std::span<const MemoryView> buffers,
                                 std::span<const std::int64_t> variables) const;

 private:
  cl_kernel make_kernel() const;
  void set_arguments(cl_kernel kernel, std::span<const MemoryView> buffers,
                     std::span<const std::int64_t> variables) const;

  const Context& context_;
  const OpenClLibrary& cl_ = context_.cl;
  MainStream& main_;
  ProgramInfo info_;
  cl_program program_;
  cl_kernel kernel_;
  std::mutex mutex_;  // a kernel holds the arguments of one launch
};

}  // namespace croze::opencl
