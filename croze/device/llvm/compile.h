// compile.h -- LLVM IR text to objects, and machine code to text, for any processor that libLLVM
// knows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace croze {

// A processor, in LLVM's words.
struct LlvmProcessor {
  std::string triple, cpu, features;
};

struct LlvmJob {
  std::string name;        // of the kernel, for messages
  const char* passes;      // before machine code is made
  bool optimizes = false;  // machine code at the default level of LLVM; else at the one below it
};

// An ELF relocatable object, in the layout of data that the processor has.  May be called from
// several threads at once.  Throws InternalError with LLVM's message if the text does not parse, or
// breaks another rule of LLVM IR and CROZE_CHECK_SPEC=1 looks for that; Error if libLLVM cannot be
// loaded or does not know the processor.
std::string compile_llvm_ir(const LlvmProcessor& processor, const LlvmJob& job,
                            const std::string& source);

// Makes what such jobs for the processor need.  Throws as compile_llvm_ir().
void prepare_llvm_for(const LlvmProcessor& processor, const LlvmJob& job);

// The first number of the version of libLLVM; 0 if this croze was built without it.
int llvm_version();

// The machine that this process runs on.
LlvmProcessor llvm_host();

struct DisassembledInstruction {
  std::size_t offset, bytes;
  std::string text;
};
// Of all of the code; what is no instruction is a byte "\t(bad)".  Nothing if this croze was built
// without LLVM.
std::vector<DisassembledInstruction> disassemble_for(const LlvmProcessor& processor,
                                                     std::span<const std::byte> code);

}  // namespace croze
