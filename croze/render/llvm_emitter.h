// llvm_emitter.h -- what kernels in LLVM IR have in common, whatever runs them: the body of the
// function, of which a renderer makes a module.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/render/llvm_text.h"
#include "croze/render/program.h"

namespace croze {

// What tells one kind of processor from another.
struct LlvmWords {
  std::string_view space;             // of the stack, behind "ptr": " addrspace(5)", or nothing
  std::string_view stack;             // behind the type of an alloca: ", addrspace(5)", or nothing
  bool hides_counters = false;        // counters of loops are hidden from LLVM (llvm_emitter.cpp)
  std::int64_t vector_registers = 0;  // 0: LLVM may move loads (llvm_order.h)
  LlvmForms forms;
  std::span<const std::int64_t> streamed;  // slots that are written past the caches (llvm_stream.h)
  LlvmValue (*special)(LlvmText& text, UOp special);  // an integer
  void (*barrier)(LlvmText& text);
  LlvmValue (*contract)(LlvmText& text, const MatrixUnit& unit, const LlvmValue& sums,
                        const LlvmValue& a, const LlvmValue& b);
  LlvmValue (*shuffle)(LlvmText& text, const LlvmValue& value, std::int64_t bit) = nullptr;
  LlvmValue (*ballot)(LlvmText& text, const LlvmValue& condition, LlvmType result) = nullptr;
};

// The body reads generic pointers %buffer0, .. and %local0, .. (llvm_buffer_name), and integers of
// 64 bits %variable0, ..  It begins in the block "entry" and ends without a return.
struct LlvmBody {
  std::vector<std::int64_t> params, variables;  // the slots that are used
  std::string registers;                        // allocas, for the start of the function
  std::string text;
  std::set<std::string> declarations;  // of intrinsics
};

LlvmBody llvm_body(const LlvmWords& words, const LinearProgram& program);

// The name of the pointer of a Param or Local.
std::string llvm_buffer_name(UOp buffer);

}  // namespace croze
