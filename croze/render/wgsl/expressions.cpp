// expressions.cpp -- the words of WGSL.
//
// Two kinds of care are taken here.  Compilers may treat floats as real numbers and do: x + c - c
// becomes x, where rounding by that sum was meant.  So no compiler gets to know a constant other
// than zero: it is made of its bits and of a zero that comes with the launch.  That also makes
// infinities, which as expressions of constants are errors.  And NaNs may be assumed away, so what
// asks for one looks at the bits.
#include "croze/render/wgsl/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "croze/base/error.h"
#include "croze/render/c_family/expressions.h"

namespace croze::wgsl {
namespace {

enum class Kind : std::uint8_t { Any, Bool, Integer, Float };

// The text of one op over operands of a kind.  {0} {1} {2} are the operands, {3} the number zero of
// their type.
struct Row {
  Op op;
  Kind kind;
  std::string_view text;
  bool may_wrap = false;  // the result may leave a narrow type
};

// clang-format off
constexpr Row table[] = {
    {Op::Neg, Kind::Bool, "{0}"},
    {Op::Neg, Kind::Integer, "{3} - {0}", true},
    {Op::Neg, Kind::Float, "-{0}"},
    {Op::Not, Kind::Bool, "!{0}"},
    {Op::Not, Kind::Integer, "~{0}", true},
    {Op::Sqrt, Kind::Float, "sqrt({0})"},
    {Op::Reciprocal, Kind::Float, "1.0f / {0}"},
    {Op::Trunc, Kind::Float, "trunc({0})"},
    {Op::Trunc, Kind::Any, "{0}"},

    {Op::Add, Kind::Bool, "{0} | {1}"},
    {Op::Add, Kind::Integer, "{0} + {1}", true},
    {Op::Add, Kind::Float, "{0} + {1}"},
    {Op::Mul, Kind::Bool, "{0} & {1}"},
    {Op::Mul, Kind::Integer, "{0} * {1}", true},
    {Op::Mul, Kind::Float, "{0} * {1}"},
    {Op::Div, Kind::Float, "{0} / {1}"},
    {Op::CDiv, Kind::Integer, "{0} / {1}"},
    {Op::CMod, Kind::Integer, "{0} % {1}"},
    {Op::Max, Kind::Bool, "{0} | {1}"},
    {Op::Max, Kind::Integer, "max({0}, {1})"},
    {Op::Max, Kind::Float, "max_f32({0}, {1})"},
    {Op::Min, Kind::Bool, "{0} & {1}"},
    {Op::Min, Kind::Integer, "min({0}, {1})"},
    {Op::Min, Kind::Float, "min_f32({0}, {1})"},

    {Op::Lt, Kind::Bool, "!{0} & {1}"},
    {Op::Lt, Kind::Any, "{0} < {1}"},
    {Op::Le, Kind::Bool, "!{0} | {1}"},
    {Op::Le, Kind::Any, "{0} <= {1}"},
    {Op::Eq, Kind::Any, "{0} == {1}"},
    {Op::Ne, Kind::Float, "!({0} == {1})"},  // where != of a NaN is false, this is true
    {Op::Ne, Kind::Any, "{0} != {1}"},

    {Op::And, Kind::Any, "{0} & {1}"},
    {Op::Or, Kind::Any, "{0} | {1}"},
    {Op::Xor, Kind::Bool, "{0} != {1}"},
    {Op::Xor, Kind::Integer, "{0} ^ {1}"},
    {Op::Shl, Kind::Integer, "{0} << u32({1})", true},
    {Op::Shr, Kind::Integer, "{0} >> u32({1})"},

    {Op::Where, Kind::Any, "select({2}, {1}, {0})"},
};

// NaN wins, and the positive zero is the greater one.  Conversions to integers go toward zero and saturate;
// that of a u32 rounds once, in the sum, since implementations differ in how they do it.
constexpr std::string_view helper_text = R"(
fn constant(bits: u32) -> f32 { return bitcast<f32>(bits ^ u32(number(3))); }
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn max_f32(a: f32, b: f32) -> f32 {
  if (is_nan(a)) { return a; }
  if (is_nan(b)) { return b; }
  if (a == b) { return bitcast<f32>(bitcast<u32>(a) & bitcast<u32>(b)); }
  return select(b, a, a > b);
}
fn min_f32(a: f32, b: f32) -> f32 {
  if (is_nan(a)) { return a; }
  if (is_nan(b)) { return b; }
  if (a == b) { return bitcast<f32>(bitcast<u32>(a) | bitcast<u32>(b)); }
  return select(b, a, a < b);
}
fn i32_of_f32(x: f32, least: i32, greatest: i32, lower: f32, upper: f32) -> i32 {
  if (is_nan(x)) { return 0i; }
  if (x <= lower) { return least; }
  if (x >= upper) { return greatest; }
  return i32(x);
}
fn f32_of_u32(x: u32) -> f32 { return f32(x >> 16u) * 65536.0f + f32(x & 0xffffu); }
fn u32_of_f32(x: f32, greatest: u32, upper: f32) -> u32 {
  if (is_nan(x) || x <= 0.0f) { return 0u; }
  if (x >= upper) { return greatest; }
  return u32(x);
}
)";
// clang-format on

// The dtype that the op works on: of its last value.
DType operand_type(UOp u) { return u.src(u.num_src() - 1).dtype(); }

Kind kind_of(DType t) {
  if (t == DType::Bool) return Kind::Bool;
  return is_float(t) ? Kind::Float : Kind::Integer;
}

// The value of the 32-bit type brought into the narrow one.
std::string wrapped(const std::string& x, DType t) {
  const std::int64_t bits = 8 * size_of(t);
  return bits == 32 ? x : fmt::format("extractBits({}, 0u, {}u)", x, bits);
}

std::string float_literal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits == 0 ? "0.0f" : fmt::format("constant({:#x}u)", bits);
}

