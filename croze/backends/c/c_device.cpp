// c_device.cpp -- shared objects as programs, threads as tasks.
#include "croze/backends/c/c_device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "croze/backends/c/c_compiler.h"
#include "croze/base/error.h"
#include "croze/base/thread_pool.h"
#include "croze/device/host_device.h"
#include "croze/device/sealed.h"
#include "croze/device/task_program.h"
#include "croze/render/c_family/c.h"

namespace croze {
namespace {

constexpr std::string_view mark = "c obj  1";

using Kernel = void (*)(void* const* buffers, const std::int64_t* variables, std::int64_t task,
                        void* scratch);

// A loaded shared object.
class SharedObject {
 public:
  SharedObject(const std::string& kernel, std::string_view bytes) {
    // The loader knows objects by their path, so each gets a path that never was; once loaded, the
    // file is not needed any more.
    TemporaryDirectory directory;
    const std::string path = directory.file("kernel.so");
    write_temporary(path, bytes);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    check(handle_ != nullptr, "kernel {}: cannot be loaded: {}", kernel, dlerror());
  }
  ~SharedObject() { dlclose(handle_); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  void* symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

 private:
  void* handle_;
};

class CProgram final : public TaskProgram {
 public:
  CProgram(const ProgramInfo& info, std::string_view bytes, ThreadPool& pool)
      : TaskProgram(info, pool),
        object_(info.name, bytes),
        kernel_(reinterpret_cast<Kernel>(object_.symbol(CRenderer::entry(info.name)))) {
    check(kernel_ != nullptr, "kernel {}: its code has no function of that name", info.name);
  }

  void run(void* const* buffers, std::span<const std::int64_t> variables,
           std::int64_t task) const override {
    kernel_(buffers, variables.data(), task, thread_scratch(info().launch.scratch_bytes, "C"));
  }

 private:
  SharedObject object_;
  Kernel kernel_;
};

class CDevice final : public HostDevice {
 public:
  CDevice(CCompiler compiler, int ordinal)
      : HostDevice("C", ordinal), compiler_(std::move(compiler)) {
    caps_.device = "C";
    caps_.architecture = compiler_.version();
    caps_.ops = CRenderer::ops();
    caps_.dtypes = caps_.storage = CRenderer::dtypes();
    caps_.threads = pool_.thread_count();
    caps_.joins_nests = true;
    caps_.vector_bytes = 16;  // what every 64-bit processor has
    caps_.masked_vectors = true;
  }

  std::string description() const override {
    return fmt::format("{}, {} threads", compiler_.version(), caps_.threads);
  }
  const Caps& caps() const override { return caps_; }
  const Renderer& renderer() const override { return renderer_; }

  void launch(std::span<const Sequence> sequences) override { launch_tasks(sequences, pool_); }
  void launch_in_order(std::span<const BoundLaunch> launches) override {
    launch_tasks_in_order(launches, pool_);
  }

  std::string compile(const std::string& name, const std::string& source) override {
    return seal(mark, compiler_.compile(name, source));
  }
  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return std::make_unique<CProgram>(info, unseal(mark, code), pool_);
  }

 private:
  CCompiler compiler_;
  CRenderer renderer_;
  ThreadPool pool_;
  Caps caps_;
};

}  // namespace

std::unique_ptr<Device> make_c_device(int ordinal) {
  std::optional<CCompiler> compiler = CCompiler::find();
  if (!compiler) return nullptr;
  return std::make_unique<CDevice>(std::move(*compiler), ordinal);
}

}  // namespace croze
