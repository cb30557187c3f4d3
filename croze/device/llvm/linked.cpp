// linked.cpp -- what croze's own library of LLVM is linked from: the functions that croze calls,
// and with them, from LLVM's static libraries, what these need and no more.
//
// The library of a distribution has twenty targets and a hundred tools' needs in it, and every
// symbol of it can be replaced by another library's: the loader works 10 ms on that, of the 25 that
// a first small kernel takes.  This one binds its own symbols when it is linked.  It shows nothing
// but the functions below, so that a program may hold another LLVM beside it.
#include "croze/device/llvm/library.h"

namespace croze {
namespace {

template <typename F>
constexpr auto address(F* function) {
  return reinterpret_cast<void (*)()>(function);
}

// Named here, the linker takes them out of the archives.
[[gnu::used]] void (*const functions[])() = {
#define CROZE_ADDRESS(name) address(name),
    CROZE_LLVM_FUNCTIONS(CROZE_ADDRESS)
#undef CROZE_ADDRESS
        address(LLVM_NATIVE_TARGETINFO),
    address(LLVM_NATIVE_TARGET),
    address(LLVM_NATIVE_TARGETMC),
    address(LLVM_NATIVE_ASMPRINTER),
    address(LLVM_NATIVE_DISASSEMBLER),
#if CROZE_LLVM_HAS_AMDGPU
    address(LLVMInitializeAMDGPUTargetInfo),
    address(LLVMInitializeAMDGPUTarget),
    address(LLVMInitializeAMDGPUTargetMC),
    address(LLVMInitializeAMDGPUAsmPrinter),
    address(LLVMInitializeAMDGPUDisassembler),
#endif
};

}  // namespace
}  // namespace croze
