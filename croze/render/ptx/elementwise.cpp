// elementwise.cpp -- which instruction an op is, as a table, and the ops that take several.
#include "croze/render/ptx/elementwise.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/render/ptx/cast.h"

namespace croze::ptx {
namespace {

enum class Kind : std::uint8_t { Bool, Integer, Float };

// {n} is the number_type of the operands, {b} their bits_type and {s} the signed integer of their
// width.
struct Row {
  Op op;
  Kind kind;
  std::string_view instruction;
};

// Roundings are written out, so that nothing is fused that the program has not fused.
// clang-format off
constexpr Row table[] = {
    {Op::Neg, Kind::Integer, "neg.{s}"},
    {Op::Neg, Kind::Float, "neg.{n}"},
    {Op::Not, Kind::Bool, "not.{b}"},
    {Op::Not, Kind::Integer, "not.{b}"},
    {Op::Sqrt, Kind::Float, "sqrt.rn.{n}"},
    {Op::Reciprocal, Kind::Float, "rcp.rn.{n}"},
    {Op::Trunc, Kind::Float, "cvt.rzi.{n}.{n}"},

    {Op::Add, Kind::Bool, "or.{b}"},
    {Op::Add, Kind::Integer, "add.{n}"},
    {Op::Add, Kind::Float, "add.rn.{n}"},
    {Op::Mul, Kind::Bool, "and.{b}"},
    {Op::Mul, Kind::Integer, "mul.lo.{n}"},
    {Op::Mul, Kind::Float, "mul.rn.{n}"},
    {Op::Div, Kind::Float, "div.rn.{n}"},
    {Op::CDiv, Kind::Integer, "div.{n}"},
    {Op::CMod, Kind::Integer, "rem.{n}"},
    {Op::Max, Kind::Bool, "or.{b}"},
    {Op::Max, Kind::Integer, "max.{n}"},
    {Op::Max, Kind::Float, "max.NaN.{n}"},
    {Op::Min, Kind::Bool, "and.{b}"},
    {Op::Min, Kind::Integer, "min.{n}"},
    {Op::Min, Kind::Float, "min.NaN.{n}"},

    {Op::Lt, Kind::Integer, "setp.lt.{n}"},
    {Op::Lt, Kind::Float, "setp.lt.{n}"},
    {Op::Le, Kind::Integer, "setp.le.{n}"},
    {Op::Le, Kind::Float, "setp.le.{n}"},
    {Op::Eq, Kind::Integer, "setp.eq.{n}"},
    {Op::Eq, Kind::Float, "setp.eq.{n}"},
    {Op::Ne, Kind::Bool, "xor.{b}"},
    {Op::Ne, Kind::Integer, "setp.ne.{n}"},
    {Op::Ne, Kind::Float, "setp.neu.{n}"},

    {Op::And, Kind::Bool, "and.{b}"},
    {Op::And, Kind::Integer, "and.{b}"},
    {Op::Or, Kind::Bool, "or.{b}"},
    {Op::Or, Kind::Integer, "or.{b}"},
    {Op::Xor, Kind::Bool, "xor.{b}"},
    {Op::Xor, Kind::Integer, "xor.{b}"},
    {Op::Shl, Kind::Integer, "shl.{b}"},
    {Op::Shr, Kind::Integer, "shr.{n}"},

    {Op::MulAdd, Kind::Integer, "mad.lo.{n}"},
    {Op::MulAdd, Kind::Float, "fma.rn.{n}"},
};
// clang-format on

Kind kind_of(DType t) {
  return t == DType::Bool ? Kind::Bool : is_float(t) ? Kind::Float : Kind::Integer;
}

std::string_view signed_type(DType t) {
  return size_of(t) == 8 ? "s64" : size_of(t) == 4 ? "s32" : "s16";
}

// Whether a result of 8 bits may have run over in its register.
bool may_overflow(Op op) {
  return op == Op::Neg || op == Op::Not || op == Op::Add || op == Op::Mul || op == Op::Shl ||
         op == Op::MulAdd;
}

std::string instruction_of(Op op, DType operand) {
  const auto row = std::ranges::find_if(
      table, [&](const Row& r) { return r.op == op && r.kind == kind_of(operand); });
  ensure(row != std::end(table), "the ptx renderer has no {} of {}", info(op).name,
         name_of(operand));
  return fmt::format(fmt::runtime(row->instruction), fmt::arg("n", number_type(operand)),
                     fmt::arg("b", bits_type(operand)), fmt::arg("s", signed_type(operand)));
}

std::string bool_not(Text& text, std::string_view x) {
  return text.define(DType::Bool, "not.pred", {x});
}

// !a & b, !a | b, !(a ^ b)
std::string compare_bools(Text& text, Op op, const std::string& a, const std::string& b) {
  if (op == Op::Eq) return bool_not(text, text.define(DType::Bool, "xor.pred", {a, b}));
  return text.define(DType::Bool, op == Op::Lt ? "and.pred" : "or.pred", {bool_not(text, a), b});
}

std::string where(Text& text, DType t, const std::string& condition, const std::string& a,
                  const std::string& b) {
  if (t == DType::Bool) {
    const std::string first = text.define(t, "and.pred", {condition, a});
    const std::string second = text.define(t, "and.pred", {bool_not(text, condition), b});
    return text.define(t, "or.pred", {first, second});
  }
  const bool is_number = t == DType::Float32 || t == DType::Float64;
  return text.define(t, fmt::format("selp.{}", is_number ? number_type(t) : bits_type(t)),
                     {a, b, condition});
}

// There is no max.NaN of Float64: where one is NaN, so is their sum.
std::string double_extremum(Text& text, Op op, const std::string& a, const std::string& b) {
  constexpr DType t = DType::Float64;
  const std::string extremum = text.define(t, op == Op::Max ? "max.f64" : "min.f64", {a, b});
  const std::string sum = text.define(t, "add.rn.f64", {a, b});
  const std::string are_numbers = text.define(DType::Bool, "setp.num.f64", {a, b});
  return text.define(t, "selp.f64", {extremum, sum, are_numbers});
}

// Amounts have 32 bits whatever is shifted; they are below the width.
std::string shift(Text& text, Op op, DType t, const std::string& x, const std::string& by) {
  const bool is_literal = by[0] != '%';
  const std::string amount = is_literal || size_of(t) == 4 ? by : cast(text, by, t, DType::UInt32);
  return text.define(t, instruction_of(op, t), {x, amount});
}

}  // namespace

std::string elementwise(Text& text, Op op, DType result, DType operand,
                        std::span<const std::string> operands) {
  const std::string& a = operands[0];
  const std::string& b = operands[operands.size() - 1];
  switch (op) {
    case Op::Cast: return cast(text, a, operand, result);
    case Op::Bitcast: return bitcast(text, a, operand, result);
    case Op::Where: return where(text, result, a, operands[1], b);
    case Op::Trunc:
      if (!is_float(operand)) return a;
      break;
    case Op::Neg:
      if (operand == DType::Bool) return a;
      break;
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
      if (operand == DType::Bool) return compare_bools(text, op, a, b);
      break;
    case Op::Max:
    case Op::Min:
      if (operand == DType::Float64) return double_extremum(text, op, a, b);
      break;
    case Op::Shl:
    case Op::Shr: return wrapped(text, result, shift(text, op, result, a, b));
    default: break;
  }
  const std::string name = instruction_of(op, operand);
  const std::string value = operands.size() == 1   ? text.define(result, name, {a})
                            : operands.size() == 2 ? text.define(result, name, {a, b})
                                                   : text.define(result, name, {a, operands[1], b});
  return may_overflow(op) ? wrapped(text, result, value) : value;
}

OpSet table_ops() {
  OpSet ops = set_of({Op::Cast, Op::Bitcast, Op::Where});
  for (const Row& row : table) ops |= set_of({row.op});
  return ops;
}

std::string plus(Text& text, DType t, const std::string& x, std::int64_t constant) {
  const std::string operands[] = {x, literal(bits_of(constant, t), t)};
  return elementwise(text, Op::Add, t, t, operands);
}

void copy(Text& text, DType t, std::string_view to, std::string_view from) {
  const bool is_number = t == DType::Float32 || t == DType::Float64;
  text.line("mov.{} {}, {};", is_number ? number_type(t) : bits_type(t), to, from);
}

std::string copied(Text& text, DType t, const std::string& value) {
  std::string result = text.fresh(t);
  copy(text, t, result, value);
  return result;
}

std::string shuffled(Text& text, DType t, const std::string& x, std::int64_t bit) {
  if (size_of(t) == 4) {
    const std::string given = x[0] == '%' ? x : copied(text, t, x);
    return text.define(t, "shfl.sync.bfly.b32", {given, fmt::format("{}", bit), "31", "-1"});
  }
  const auto apply = [&](Op op, DType result, DType operand,
                         std::initializer_list<std::string> of) {
    return elementwise(text, op, result, operand, std::vector<std::string>(of));
  };
  constexpr DType wide = DType::UInt64, word = DType::UInt32;
  const std::string half = literal(32, wide);
  const std::string bits = apply(Op::Bitcast, wide, t, {x});
  const std::string words[] = {
      apply(Op::Cast, word, wide, {bits}),
      apply(Op::Cast, word, wide, {apply(Op::Shr, wide, wide, {bits, half})})};
  std::string there[2];
  for (int i : {0, 1}) {
    there[i] = apply(Op::Cast, wide, word, {shuffled(text, word, words[i], bit)});
  }
  const std::string high = apply(Op::Shl, wide, wide, {there[1], half});
  return apply(Op::Bitcast, t, wide, {apply(Op::Or, wide, wide, {there[0], high})});
}

std::string ballot(Text& text, const std::string& holds) {
  const std::string given = holds[0] == '%' ? holds : copied(text, DType::Bool, holds);
  return text.define(DType::UInt32, "vote.sync.ballot.b32", {given, "-1"});
}

}  // namespace croze::ptx
