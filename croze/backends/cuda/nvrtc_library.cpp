// nvrtc_library.cpp -- loading the compiler, and one compilation.
#include "croze/backends/cuda/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "croze/base/error.h"
#include "croze/base/function_binder.h"
#include "croze/base/log.h"
#include "croze/base/options.h"

namespace croze::cuda {

using ProgramHandle = struct NvrtcProgramObject*;

struct Nvrtc::Functions {
  int (*version)(int* major, int* minor);
  const char* (*error_text)(int status);
  int (*create_program)(ProgramHandle*, const char* source, const char* name, int num_headers,
                        const char* const* headers, const char* const* names);
  int (*destroy_program)(ProgramHandle*);
  int (*compile_program)(ProgramHandle, int num_options, const char* const* options);
  int (*log_size)(ProgramHandle, std::size_t*);
  int (*log)(ProgramHandle, char*);
  int (*code_size)(ProgramHandle, std::size_t*);
  int (*code)(ProgramHandle, char*);
};

namespace {

void* open_library() {
  const std::string given = Options::text(Option::NvrtcLibrary);
  if (!given.empty()) {
    void* library = dlopen(given.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) log_line(1, "CUDA: {}", dlerror());
    return library;
  }
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

// A program of the library's while it is compiled.
class Nvrtc::Compilation {
 public:
  Compilation(const Functions& functions, const std::string& name, const std::string& source)
      : functions_(functions), name_(name) {
    check_status(functions_.create_program(&program_, source.c_str(), (name + ".cu").c_str(), 0,
                                           nullptr, nullptr));
  }
  ~Compilation() { functions_.destroy_program(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  KernelImage run(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    // Each operation rounds once and by itself; the rest of IEEE 754 is what the compiler does
    // unless told otherwise.
    const std::array<const char*, 3> options = {target.c_str(), "--fmad=false",
                                                "--ptxas-options=-v"};
    const int status =
        functions_.compile_program(program_, static_cast<int>(options.size()), options.data());
    std::string notes = text(functions_.log_size, functions_.log);
    if (!notes.empty() && notes.back() == '\0') notes.pop_back();
    ensure(status == 0, "kernel {}: NVRTC refuses it: {}\n{}", name_, functions_.error_text(status),
           notes);
    return {text(functions_.code_size, functions_.code), std::move(notes)};
  }

 private:
  std::string text(int (*size_of)(ProgramHandle, std::size_t*), int (*get)(ProgramHandle, char*)) {
    std::size_t size = 0;
    check_status(size_of(program_, &size));
    std::string bytes(size, '\0');
    check_status(get(program_, bytes.data()));
    return bytes;
  }

  void check_status(int status) const {
    ensure(status == 0, "kernel {}: NVRTC: {}", name_, functions_.error_text(status));
  }

  const Functions& functions_;
  const std::string& name_;
  ProgramHandle program_ = nullptr;
};

Nvrtc::Nvrtc(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {
  int major = 0, minor = 0;
  functions_->version(&major, &minor);
  version_ = fmt::format("NVRTC {}.{}", major, minor);
}

// Process-wide: named in docs/architecture.md as global state.  Immutable once it was looked for.
const Nvrtc* Nvrtc::get() {
  static const Nvrtc* const found = []() -> const Nvrtc* {
    void* library = open_library();
    if (!library) return nullptr;
    auto table = std::make_unique<Functions>();
    FunctionBinder b(library);
    b.bind(table->version, "nvrtcVersion");
    b.bind(table->error_text, "nvrtcGetErrorString");
    b.bind(table->create_program, "nvrtcCreateProgram");
    b.bind(table->destroy_program, "nvrtcDestroyProgram");
    b.bind(table->compile_program, "nvrtcCompileProgram");
    b.bind(table->log_size, "nvrtcGetProgramLogSize");
    b.bind(table->log, "nvrtcGetProgramLog");
    b.bind(table->code_size, "nvrtcGetCUBINSize");
    b.bind(table->code, "nvrtcGetCUBIN");
    if (b.missing().empty()) return new Nvrtc(std::move(table));
    log_line(1, "CUDA: the compiler has no {}", b.missing());
    return nullptr;
  }();
  return found;
}

KernelImage Nvrtc::compile(const std::string& name, const std::string& source,
                           const std::string& architecture) const {
  return Compilation(*functions_, name, source).run(architecture);
}

}  // namespace croze::cuda
