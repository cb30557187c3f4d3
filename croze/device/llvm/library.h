// library.h -- libLLVM, loaded when the first kernel has to be compiled and not before.
#pragma once

#if CROZE_HAVE_LLVM

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "croze/device/llvm/pipeline.h"

namespace croze {

// The functions of LLVM's C interface that croze uses.  One list, since a function pointer and the
// text to look it up by cannot come from one C++ name otherwise.
// clang-format off
#define CROZE_LLVM_FUNCTIONS(F)      \
  F(LLVMContextCreate)               \
  F(LLVMContextDispose)              \
  F(LLVMContextSetDiagnosticHandler) \
  F(LLVMCreateDisasmCPUFeatures)     \
  F(LLVMCreateMemoryBufferWithMemoryRange) \
  F(LLVMCreatePassBuilderOptions)    \
  F(LLVMCreateTargetDataLayout)      \
  F(LLVMCreateTargetMachine)         \
  F(LLVMDisasmDispose)               \
  F(LLVMDisasmInstruction)           \
  F(LLVMDisposeErrorMessage)         \
  F(LLVMDisposeMemoryBuffer)         \
  F(LLVMDisposeMessage)              \
  F(LLVMDisposeModule)               \
  F(LLVMDisposePassBuilderOptions)   \
  F(LLVMDisposeTargetData)           \
  F(LLVMDisposeTargetMachine)        \
  F(LLVMGetBufferSize)               \
  F(LLVMGetBufferStart)              \
  F(LLVMGetDefaultTargetTriple)      \
  F(LLVMGetDiagInfoDescription)      \
  F(LLVMGetDiagInfoSeverity)         \
  F(LLVMGetErrorMessage)             \
  F(LLVMGetHostCPUFeatures)          \
  F(LLVMGetHostCPUName)              \
  F(LLVMGetTargetFromTriple)         \
  F(LLVMGetVersion)                  \
  F(LLVMParseCommandLineOptions)     \
  F(LLVMParseIRInContext)            \
  F(LLVMRunPasses)                   \
  F(LLVMSetModuleDataLayout)         \
  F(LLVMSetTarget)                   \
  F(LLVMTargetMachineEmitToMemoryBuffer) \
  F(LLVMVerifyModule)

// What only croze's own library has (pipeline.h): null where the system's is loaded.
#define CROZE_LLVM_OWN_FUNCTIONS(F) \
  F(croze_llvm_create_pipeline)     \
  F(croze_llvm_dispose_pipeline)    \
  F(croze_llvm_run_pipeline)
// clang-format on

struct LlvmLibrary {
#define CROZE_DECLARE(name) decltype(&::name) name = nullptr;
  CROZE_LLVM_FUNCTIONS(CROZE_DECLARE)
  CROZE_LLVM_OWN_FUNCTIONS(CROZE_DECLARE)
#undef CROZE_DECLARE
};

// Loads the library at the first call.  Throws Error if there is none.
const LlvmLibrary& llvm_library();

}  // namespace croze

#endif  // CROZE_HAVE_LLVM
