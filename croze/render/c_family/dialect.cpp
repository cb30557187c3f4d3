// dialect.cpp -- the texts that all C-like languages share: ops, constants, helper functions.
#include "croze/render/c_family/dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace croze::c_family {
namespace {

using K = OperandKind;

// Two kinds of care are taken here.  Signed overflow is undefined in C, so arithmetic that may wrap
// is done on unsigned integers of at least 32 bits (narrower ones would be promoted to int).  And
// every operand is a name or a literal, so no text needs parentheses around its operands.
// clang-format off
constexpr OpText table[] = {
    {Op::Neg, K::Bool, "{0}"},
    {Op::Neg, K::Exact, "-{0}"},
    {Op::Neg, K::Integer, "({T})(0u - ({U}){0})"},
    {Op::Neg, K::Float, "-{0}"},
    {Op::Not, K::Bool, "!{0}"},
    {Op::Not, K::Integer, "({T})~{0}"},
    {Op::Sqrt, K::Float, "sqrt{f}({0})"},
    {Op::Reciprocal, K::Float, "1 / {0}"},
    {Op::Trunc, K::Float, "trunc{f}({0})"},
    {Op::Trunc, K::Any, "{0}"},

    {Op::Add, K::Bool, "{0} | {1}"},
    {Op::Add, K::Exact, "{0} + {1}"},
    {Op::Add, K::Integer, "({T})(({U}){0} + ({U}){1})"},
    {Op::Add, K::Float, "{0} + {1}"},
    {Op::Mul, K::Bool, "{0} & {1}"},
    {Op::Mul, K::Exact, "{0} * {1}"},
    {Op::Mul, K::Integer, "({T})(({U}){0} * ({U}){1})"},
    {Op::Mul, K::Float, "{0} * {1}"},
    {Op::Div, K::Float, "{0} / {1}"},
    {Op::CDiv, K::Integer, "({T})({0} / {1})"},
    {Op::CMod, K::Integer, "({T})({0} % {1})"},
    {Op::Max, K::Float, "max_{D}({0}, {1})"},
    {Op::Max, K::Any, "{0} > {1} ? {0} : {1}"},
    {Op::Min, K::Float, "min_{D}({0}, {1})"},
    {Op::Min, K::Any, "{0} < {1} ? {0} : {1}"},

    {Op::Lt, K::Any, "{0} < {1}"},
    {Op::Le, K::Any, "{0} <= {1}"},
    {Op::Eq, K::Any, "{0} == {1}"},
    {Op::Ne, K::Any, "{0} != {1}"},

    {Op::And, K::Any, "{0} & {1}"},
    {Op::Or, K::Any, "{0} | {1}"},
    {Op::Xor, K::Any, "{0} ^ {1}"},
    {Op::Shl, K::Integer, "({T})(({U}){0} << {1})"},
    {Op::Shr, K::Integer, "{0} >> {1}"},

    {Op::Where, K::Any, "{0} ? {1} : {2}"},
    {Op::MulAdd, K::Integer, "({T})(({U}){0} * ({U}){1} + ({U}){2})"},
    {Op::MulAdd, K::Float, "fma{f}({0}, {1}, {2})"},
};
// clang-format on

bool fits(K row, K kind) {
  return row == K::Any || row == kind || (row == K::Integer && kind == K::Exact);
}

std::string float_literal(double value, DType t) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  // The shortest decimal that reads back as the same value.
  const bool single = t == DType::Float32;
  std::string text =
      single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

}  // namespace

std::string_view op_text(Op op, OperandKind kind) {
  const auto row = std::ranges::find_if(
      table, [=](const OpText& r) { return r.op == op && fits(r.kind, kind); });
  return row == std::end(table) ? std::string_view{} : row->text;
}

OpSet supported_ops() {
  OpSet ops = set_of({Op::Const, Op::Cast, Op::Bitcast});
  for (const OpText& row : table) ops |= set_of({row.op});
  return ops;
}

std::uint32_t supported_dtypes(const Dialect& dialect) {
  std::uint32_t dtypes = 0;
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    if (!dialect.type(static_cast<DType>(t)).empty()) dtypes |= 1u << t;
  }
  return dtypes;
}

std::string entry_name(std::string_view kernel) { return fmt::format("croze_{}", kernel); }

bool is_alone(const LinearProgram& program, UOp param) {
  return std::ranges::none_of(program.instructions, [=](UOp u) {
    return u.is(Op::Param) && u != param && u.slot() == param.slot();
  });
}

bool is_written(const LinearProgram& program, UOp buffer) {
  return std::ranges::any_of(program.instructions, [=](UOp u) {
    return u.is(Op::Store) && buffer_of(u.src(0)) == buffer;
  });
}

std::string literal(std::int64_t bits, DType t) {
  if (is_float(t)) return float_literal(std::bit_cast<double>(bits), t);
  if (t == DType::UInt64 || t == DType::UInt32) {
    return fmt::format("{}u", static_cast<std::uint64_t>(bits));
  }
  // The least integer has no literal: C reads a minus and a number that does not fit.
  if (bits == INT64_MIN) return fmt::format("(-{} - 1)", INT64_MAX);
  if (bits == INT32_MIN) return fmt::format("(-{} - 1)", INT32_MAX);
  return fmt::format("{}", bits);
}

Helper extremum_helper(const Dialect& dialect, Op op, DType t) {
  Helper helper;
  const bool is_max = op == Op::Max;
  helper.name = fmt::format("{}_{}", is_max ? "max" : "min", croze::name_of(t));
  helper.text = fmt::format(
      "{5} {0} {1}({0} a, {0} b) {{\n"
      "  if (a != a || b != b) return a + b;\n"
      "  if (a == b) return signbit(a) ? {2} : {3};\n"
      "  return a {4} b ? a : b;\n"
      "}}\n",
      dialect.type(t), helper.name, is_max ? "b" : "a", is_max ? "a" : "b", is_max ? ">" : "<",
      dialect.function);
  return helper;
}

Helper shuffle_helper(const Dialect& dialect, DType t, std::string_view body) {
  Helper helper;
  helper.name = fmt::format("shuffle_{}", croze::name_of(t));
  helper.text = fmt::format("{2} {0} {1}({0} value, int bit) {{\n{3}}}\n", dialect.type(t),
                            helper.name, dialect.function, body);
  return helper;
}

Helper cast_helper(const Dialect& dialect, DType from, DType to) {
  Helper helper;
  helper.name = fmt::format("{}_of_{}", croze::name_of(to), croze::name_of(from));
  // The bounds are powers of two, so they are floats: the least value and the first one too large.
  const std::int64_t width = 8 * size_of(to);
  const std::string_view suffix = from == DType::Float32 ? "f" : "";
  const std::string least = is_unsigned(to) ? "0" : fmt::format("-0x1p{}{}", width - 1, suffix);
  const std::string beyond = fmt::format("0x1p{}{}", is_unsigned(to) ? width : width - 1, suffix);
  const std::int64_t greatest = to == DType::UInt64 ? -1 : max_value(to);
  helper.text = fmt::format(
      "{7} {0} {1}({2} x) {{\n"
      "  if (x != x) return 0;\n"
      "  if (x <= {3}) return {4};\n"
      "  if (x >= {5}) return {6};\n"
      "  return ({0})x;\n"
      "}}\n",
      dialect.type(to), helper.name, dialect.type(from), least, literal(min_value(to), to), beyond,
      literal(greatest, to), dialect.function);
  return helper;
}

}  // namespace croze::c_family
