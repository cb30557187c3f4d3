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
#include "croze/base/thread_pool.h"
#include "croze/device/host_device.h"
#include "croze/device/sealed.h"
#include "croze/device/task_program.h"
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

class CpuProgram final : public TaskProgram {
 public:
  CpuProgram(const ProgramInfo& info, std::string_view object, ThreadPool& pool)
      : TaskProgram(info, pool),
        image_(object, find_symbol),
        kernel_(reinterpret_cast<HostFunction>(const_cast<void*>(image_.entry()))) {}

  void run(void* const* buffers, std::span<const std::int64_t> variables,
           std::int64_t task) const override {
    kernel_(buffers, variables.data(), task, thread_scratch(info().launch.scratch_bytes, "CPU"));
  }

  HostFunction host_function() const override { return kernel_; }
  std::string disassembly() const override { return disassemble(image_.code()); }
  std::span<const std::byte> machine_code() const override { return image_.code(); }

 private:
  CodeImage image_;
  HostFunction kernel_;
};

LlvmTarget target_of(const Caps& caps) {
#if defined(__aarch64__)
  constexpr bool casts_saturate = true, loads_numbers = false;
#else
  constexpr bool casts_saturate = false, loads_numbers = true;
#endif
  const bool avx512 = has_avx512(caps);
  return {.avx512 = avx512,
          .gathers = avx512 && gathers_fast(),
          .casts_saturate = casts_saturate,
          .number_bytes = loads_numbers && !avx512 ? caps.vector_bytes : 0,
          .last_cache_bytes = avx512 ? caps.last_cache_bytes : 0,
          .vector_registers = caps.vector_registers};
}

class CpuDevice final : public HostDevice {
 public:
  explicit CpuDevice(int ordinal)
      : HostDevice("CPU", ordinal),
        caps_(probe_cpu(pool_.thread_count())),
        renderer_(target_of(caps_)) {}

  std::string description() const override { return describe_cpu(caps_); }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  void launch(std::span<const Sequence> sequences) override { launch_tasks(sequences, pool_); }
  void launch_in_order(std::span<const BoundLaunch> launches) override {
    launch_tasks_in_order(launches, pool_);
  }

  std::string compile(const std::string& name, const std::string& source) override {
    return seal(code_mark, compile_llvm_ir(name, source));
  }
  bool must_start_compiler() override { return must_start_llvm(); }
  void start_compiler() noexcept override { start_llvm(); }
  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return std::make_unique<CpuProgram>(info, unseal(code_mark, code), pool_);
  }

 private:
  ThreadPool pool_;
  Caps caps_;
  LlvmRenderer renderer_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(int ordinal) {
  return std::make_unique<CpuDevice>(ordinal);
}

}  // namespace croze
