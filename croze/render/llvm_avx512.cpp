// llvm_avx512.cpp -- the greater of two floats, and a float times a power of two.
//
// The instructions that x86 has had since its first vectors take no heed of signs of zeros and
// forget a NaN in their first operand, so that LLVM puts five others around one for
// llvm.maximum.  AVX-512 has one that knows the signs of zeros (VRANGE) and forgets a NaN in either
// operand: one comparison and one masked addition bring it back.
//
// llvm.ldexp becomes calls of a function, one for each lane, where VSCALEF is one instruction for a
// register: vectors of more lanes are cut in two.
#include "croze/render/llvm_avx512.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace croze {
namespace {

// What VRANGE is told in its last operand: which of the two, with the sign that this one has.
constexpr int range_min = 0b0100, range_max = 0b0101;

std::int64_t lanes_of_register(const LlvmType& type, std::int64_t bytes) {
  return bytes / static_cast<std::int64_t>(size_of(type.dtype));
}

// Whether the values are whole registers of AVX-512, or less than the smallest.  With a constant
// LLVM knows which of the others it needs.
bool takes_range(const LlvmText& text, const LlvmValue& a, const LlvmValue& b) {
  if (!text.forms().ranks_floats || !a.name.starts_with('%') || !b.name.starts_with('%'))
    return false;
  if (a.type.dtype != DType::Float32 && a.type.dtype != DType::Float64) return false;
  return a.type.lanes <= lanes_of_register(a.type, 16) ||
         a.type.lanes == lanes_of_register(a.type, 32) ||
         a.type.lanes == lanes_of_register(a.type, 64);
}

// An instruction on whole registers, in all their lanes.
LlvmValue masked_call(LlvmText& text, std::string_view instruction, LlvmType type,
                      std::vector<LlvmArgument> arguments) {
  const std::int64_t bytes = type.lanes * static_cast<std::int64_t>(size_of(type.dtype));
  const std::string name = fmt::format("x86.avx512.mask.{}.{}.{}", instruction,
                                       type.dtype == DType::Float32 ? "ps" : "pd", 8 * bytes);
  arguments.emplace_back(llvm_zero(type));
  arguments.emplace_back(type.lanes == 16 ? "i16" : "i8", "-1");
  if (bytes == 64) arguments.emplace_back("i32", "4");  // rounded as everything is
  return text.define(type, "{}", text.call(type.text(), name, arguments));
}

LlvmValue range(LlvmText& text, Op op, const LlvmValue& a, const LlvmValue& b) {
  const LlvmType type = a.type;
  const std::string which = fmt::format("{}", op == Op::Max ? range_max : range_min);
  const LlvmValue number = masked_call(text, "range", type, {a, b, {"i32", which}});
  const LlvmValue either_nan =
      text.define(type.with(DType::Bool), "fcmp uno {}, {}", a.text(), b.name);
  const LlvmValue nan = text.define(type, "fadd {}, {}", a.text(), b.name);
  return text.define(type, "select {}, {}, {}", either_nan.text(), nan.text(), number.text());
}

// In the lowest lanes of a vector, the others of which are anything.
LlvmValue widened(LlvmText& text, const LlvmValue& x, std::int64_t lanes) {
  const LlvmType type{x.type.dtype, lanes};
  if (x.type.lanes == 1)
    return text.define(type, "insertelement {} poison, {}, i64 0", type.text(), x.text());
  return text.define(type, "shufflevector {}, {} poison, <{} x i32> {}", x.text(), x.type.text(),
                     lanes, llvm_steps({DType::Int32, lanes}, 0, 1));
}

// The lanes of a vector from `first` on.
LlvmValue part(LlvmText& text, const LlvmValue& vector, std::int64_t first, LlvmType type) {
  if (type.lanes == 1) return text.define(type, "extractelement {}, i64 {}", vector.text(), first);
  return text.define(type, "shufflevector {}, {} poison, <{} x i32> {}", vector.text(),
                     vector.type.text(), type.lanes,
                     llvm_steps({DType::Int32, type.lanes}, first, 1));
}

}  // namespace

LlvmValue llvm_float_extremum(LlvmText& text, Op op, const LlvmValue& a, const LlvmValue& b) {
  const LlvmType type = a.type;
  if (!takes_range(text, a, b)) {
    const LlvmArgument both[] = {a, b};
    const std::string name =
        fmt::format("{}.{}", op == Op::Max ? "maximum" : "minimum", type.suffix());
    return text.define(type, "{}", text.call(type.text(), name, both));
  }
  const std::int64_t least = lanes_of_register(type, 16);
  if (type.lanes >= least) return range(text, op, a, b);
  return part(text, range(text, op, widened(text, a, least), widened(text, b, least)), 0, type);
}

LlvmValue llvm_scaled(LlvmText& text, const LlvmValue& x, const LlvmValue& n) {
  const LlvmType type = x.type;
  const auto lanes =
      std::max(lanes_of_register(type, 16),
               static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(type.lanes))));
  if (lanes != type.lanes) {
    return part(text, llvm_scaled(text, widened(text, x, lanes), widened(text, n, lanes)), 0, type);
  }
  if (lanes <= lanes_of_register(type, 64)) return masked_call(text, "scalef", type, {x, n});
  const LlvmType half{type.dtype, lanes / 2};
  const auto scaled_half = [&](std::int64_t first) {
    return llvm_scaled(text, part(text, x, first, half), part(text, n, first, half));
  };
  const LlvmValue low = scaled_half(0), high = scaled_half(lanes / 2);
  return text.define(type, "shufflevector {}, {}, <{} x i32> {}", low.text(), high.text(), lanes,
                     llvm_steps({DType::Int32, lanes}, 0, 1));
}

}  // namespace croze
