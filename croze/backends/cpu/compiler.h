// compiler.h -- LLVM IR text to machine code of this machine, and machine code to text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace croze {

// An ELF relocatable object.  May be called from several threads at once.  Throws InternalError
// with LLVM's message if the text is not valid, Error if libLLVM cannot be loaded.
std::string compile_llvm_ir(const std::string& name, const std::string& source);

// Loads libLLVM, if nobody has yet: several milliseconds that the first compilation spends
// otherwise, and a failure is left to.
void start_llvm() noexcept;
// True once in a process: the caller may start it.
bool must_start_llvm();

// One line per instruction, with its offset.  Empty if this croze was built without LLVM.
std::string disassemble(std::span<const std::byte> code);

}  // namespace croze