std::string float_to_integer(const std::string& x, DType to) {
  const std::int64_t width = 8 * size_of(to);
  const std::string greatest = literal(max_value(to), to);
  if (is_unsigned(to)) return fmt::format("u32_of_f32({}, {}, 0x1p{}f)", x, greatest, width);
  return fmt::format("i32_of_f32({}, {}, {}, -0x1p{}f, 0x1p{}f)", x, literal(min_value(to), to),
                     greatest, width - 1, width - 1);
}

std::string cast(UOp u, const std::string& x) {
  const DType from = u.src(0).dtype(), to = u.dtype();
  if (from == to) return x;
  if (to == DType::Bool) return fmt::format("!({} == {})", x, literal(0, from));
  if (to == DType::Float32 && from == DType::UInt32) return fmt::format("f32_of_u32({})", x);
  if (is_float(to) || from == DType::Bool) return fmt::format("{}({})", type(to), x);
  if (is_float(from)) return float_to_integer(x, to);
  const std::string value =
      type(from) == type(to) ? x : fmt::format("bitcast<{}>({})", type(to), x);
  const bool fits = min_value(to) <= u.src(0).lo() && u.src(0).hi() <= max_value(to);
  return fits ? value : wrapped(value, to);
}

std::string bitcast(UOp u, const std::string& x) {
  const DType from = u.src(0).dtype(), to = u.dtype();
  if (type(from) == type(to)) return x;
  return wrapped(fmt::format("bitcast<{}>({})", type(to), x), to);
}

bool fits(const Row& row, Op op, Kind kind) {
  return row.op == op && (row.kind == kind || row.kind == Kind::Any);
}

}  // namespace

bool has_type(DType t) {
  switch (t) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
    case DType::Int32:
    case DType::UInt32:
    case DType::Float32: return true;
    default: return false;
  }
}

std::string_view type(DType t) {
  ensure(has_type(t), "the wgsl renderer has no {}", name_of(t));
  if (t == DType::Bool) return "bool";
  if (is_float(t)) return "f32";
  return is_unsigned(t) ? "u32" : "i32";
}

std::string literal(std::int64_t bits, DType t) {
  if (t == DType::Bool) return bits ? "true" : "false";
  if (is_float(t)) return float_literal(static_cast<float>(std::bit_cast<double>(bits)));
  if (is_unsigned(t)) return fmt::format("{}u", static_cast<std::uint32_t>(bits));
  if (bits >= 0) return fmt::format("{}i", bits);
  return fmt::format("i32({})", bits);
}

OpSet table_ops() {
  OpSet ops;
  for (const Row& row : table) ops |= set_of({row.op});
  return ops;
}

std::string elementwise(UOp u, const std::string (&operands)[3]) {
  ensure(is_elementwise(u.op()) && u.num_src() > 0, "linear program: {} cannot stand in it",
         info(u.op()).name);
  if (u.is(Op::Cast)) return cast(u, operands[0]);
  if (u.is(Op::Bitcast)) return bitcast(u, operands[0]);
  const DType t = operand_type(u);
  const bool with_itself = u.num_src() == 2 && u.src(0) == u.src(1) && is_float(t);
  if (with_itself && u.is(Op::Ne)) return fmt::format("is_nan({})", operands[0]);
  if (with_itself && u.is(Op::Eq)) return fmt::format("!is_nan({})", operands[0]);

  const auto row =
      std::ranges::find_if(table, [&](const Row& r) { return fits(r, u.op(), kind_of(t)); });
  ensure(row != std::end(table), "the wgsl renderer has no {} of {}", info(u.op()).name,
         name_of(t));
  const std::string text =
      fmt::format(fmt::runtime(row->text), operands[0], operands[1], operands[2], literal(0, t));
  return row->may_wrap && !c_family::cannot_wrap(u) ? wrapped(text, u.dtype()) : text;
}

std::string to_word(const std::string& x, DType t) {
  if (t == DType::Bool) return fmt::format("u32({})", x);
  return type(t) == "u32" ? x : fmt::format("bitcast<u32>({})", x);
}

std::string from_word(const std::string& word, DType t) {
  if (t == DType::Bool) return fmt::format("{} != 0u", word);
  if (type(t) == "u32") return word;
  return wrapped(fmt::format("bitcast<{}>({})", type(t), word), t);
}

std::string_view helpers() { return helper_text; }

}  // namespace croze::wgsl
