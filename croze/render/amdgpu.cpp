// amdgpu.cpp -- modules for AMD's graphics processors.
//
// LLVM's user guide for the target ("User Guide for AMDGPU Backend") numbers the spaces of
// addresses: 1 is memory, 3 that of a group, 5 that of an item.  Accesses are written with generic
// pointers, as everywhere: each follows from one of these spaces alone, and LLVM finds out which.
#include "croze/render/amdgpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/llvm.h"
#include "croze/render/llvm_emitter.h"
#include "croze/render/scratch.h"

namespace croze {
namespace {

constexpr std::string_view axes[] = {"x", "y", "z"};

LlvmValue place_in_launch(LlvmText& text, UOp special) {
  ensure(special.loop_kind() != LoopKind::Thread, "the amdgpu renderer has no tasks");
  const std::string name = fmt::format(
      "amdgcn.{}.id.{}", special.loop_kind() == LoopKind::Group ? "workgroup" : "workitem",
      axes[special.arg().ints[0]]);
  return text.define({DType::UInt32, 1}, "{}", text.call("i32", name, {}));
}

// The meeting orders nothing by itself: what was written before is to be there, and nothing read
// after it is to be read before.
void meet(LlvmText& text) {
  text.line("fence syncscope(\"workgroup\") release");
  text.line("{}", text.call("void", "amdgcn.s.barrier", {}));
  text.line("fence syncscope(\"workgroup\") acquire");
}

// The type in which an instruction takes what a thread has of a factor.  Elements of bytes are
// packed in words, or in one number; bfloat16 is its bits where instructions are older than LLVM's
// type.
std::string type_of_factor(const MatrixUnit& unit, DType t, std::int64_t lanes) {
  const bool is_mfma = unit.intrinsic.starts_with("amdgcn.mfma");
  if (size_of(t) == 1) return is_mfma && lanes == 8 ? "i64" : fmt::format("<{} x i32>", lanes / 4);
  if (t == DType::Float16) return fmt::format("<{} x half>", lanes);
  if (t == DType::BFloat16)
    return fmt::format("<{} x {}>", lanes, is_mfma && unit.depth > 16 ? "bfloat" : "i16");
  return LlvmType{t, lanes}.text();
}

// What instruction number `part` of the unit takes of a factor.
LlvmArgument factor(LlvmText& text, const MatrixUnit& unit, const LlvmValue& v, DType t,
                    std::int64_t part) {
  if (unit.instructions > 1) {  // of one term
    ensure(v.type.lanes == unit.instructions && v.type.dtype == t, "{}: a factor has {} elements",
           unit.name, v.type.lanes);
    return text.define(v.type.scalar(), "extractelement {}, i64 {}", v.text(), part);
  }
  const std::string type = type_of_factor(unit, t, v.type.lanes);
  const std::string name = text.fresh();
  text.line("{} = bitcast {} to {}", name, v.text(), type);
  return {type, name};
}

// Matrix instructions of the data centre's processors (MFMA) have three fields beside the operands,
// by which rows are broadcast.  Those of bytes that may have a sign (WMMA) are told whether they
// do, and whether sums stop at the greatest number.
std::vector<LlvmArgument> arguments_of(const MatrixUnit& unit, const LlvmArgument& a,
                                       const LlvmArgument& b, const LlvmValue& sums) {
  if (unit.intrinsic.starts_with("amdgcn.mfma"))
    return {a, b, sums, {"i32", "0"}, {"i32", "0"}, {"i32", "0"}};
  if (unit.intrinsic.find(".iu8.") == std::string_view::npos) return {a, b, sums};
  const auto has_sign = [](DType t) {
    return LlvmArgument("i1", is_unsigned(t) ? "false" : "true");
  };
  return {has_sign(unit.a), a, has_sign(unit.b), b, sums, {"i1", "false"}};
}

LlvmValue contract(LlvmText& text, const MatrixUnit& unit, const LlvmValue& sums,
                   const LlvmValue& a, const LlvmValue& b) {
  LlvmValue result = sums;
  for (std::int64_t part = 0; part < unit.instructions; part++) {
    const LlvmArgument left = factor(text, unit, a, unit.a, part),
                       right = factor(text, unit, b, unit.b, part);
    result = text.define(
        sums.type, "{}",
        text.call(sums.type.text(), unit.intrinsic, arguments_of(unit, left, right, result)));
  }
  return result;
}

// Where the item is whose number differs in the bit: in 32 items a pattern of the instruction says
// it, the bits that are kept and those that are turned; else its place, in bytes.
std::string shuffled_word(LlvmText& text, const std::string& word, std::int64_t bit) {
  const std::string result = text.fresh();
  if (bit < 32) {
    const LlvmArgument pattern("i32", fmt::format("{}", bit << 10 | 31));
    text.line(
        "{} = {}", result,
        text.call("i32", "amdgcn.ds.swizzle", std::vector<LlvmArgument>{{"i32", word}, pattern}));
    return result;
  }
  const LlvmType number{DType::UInt32, 1};
  const LlvmArgument all("i32", "-1"), none("i32", "0");
  const LlvmValue low = text.define(
      number, "{}", text.call("i32", "amdgcn.mbcnt.lo", std::vector<LlvmArgument>{all, none}));
  const LlvmValue own = text.define(
      number, "{}", text.call("i32", "amdgcn.mbcnt.hi", std::vector<LlvmArgument>{all, low}));
  const LlvmValue other = text.define(number, "xor {}, {}", own.text(), bit);
  const LlvmValue place = text.define(number, "shl {}, 2", other.text());
  text.line(
      "{} = {}", result,
      text.call("i32", "amdgcn.ds.bpermute", std::vector<LlvmArgument>{place, {"i32", word}}));
  return result;
}

LlvmValue shuffle(LlvmText& text, const LlvmValue& value, std::int64_t bit) {
  const std::int64_t words = value.type.lanes * size_of(value.type.dtype) / 4;
  const std::string type = words == 1 ? "i32" : fmt::format("<{} x i32>", words);
  std::string given = text.fresh(), result = "poison";
  text.line("{} = bitcast {} to {}", given, value.text(), type);
  if (words == 1) result = shuffled_word(text, given, bit);
  for (std::int64_t i = 0; words > 1 && i < words; i++) {
    const std::string word = text.fresh(), next = text.fresh();
    text.line("{} = extractelement {} {}, i64 {}", word, type, given, i);
    const std::string there = shuffled_word(text, word, bit);
    text.line("{} = insertelement {} {}, i32 {}, i64 {}", next, type, result, there, i);
    result = next;
  }
  return text.define(value.type, "bitcast {} {} to {}", type, result, value.type.text());
}

// Of the items of the wave that the target has, whose number the type of the result says; lane by
// lane.
LlvmValue ballot(LlvmText& text, const LlvmValue& condition, LlvmType type) {
  const std::string number = type.scalar().text(), intrinsic = "amdgcn.ballot." + number;
  const auto of = [&](std::string_view holds) {
    return text.call(number, intrinsic, std::vector<LlvmArgument>{{"i1", holds}});
  };
  if (type.lanes == 1) return text.define(type, "{}", of(condition.name));
  std::string result = "poison";
  for (std::int64_t k = 0; k < type.lanes; k++) {
    const LlvmValue holds =
        text.define(condition.type.scalar(), "extractelement {}, i64 {}", condition.text(), k);
    const LlvmValue one = text.define(type.scalar(), "{}", of(holds.name));
    result =
        text.define(type, "insertelement {} {}, {}, i64 {}", type.text(), result, one.text(), k)
            .name;
  }
  return {result, type};
}

constexpr LlvmWords words{.space = " addrspace(5)",
                          .stack = ", addrspace(5)",
                          .hides_counters = false,
                          .special = place_in_launch,
                          .barrier = meet,
                          .contract = contract,
                          .shuffle = shuffle,
                          .ballot = ballot};

// These processors divide integers of 64 bits by some hundred instructions, branches among them.
// Kernels of very many (a greatest common divisor has its steps one after the other) would be
// compiled for minutes.
bool has_many_long_divisions(const LinearProgram& program) {
  constexpr std::int64_t many = 8;
  return std::ranges::count_if(program.instructions, [](UOp u) {
           return (u.is(Op::CDiv) || u.is(Op::CMod)) && size_of(u.dtype()) == 8;
         }) >= many;
}

bool stores_into(const LinearProgram& program, std::int64_t slot) {
  return std::ranges::any_of(program.instructions, [=](UOp u) {
    if (!u.is(Op::Store)) return false;
    const UOp buffer = buffer_of(u.src(0));
    return buffer.is(Op::Param) && buffer.slot() == slot;
  });
}

bool uses(const std::vector<std::int64_t>& slots, int slot) {
  return std::ranges::find(slots, slot) != slots.end();
}

// Memory that no store of the kernel goes to may be read through the caches of constants.
std::string signature(const LinearProgram& program, const LlvmBody& body) {
  const ProgramInfo& info = program.info;
  std::string text;
  for (int i = 0; i < info.num_buffers; i++) {
    const bool read_only = uses(body.params, i) && !stores_into(program, i);
    text += fmt::format("{}ptr addrspace(1) noalias {}%b{}", i > 0 ? ", " : "",
                        read_only ? "readonly " : "", i);
  }
  for (int i = 0; i < info.num_variables; i++) {
    text += fmt::format("{}i64 %variable{}", text.empty() ? "" : ", ", i);
  }
  return fmt::format("define amdgpu_kernel void @croze_{}({}) #0 !reqd_work_group_size !0 {{\n",
                     info.name, text);
}

std::string generic_pointers(const LlvmBody& body) {
  std::string text;
  for (std::int64_t slot : body.params) {
    text += fmt::format("  %buffer{0} = addrspacecast ptr addrspace(1) %b{0} to ptr\n", slot);
  }
  return text;
}

// Each array is a variable of its own, so that LLVM need not ask whether two overlap.
struct Arrays {
  std::string shared;   // in front of the kernel
  std::string entries;  // at its start
};
Arrays arrays_of(const LinearProgram& program) {
  Arrays result;
  for (const auto& [local, offset] : group_layout(program).offsets) {
    const std::string name = llvm_buffer_name(local);
    const LlvmType element{local.dtype(), 1};
    result.shared += fmt::format("@{} = internal addrspace(3) global [{} x {}] poison, align 16\n",
                                 name.substr(1), local.buffer_elements(), element.memory());
    result.entries +=
        fmt::format("  {} = addrspacecast ptr addrspace(3) @{} to ptr\n", name, name.substr(1));
  }
  for (const auto& [local, offset] : scratch_layout(program).offsets) {
    const std::string name = llvm_buffer_name(local);
    const LlvmType element{local.dtype(), 1};
    result.entries += fmt::format(
        "  {0}.own = alloca [{1} x {2}], align 16, addrspace(5)\n"
        "  {0} = addrspacecast ptr addrspace(5) {0}.own to ptr\n",
        name, local.buffer_elements(), element.memory());
  }
  return result;
}

std::string attributes(const LinearProgram& program) {
  const auto& [width, height, depth] = program.info.launch.items;
  return fmt::format(
      "\nattributes #0 = {{ nounwind \"amdgpu-flat-work-group-size\"=\"{0},{0}\" "
      "\"uniform-work-group-size\"=\"true\" \"amdgpu-no-implicitarg-ptr\" "
      "\"denormal-fp-math\"=\"ieee,ieee\" "
      "\"denormal-fp-math-f32\"=\"ieee,ieee\" }}\n"
      "!0 = !{{i32 {1}, i32 {2}, i32 {3}}}\n",
      width * height * depth, width, height, depth);
}

}  // namespace

OpSet AmdGpuRenderer::ops() { return LlvmRenderer::ops(); }
std::uint32_t AmdGpuRenderer::dtypes() { return LlvmRenderer::dtypes(); }

std::string AmdGpuRenderer::render(const LinearProgram& program) const {
  LlvmWords own = words;
  own.forms.calls_long_divisions = has_many_long_divisions(program);
  const LlvmBody body = llvm_body(own, program);
  const Arrays arrays = arrays_of(program);
  std::string text = arrays.shared + signature(program, body) + "entry:\n";
  text += generic_pointers(body) + arrays.entries + body.registers + body.text;
  text += "  ret void\n}\n\n";
  for (const std::string& d : body.declarations) text += d;
  return text + attributes(program);
}

}  // namespace croze
