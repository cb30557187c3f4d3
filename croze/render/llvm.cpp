// llvm.cpp -- modules for processors.
//
// A kernel is one function, or three if there is a choice between caches and none.  Its pointers
// come from memory, so LLVM does not know that they lead to different buffers; 13 of 823 kernels of
// networks and benchmarks had other machine code where it did, mostly in another order.  A function
// of its own, whose parameters can say noalias, took a twelfth of LLVM's time for a network.
#include "croze/render/llvm.h"

#include <fmt/format.h>

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/base/error.h"
#include "croze/render/llvm_contract.h"
#include "croze/render/llvm_emitter.h"
#include "croze/render/llvm_stream.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

LlvmValue task_number(LlvmText&, UOp) { return {"%task", {DType::Int64, 1}}; }
void no_barrier(LlvmText&) {}  // a task is alone

LlvmWords words(const LlvmTarget& target) {
  return {.space = {},
          .stack = {},
          .hides_counters = true,
          .vector_registers = target.vector_registers,
          .forms = {.fences_halfs = true,
                    .bounds_casts = !target.casts_saturate,
                    .ranks_floats = target.avx512,
                    .number_bytes = target.number_bytes,
                    .gathers = target.gathers,
                    .pins_addresses = true},
          .special = task_number,
          .barrier = no_barrier,
          .contract = llvm_contract};
}

constexpr std::string_view parameters =
    "ptr %buffers, ptr %variables, i64 %task, ptr noalias align 64 %scratch";

// With what the entry block begins: pointers and variables by the names that bodies give them.
std::string fetched(const LlvmBody& body) {
  std::string result;
  const auto fetch = [&](std::string_view type, std::string_view array, std::string_view what,
                         std::int64_t slot) {
    result += fmt::format(
        "  %{2}{3}.at = getelementptr {0}, ptr {1}, i64 {3}\n"
        "  %{2}{3} = load {0}, ptr %{2}{3}.at, align 8\n",
        type, array, what, slot);
  };
  for (std::int64_t slot : body.params) fetch("ptr", "%buffers", "buffer", slot);
  for (std::int64_t slot : body.variables) fetch("i64", "%variables", "variable", slot);
  return result;
}

std::string body_function(std::string_view head, const LlvmBody& body,
                          const ScratchLayout& scratch) {
  std::string result = fmt::format("define {}({}) nounwind {{\nentry:\n", head, parameters);
  result += fetched(body) + body.registers;
  for (const auto& [local, offset] : scratch.offsets) {
    result += fmt::format("  {} = getelementptr inbounds i8, ptr %scratch, i64 {}\n",
                          llvm_buffer_name(local), offset);
  }
  return result + body.text + "  ret void\n}\n\n";
}

// Whether all these buffers begin with a cache line: the end of a block, in LLVM IR.
std::string choice_by_alignment(std::span<const std::int64_t> slots) {
  std::string result = "  %addresses.0 = or i64 0, 0\n";
  for (std::size_t k = 0; k < slots.size(); k++) {
    result += fmt::format(
        "  %buffer{0}.address = ptrtoint ptr %buffer{0} to i64\n"
        "  %addresses.{2} = or i64 %addresses.{1}, %buffer{0}.address\n",
        slots[k], k, k + 1);
  }
  result += fmt::format("  %odd = and i64 %addresses.{}, 63\n", slots.size());
  return result +
         "  %aligned = icmp eq i64 %odd, 0\n  br i1 %aligned, label %stream, label %keep\n";
}

// Calls the streaming body if the buffers of the streamed slots are aligned, else the other.
std::string choosing_function(const LlvmBody& body, std::string_view head,
                              std::span<const std::int64_t> streamed) {
  const auto call = [&](std::string_view function) {
    return fmt::format("  tail call void @{}({})\n  ret void\n", function, parameters);
  };
  return fmt::format("define {}({}) nounwind {{\nentry:\n", head, parameters) + fetched(body) +
         choice_by_alignment(streamed) + "stream:\n" + call("streaming_body") + "keep:\n" +
         call("body") + "}\n\n";
}

}  // namespace

OpSet LlvmRenderer::ops() {
  return set_of({Op::Const, Op::Cast, Op::Bitcast, Op::Neg,    Op::Not,       Op::Sqrt, Op::Trunc,
                 Op::Add,   Op::Mul,  Op::Div,     Op::Max,    Op::Min,       Op::CDiv, Op::CMod,
                 Op::Lt,    Op::Le,   Op::Eq,      Op::Ne,     Op::And,       Op::Or,   Op::Xor,
                 Op::Shl,   Op::Shr,  Op::Where,   Op::MulAdd, Op::Reciprocal});
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
  const std::vector<std::int64_t> streamed = streamed_slots(program, target_.last_cache_bytes);
  const LlvmWords kept = words(target_);
  const LlvmBody body = llvm_body(kept, program);
  std::set<std::string> declarations = body.declarations;
  const std::string head = fmt::format("void @\"{}\"", program.info.name);
  std::string result;
  if (streamed.empty()) {
    result = body_function(head, body, scratch);
  } else {
    LlvmWords streaming = kept;
    streaming.streamed = streamed;
    const LlvmBody past_caches = llvm_body(streaming, program);
    result = body_function("internal void @body", body, scratch) +
             body_function("internal void @streaming_body", past_caches, scratch) +
             choosing_function(body, head, streamed);
    declarations.insert(past_caches.declarations.begin(), past_caches.declarations.end());
  }
  for (const std::string& d : declarations) result += d;
  return streamed.empty() ? result : result + "!0 = !{i32 1}\n";
}

}  // namespace croze
