// cast.cpp -- conversions.  Those of floats to integers are undefined where the integer does not
// fit, so only values that do get there.
#include "croze/render/spirv/cast.h"

#include <bit>
#include <cmath>

#include "croze/base/error.h"
#include "croze/graph/eval.h"

namespace croze::spirv {
namespace {

Id number(Module& m, double value, DType t) { return m.constant(bits_of(value, t), t); }

Id from_bool(Module& m, Id x, DType to) {
  const Id one = is_float(to) ? number(m, 1, to) : m.constant(1, to);
  return m.define(Code::Select, m.type_of(to), {x, one, m.constant(0, to)});
}

Id to_bool(Module& m, Id x, DType from) {
  const Code differs = is_float(from) ? Code::FUnordNotEqual : Code::INotEqual;
  return m.define(differs, m.type_bool(), {x, m.constant(0, from)});
}

// A word as 64 bits, the upper half of which repeats its sign.  By halves, and not by SConvert:
// Mesa 22.3 takes comparisons of what that gives with constants for false.
Id sign_extended(Module& m, Id x) {
  const Id words = m.type_int(32);
  const Id high = m.define(Code::ShiftRightArithmetic, words, {x, m.constant_word(31)});
  const Id both = m.define(Code::CompositeConstruct, m.type_words(2), {x, high});
  return m.define(Code::Bitcast, m.type_int(64), {both});
}

Id between_integers(Module& m, Id x, DType from, DType to) {
  const bool is_wide = size_of(from) == 8, gets_wide = size_of(to) == 8;
  if (gets_wide && !is_wide && !is_unsigned(from)) return sign_extended(m, x);
  if (is_wide != gets_wide) x = m.define(Code::UConvert, m.type_of(to), {x});
  const bool fits = size_of(from) < size_of(to) && (is_unsigned(from) || !is_unsigned(to));
  return fits ? x : wrapped(m, x, to);
}

Id float_to_integer(Module& m, Id x, DType from, DType to) {
  const bool has_sign = !is_unsigned(to);
  const int bits = static_cast<int>(8 * size_of(to)) - has_sign;
  const Id lower = number(m, has_sign ? -std::ldexp(1.0, bits) : 0.0, from);
  const Id upper = number(m, std::ldexp(1.0, bits), from);
  const Id bools = m.type_bool(), type = m.type_of(to);

  const Id is_high = m.define(Code::FOrdGreaterThanEqual, bools, {x, upper});
  const Id is_above = m.define(Code::FOrdGreaterThan, bools, {x, lower});
  const Id is_below = m.define(Code::FOrdLessThan, bools, {x, upper});
  const Id fits = m.define(Code::LogicalAnd, bools, {is_above, is_below});
  const Id safe = m.define(Code::Select, m.type_of(from), {fits, x, m.constant(0, from)});
  const Id inside = m.define(has_sign ? Code::ConvertFToS : Code::ConvertFToU, type, {safe});
  const std::int64_t most = to == DType::UInt64 ? -1 : max_value(to);
  const Id capped = m.define(Code::Select, type, {is_high, m.constant(most, to), inside});
  if (!has_sign) return capped;
  const Id is_low = m.define(Code::FOrdLessThanEqual, bools, {x, lower});
  return m.define(Code::Select, type, {is_low, m.constant(min_value(to), to), capped});
}

// The nearest number to a word.  By halves, each of which is a number and so is the upper one in
// its place: SwiftShader rounds a word twice, first to a number of 31 bits.
Id nearest_to_word(Module& m, Id x) {
  const Id words = m.type_int(32), floats = m.type_of(DType::Float32);
  const Id upper = m.define(Code::ShiftRightLogical, words, {x, m.constant_word(16)});
  const Id lower = m.define(Code::BitwiseAnd, words, {x, m.constant_word(0xffff)});
  const Id high = m.define(Code::ConvertUToF, floats, {upper});
  const Id low = m.define(Code::ConvertUToF, floats, {lower});
  const Id scale = number(m, 65536, DType::Float32);
  const Id in_place = m.define(Code::FMul, floats, {high, scale});
  return m.define(Code::FAdd, floats, {in_place, low});
}

Id between_numbers(Module& m, Id x, DType from, DType to) {
  if (!is_float(to)) return float_to_integer(m, x, from, to);
  if (from == DType::UInt32 && to == DType::Float32) return nearest_to_word(m, x);
  if (is_float(from)) return m.define(Code::FConvert, m.type_of(to), {x});
  const Code convert = is_unsigned(from) ? Code::ConvertUToF : Code::ConvertSToF;
  return m.define(convert, m.type_of(to), {x});
}

}  // namespace

Id wrapped(Module& m, Id x, DType t) {
  const std::int64_t bits = 8 * size_of(t);
  if (bits >= 32 || !is_integer(t)) return x;
  const Id zero = m.constant_word(0), width = m.constant_word(static_cast<std::uint32_t>(bits));
  const Code extract = is_unsigned(t) ? Code::BitFieldUExtract : Code::BitFieldSExtract;
  return m.define(extract, m.type_int(32), {x, zero, width});
}

Id cast(Module& m, Id x, DType from, DType to) {
  if (from == to) return x;
  if (from == DType::Bool) return from_bool(m, x, to);
  if (to == DType::Bool) return to_bool(m, x, from);
  if (!is_float(from) && !is_float(to)) return between_integers(m, x, from, to);
  // The bounds of integers are no numbers of 16 bits.
  if (from == DType::Float16 && to != DType::Float32) {
    return cast(m, cast(m, x, from, DType::Float32), DType::Float32, to);
  }
  return between_numbers(m, x, from, to);
}

Id bitcast(Module& m, Id x, DType from, DType to) {
  ensure(size_of(from) == size_of(to), "linear program: bitcast from {} to {}", name_of(from),
         name_of(to));
  if (from == DType::Bool || to == DType::Bool) return cast(m, x, from, to);
  if (!is_float(from) && !is_float(to)) return wrapped(m, x, to);
  return m.define(Code::Bitcast, m.type_of(to), {x});
}

}  // namespace croze::spirv
