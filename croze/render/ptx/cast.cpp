// cast.cpp -- conversions, which differ from what cvt does where eval() says otherwise.
//
// NaN.  cvt makes 0 of it only where neither side has 64 bits; there it is chosen by hand.
//
// Narrow integers.  cvt saturates to 32 bits and wider ones for sure; to 8 and 16 bits the rest is
// done by minimum and maximum.
//
// Half types from what does not fit a Float32.  Two roundings could differ from one, so the first
// one rounds to odd: toward zero, with the last bit set if anything was lost.
#include "croze/render/ptx/cast.h"

#include "croze/base/error.h"

namespace croze::ptx {
namespace {

bool is_16_bits(DType t) { return t == DType::Float16 || t == DType::BFloat16; }

std::string cvt(std::string_view rounding, std::string_view to, std::string_view from) {
  return fmt::format("cvt{}.{}.{}", rounding, to, from);
}

std::string from_bool(Text& text, const std::string& x, DType to) {
  if (to == DType::Float32 || to == DType::Float64) {
    return text.define(to, fmt::format("selp.{}", number_type(to)),
                       {literal(0x3ff0000000000000, to), literal(0, to), x});
  }
  const std::string one = literal(is_float(to) ? 0x3ff0000000000000 : 1, to);
  return text.define(to, fmt::format("selp.{}", bits_type(to)), {one, "0", x});
}

std::string to_bool(Text& text, const std::string& x, DType from) {
  const std::string_view compare = is_float(from) ? "setp.neu" : "setp.ne";
  return text.define(DType::Bool, fmt::format("{}.{}", compare, number_type(from)),
                     {x, literal(0, from)});
}

std::string between_integers(Text& text, const std::string& x, DType from, DType to) {
  if (size_of(to) == 1) {
    const std::string type = is_unsigned(to) ? "u16.u8" : "s16.s8";
    return text.define(to, "cvt." + type, {x});
  }
  if (class_of(from) == class_of(to)) return x;
  return text.define(to, cvt("", number_type(to), number_type(from)), {x});
}

std::string float_to_integer(Text& text, const std::string& x, DType from, DType to) {
  const std::string_view source = number_type(from);
  const bool is_narrow = size_of(to) < 4;
  const DType wide = is_narrow ? DType::Int32 : to;
  std::string result = text.define(wide, cvt(".rzi", number_type(wide), source), {x});
  if (from == DType::Float64 || size_of(to) == 8) {
    const std::string number = text.define(DType::Bool, fmt::format("setp.num.{}", source), {x, x});
    result = text.define(wide, fmt::format("selp.{}", bits_type(wide)), {result, "0", number});
  }
  if (!is_narrow) return result;
  result = text.define(wide, "max.s32", {result, literal(min_value(to), wide)});
  result = text.define(wide, "min.s32", {result, literal(max_value(to), wide)});
  return between_integers(text, result, wide, to);
}

// A Float32 whose last bit tells that it is not exactly x: `back` is what it was converted back to.
std::string odd_if(Text& text, const std::string& truncated, const std::string& is_inexact) {
  const std::string bits = text.define(DType::UInt32, "mov.b32", {truncated});
  const std::string odd = text.define(DType::UInt32, "or.b32", {bits, "1"});
  const std::string chosen = text.define(DType::UInt32, "selp.b32", {odd, bits, is_inexact});
  return text.define(DType::Float32, "mov.b32", {chosen});
}

std::string to_odd_float(Text& text, const std::string& x, DType from) {
  const std::string_view type = number_type(from);
  const std::string truncated = text.define(DType::Float32, cvt(".rz", "f32", type), {x});
  const std::string back =
      text.define(from, cvt(is_float(from) ? "" : ".rzi", type, "f32"), {truncated});
  const std::string is_inexact =
      text.define(DType::Bool, fmt::format("setp.ne.{}", type), {back, x});
  return odd_if(text, truncated, is_inexact);
}

std::string from_16_bits(Text& text, const std::string& x, DType from) {
  if (from == DType::Float16) return text.define(DType::Float32, "cvt.f32.f16", {x});
  const std::string wide = text.define(DType::UInt32, "cvt.u32.u16", {x});
  const std::string bits = text.define(DType::UInt32, "shl.b32", {wide, "16"});
  return text.define(DType::Float32, "mov.b32", {bits});
}

std::string to_16_bits(Text& text, const std::string& x, DType from, DType to) {
  std::string single = x;
  if (from == DType::Float64 || (!is_float(from) && size_of(from) > 2)) {
    single = to_odd_float(text, x, from);
  } else if (from != DType::Float32) {
    single = cast(text, x, from, DType::Float32);
  }
  return text.define(to, cvt(".rn", to == DType::Float16 ? "f16" : "bf16", "f32"), {single});
}

std::string between_numbers(Text& text, const std::string& x, DType from, DType to) {
  if (!is_float(from)) return text.define(to, cvt(".rn", number_type(to), number_type(from)), {x});
  if (!is_float(to)) return float_to_integer(text, x, from, to);
  return text.define(to, cvt(to == DType::Float32 ? ".rn" : "", number_type(to), number_type(from)),
                     {x});
}

}  // namespace

std::string cast(Text& text, const std::string& x, DType from, DType to) {
  if (from == to) return x;
  if (from == DType::Bool) return from_bool(text, x, to);
  if (is_16_bits(from)) {
    return cast(text, from_16_bits(text, x, from), DType::Float32, to);
  }
  if (to == DType::Bool) return to_bool(text, x, from);
  if (is_16_bits(to)) return to_16_bits(text, x, from, to);
  if (!is_float(from) && !is_float(to)) return between_integers(text, x, from, to);
  return between_numbers(text, x, from, to);
}

std::string bitcast(Text& text, const std::string& x, DType from, DType to) {
  ensure(size_of(from) == size_of(to), "linear program: bitcast from {} to {}", name_of(from),
         name_of(to));
  if (from == DType::Bool || to == DType::Bool) return cast(text, x, from, to);
  if (size_of(to) == 1) return between_integers(text, x, from, to);
  if (class_of(from) == class_of(to)) return x;
  return text.define(to, fmt::format("mov.{}", bits_type(to)), {x});
}

std::string wrapped(Text& text, DType t, const std::string& x) {
  return size_of(t) == 1 && t != DType::Bool ? between_integers(text, x, t, t) : x;
}

}  // namespace croze::ptx
