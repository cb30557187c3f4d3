// text.cpp -- names of registers and types, and constants.
#include "croze/render/ptx/text.h"

#include <bit>

#include "croze/base/error.h"
#include "croze/graph/eval.h"

namespace croze::ptx {
namespace {

struct ClassInfo {
  std::string_view type;    // of the declaration
  std::string_view prefix;  // of the names
};
constexpr ClassInfo classes[num_register_classes] = {{"pred", "%p"}, {"b16", "%h"}, {"b32", "%r"},
                                                     {"b64", "%d"},  {"f32", "%f"}, {"f64", "%e"}};

const ClassInfo& info_of(RegisterClass c) { return classes[static_cast<std::size_t>(c)]; }

}  // namespace

RegisterClass class_of(DType t) {
  switch (t) {
    case DType::Bool: return RegisterClass::Predicate;
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
    case DType::Float16:
    case DType::BFloat16: return RegisterClass::Bits16;
    case DType::Int32:
    case DType::UInt32: return RegisterClass::Bits32;
    case DType::Int64:
    case DType::UInt64: return RegisterClass::Bits64;
    case DType::Float32: return RegisterClass::Float32;
    case DType::Float64: return RegisterClass::Float64;
    default: break;
  }
  fail_internal({}, "the ptx renderer has no {}", name_of(t));
}

std::string_view bits_type(DType t) {
  switch (class_of(t)) {
    case RegisterClass::Float32: return "b32";
    case RegisterClass::Float64: return "b64";
    default: return info_of(class_of(t)).type;
  }
}

std::string_view number_type(DType t) {
  switch (t) {
    case DType::Int8:
    case DType::Int16: return "s16";
    case DType::UInt8:
    case DType::UInt16: return "u16";
    case DType::Int32: return "s32";
    case DType::UInt32: return "u32";
    case DType::Int64: return "s64";
    case DType::UInt64: return "u64";
    default: return info_of(class_of(t)).type;
  }
}

std::string_view memory_type(DType t) {
  switch (t) {
    case DType::Bool:
    case DType::UInt8: return "u8";
    case DType::Int8: return "s8";
    default: return info_of(class_of(t)).type;
  }
}

std::string literal(std::int64_t bits, DType t) {
  if (t == DType::Float64) return fmt::format("0d{:016X}", static_cast<std::uint64_t>(bits));
  if (is_float(t)) {
    std::uint32_t stored = 0;
    store_bits(bits, t, &stored);
    return t == DType::Float32 ? fmt::format("0f{:08X}", stored) : fmt::format("{}", stored);
  }
  return fmt::format("{}", bits);
}

std::string Text::fresh(RegisterClass c) {
  return fmt::format("{}{}", info_of(c).prefix, registers_[static_cast<std::size_t>(c)]++);
}

std::string Text::define(RegisterClass c, std::string_view instruction,
                         std::initializer_list<std::string_view> operands) {
  std::string result = fresh(c);
  line("{} {}, {};", instruction, result, fmt::join(operands, ", "));
  return result;
}

std::string Text::take() {
  std::string text;
  for (std::size_t c = 0; c < registers_.size(); c++) {
    if (registers_[c] == 0) continue;
    add_line(text,
             fmt::format(".reg .{} {}<{}>;", classes[c].type, classes[c].prefix, registers_[c]));
  }
  return text + prologue_ + body_;
}

}  // namespace croze::ptx
