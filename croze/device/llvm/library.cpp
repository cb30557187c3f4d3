// library.cpp -- finding libLLVM and its functions.
#include "croze/device/llvm/library.h"

#if CROZE_HAVE_LLVM

#include <dlfcn.h>

#include <iterator>

#include "croze/base/error.h"

namespace croze {
namespace {

void* open_library() {
  // Croze's own (linked.cpp), the system's that croze was built with, then whatever newer one there
  // is: this part of the interface does not change.
  const char* names[] = {"libLLVM-croze.so", CROZE_LLVM_LIBRARY, "libLLVM.so.22.1",
                         "libLLVM.so.21.1",  "libLLVM.so.20.1",  "libLLVM.so.19.1",
                         "libLLVM-19.so"};
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return handle;
  }
  fail({}, "kernels have to be compiled, but {} cannot be loaded ({}): install LLVM 19 or newer",
       CROZE_LLVM_LIBRARY, dlerror());
}

template <typename F>
void find(void* handle, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(handle, name));
  check(function != nullptr, "libLLVM has no function {}: its version does not fit", name);
}

// LLVM names these functions after the machine it was built for.
void initialize_native_target(void* handle) {
#define CROZE_TEXT(name) #name
#define CROZE_NAME(name) CROZE_TEXT(name)
  for (const char* name : {CROZE_NAME(LLVM_NATIVE_TARGETINFO), CROZE_NAME(LLVM_NATIVE_TARGET),
                           CROZE_NAME(LLVM_NATIVE_TARGETMC), CROZE_NAME(LLVM_NATIVE_ASMPRINTER),
                           CROZE_NAME(LLVM_NATIVE_DISASSEMBLER)}) {
    void (*initialize)() = nullptr;
    find(handle, name, initialize);
    initialize();
  }
#undef CROZE_NAME
#undef CROZE_TEXT
}

// Whether the library has the other targets that kernels are compiled for, or was built without
// them, is found out when one is asked for.
void initialize_other_targets(void* handle) {
  for (const char* name : {"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTarget",
                           "LLVMInitializeAMDGPUTargetMC", "LLVMInitializeAMDGPUAsmPrinter",
                           "LLVMInitializeAMDGPUDisassembler"}) {
    const auto initialize = reinterpret_cast<void (*)()>(dlsym(handle, name));
    if (initialize) initialize();
  }
}

// The instructions of a kernel come in the order that codegen has made, each load before its first
// use.  LLVM's scheduler moves the loads of a whole tile to the front, more than there are
// registers for, and spills and reloads them: a convolution then takes twice as long.  Processors
// that run out of order gain nothing from it.  Only an option of the whole library turns it off.
void keep_order_of_instructions(const LlvmLibrary& library) {
  const char* arguments[] = {"croze", "-enable-misched=false"};
  library.LLVMParseCommandLineOptions(std::size(arguments), arguments, "");
}

LlvmLibrary load() {
  void* handle = open_library();
  LlvmLibrary library;
#define CROZE_FIND(name) find(handle, #name, library.name);
  CROZE_LLVM_FUNCTIONS(CROZE_FIND)
#undef CROZE_FIND
#define CROZE_FIND(name) library.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));
  CROZE_LLVM_OWN_FUNCTIONS(CROZE_FIND)
#undef CROZE_FIND
  initialize_native_target(handle);
  initialize_other_targets(handle);
  keep_order_of_instructions(library);
  return library;
}

}  // namespace

const LlvmLibrary& llvm_library() {
  static const LlvmLibrary library = load();
  return library;
}

}  // namespace croze

#endif  // CROZE_HAVE_LLVM
