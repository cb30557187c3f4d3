// cpu_device.cpp -- memory of the process, code in pages of its own, tasks on a pool of threads.
//
// A launch is done when it returns, so there is nothing to wait for and nothing to order.
#include "croze/backends/cpu/cpu_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "croze/backends/cpu/compiler.h"
#include "croze/backends/cpu/elf_loader.h"
#include "croze/backends/cpu/probe.h"
#include "croze/base/error.h"
#include "croze/base/half.h"
#include "croze/base/small_vector.h"
#include "croze/base/thread_pool.h"
#include "croze/device/host_memory.h"
#include "croze/device/sealed.h"
#include "croze/render/llvm.h"

namespace croze {
namespace {

constexpr std::string_view code_mark = "croze-o1";

#if defined(__SSE2__)
// LLVM calls this to round a double to Float16 once; in hardware it would take two roundings.
_Float16 round_to_half(double value) { return std::bit_cast<_Float16>(f16_from(value)); }
#endif

// What kernels may call: everything that LLVM puts in place of an instruction that is missing on
// some machine, or of a loop that it recognises.
const void* find_symbol(std::string_view name) {
  struct Symbol {
    std::string_view name;
    const void* address;
  };
  const auto address = [](auto* function) { return reinterpret_cast<const void*>(function); };
  static const Symbol symbols[] = {
    {"memcpy", address(&std::memcpy)},
    {"memmove", address(&std::memmove)},
    {"memset", address(&std::memset)},
    {"fma", address(static_cast<double (*)(double, double, double)>(&std::fma))},
    {"fmaf", address(static_cast<float (*)(float, float, float)>(&std::fma))},
    {"trunc", address(static_cast<double (*)(double)>(&std::trunc))},
    {"truncf", address(static_cast<float (*)(float)>(&std::trunc))},
#if defined(__SSE2__)
    {"__truncdfhf2", address(&round_to_half)},
#endif
  };
  for (const Symbol& s : symbols) {
    if (s.name == name) return s.address;
  }
  return nullptr;
}

// The calling thread's scratch memory.  It grows to the largest that was asked for and lives as
// long as the thread.
void* thread_scratch(std::int64_t bytes) {
  struct Block {
    Memory memory;
    ~Block() { release_host(memory); }
  };
  thread_local Block block;
  if (block.memory.bytes < bytes) {
    release_host(std::exchange(block.memory, {}));
    block.memory = allocate_host(bytes, 64, "CPU");
  }
  return block.memory.handle;
}

class CpuProgram final : public Program {
 public:
  CpuProgram(const ProgramInfo& info, std::string_view object, ThreadPool& pool)
      : info_(info),
        image_(object, find_symbol),
        kernel_(reinterpret_cast<Kernel>(const_cast<void*>(image_.entry()))),
        pool_(pool) {}

  void launch(std::span<const MemoryView> buffers,
              std::span<const std::int64_t> variables) override {
    const Bound bound = bind(buffers, variables);
    const auto run_task = [&](std::int64_t task) { run(bound, task); };
    if (tasks() == 1) return run_task(0);
    pool_.run(tasks(), run_task);
  }

  // The arguments of one launch.
  struct Bound {
    SmallVector<void*, 16> pointers;
    std::span<const std::int64_t> variables;
  };
  Bound bind(std::span<const MemoryView> buffers, std::span<const std::int64_t> variables) const {
    ensure(std::ssize(buffers) == info_.num_buffers && std::ssize(variables) == info_.num_variables,
           "{} is launched with {} buffers and {} variables, not {} and {}", info_.name,
           buffers.size(), variables.size(), info_.num_buffers, info_.num_variables);
    Bound bound{{}, variables};
    for (const MemoryView& view : buffers) bound.pointers.push_back(host_bytes(view));
    return bound;
  }
  std::int64_t tasks() const { return info_.launch.tasks; }
  void run(const Bound& bound, std::int64_t task) const {
    const std::int64_t scratch_bytes = info_.launch.scratch_bytes;
    kernel_(bound.pointers.data(), bound.variables.data(), task,
            scratch_bytes ? thread_scratch(scratch_bytes) : nullptr);
  }

  std::string disassembly() const override { return disassemble(image_.code()); }

 private:
  using Kernel = void (*)(void* const* buffers, const std::int64_t* variables, std::int64_t task,
                          void* scratch);

  ProgramInfo info_;
  CodeImage image_;
  Kernel kernel_;
  ThreadPool& pool_;
};

class CpuDevice final : public Device {
 public:
  CpuDevice() : caps_(probe_cpu(pool_.thread_count())) {}

  std::string_view name() const override { return "CPU"; }
  std::string description() const override { return describe_cpu(caps_); }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  // The tasks of all nests in one queue: a thread that has finished with one begins the next.
  void launch(std::span<const Nest> nests) override {
    if (nests.size() == 1) return nests[0].program->launch(nests[0].buffers, nests[0].variables);
    struct Part {
      const CpuProgram* program;
      CpuProgram::Bound bound;
      std::int64_t end;  // the first task that is not its own
    };
    std::vector<Part> parts;
    std::int64_t tasks = 0;
    for (const Nest& nest : nests) {
      const auto& program = static_cast<const CpuProgram&>(*nest.program);
      tasks += program.tasks();
      parts.push_back({&program, program.bind(nest.buffers, nest.variables), tasks});
    }
    pool_.run(tasks, [&](std::int64_t task) {
      const auto part = std::ranges::upper_bound(parts, task, {}, &Part::end);
      const std::int64_t first = part->end - part->program->tasks();
      part->program->run(part->bound, task - first);
    });
  }

  Memory allocate(std::int64_t bytes) override {
    return allocate_host(bytes, caps_.alignment, name());
  }
  void release(Memory memory) noexcept override { release_host(memory); }
  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    copy_to_host_memory(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    copy_from_host_memory(to, from);
  }
  std::byte* host_address(MemoryView view) override { return host_bytes(view); }

  std::string compile(const std::string& name, const std::string& source) override {
    return seal(code_mark, compile_llvm_ir(name, source));
  }
  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return std::make_unique<CpuProgram>(info, unseal(code_mark, code), pool_);
  }
  void synchronize() override {}

 private:
  ThreadPool pool_;
  LlvmRenderer renderer_;
  Caps caps_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace croze
