// llvm.cpp -- modules for processors.
//
// A kernel is two functions: the one with the public signature fetches the pointers and calls the
// one that works, whose parameters can say noalias.
#include "croze/render/llvm.h"

#include <fmt/format.h>

#include <string>

#include "croze/base/error.h"
#include "croze/render/llvm_emitter.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

LlvmValue task_number(LlvmText&, UOp) { return {"%task", {DType::Int64, 1}}; }
void no_barrier(LlvmText&) {}  // a task is alone

LlvmWords words(bool avx512) {
  return {.space = {},
          .stack = {},
          .hides_counters = true,
          .forms = {.fences_halfs = true, .ranks_floats = avx512},
          .special = task_number,
          .barrier = no_barrier,
          .contract = llvm_contract};
}

std::string body_function(const LlvmBody& body, const ScratchLayout& scratch) {
  std::string result = "define internal void @body(";
  for (std::int64_t slot : body.params) result += fmt::format("ptr noalias %buffer{}, ", slot);
  for (std::int64_t slot : body.variables) result += fmt::format("i64 %variable{}, ", slot);
  result += "i64 %task, ptr noalias align 64 %scratch) nounwind {\nentry:\n" + body.registers;
  for (const auto& [local, offset] : scratch.offsets) {
    result += fmt::format("  {} = getelementptr inbounds i8, ptr %scratch, i64 {}\n",
                          llvm_buffer_name(local), offset);
  }
  return result + body.text + "  ret void\n}\n\n";
}

std::string entry_function(const LlvmBody& body, std::string_view name) {
  std::string result = fmt::format(
      "define void @\"{}\"(ptr %buffers, ptr %variables, i64 %task, ptr %scratch) nounwind {{\n",
      name);
  std::string arguments;
  auto fetch = [&](std::string_view type, std::string_view array, std::string_view what,
                   std::int64_t slot) {
    result += fmt::format(
        "  %{2}{3}.at = getelementptr {0}, ptr {1}, i64 {3}\n"
        "  %{2}{3} = load {0}, ptr %{2}{3}.at, align 8\n",
        type, array, what, slot);
    arguments += fmt::format("{} %{}{}, ", type, what, slot);
  };
  for (std::int64_t slot : body.params) fetch("ptr", "%buffers", "buffer", slot);
  for (std::int64_t slot : body.variables) fetch("i64", "%variables", "variable", slot);
  result += fmt::format("  tail call void @body({}i64 %task, ptr %scratch)\n", arguments);
  return result + "  ret void\n}\n\n";
}

}  // namespace

std::uint64_t LlvmRenderer::ops() {
  constexpr Op ops[] = {Op::Const,  Op::Cast,      Op::Bitcast, Op::Neg, Op::Not, Op::Sqrt,
                        Op::Trunc,  Op::Add,       Op::Mul,     Op::Div, Op::Max, Op::Min,
                        Op::CDiv,   Op::CMod,      Op::Lt,      Op::Le,  Op::Eq,  Op::Ne,
                        Op::And,    Op::Or,        Op::Xor,     Op::Shl, Op::Shr, Op::Where,
                        Op::MulAdd, Op::Reciprocal};
  std::uint64_t mask = 0;
  for (Op op : ops) mask |= std::uint64_t{1} << static_cast<int>(op);
  return mask;
}

std::uint32_t LlvmRenderer::dtypes() {
  constexpr DType dtypes[] = {DType::Bool,   DType::Int8,    DType::UInt8,  DType::Int16,
                              DType::UInt16, DType::Int32,   DType::UInt32, DType::Int64,
                              DType::UInt64, DType::Float32, DType::Float64};
  std::uint32_t mask = 0;
  for (DType t : dtypes) mask |= 1u << static_cast<int>(t);
  return mask;
}

std::string LlvmRenderer::render(const LinearProgram& program) const {
  const ScratchLayout scratch = scratch_layout(program);
  ensure(scratch.bytes <= program.info.launch.scratch_bytes,
         "llvm: {} has {} bytes of locals, but the launch gives {}", program.info.name,
         scratch.bytes, program.info.launch.scratch_bytes);
  const LlvmBody body = llvm_body(words(avx512_), program);
  std::string result = body_function(body, scratch) + entry_function(body, program.info.name);
  for (const std::string& d : body.declarations) result += d;
  return result;
}

}  // namespace croze
