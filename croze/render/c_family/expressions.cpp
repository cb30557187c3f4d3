// expressions.cpp -- which row of the table of texts an op takes, and its blanks filled in.
#include "croze/render/c_family/expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"

namespace croze::c_family {

DType wrapping_type(DType t) {
  return t == DType::Index || size_of(t) == 8 ? DType::UInt64 : DType::UInt32;
}

bool cannot_wrap(UOp u) {
  if (u.dtype() == DType::UInt64 || u.dtype() == DType::Bool) return false;
  return u.lo() > min_value(u.dtype()) || u.hi() < max_value(u.dtype());
}

namespace {

// The dtype that the op works on: of its last value.
DType operand_type(UOp u) { return u.src(u.is(Op::Reduce) ? 0 : u.num_src() - 1).dtype(); }

OperandKind kind_of(UOp u) {
  const DType t = operand_type(u);
  if (is_float(t)) return OperandKind::Float;
  if (t == DType::Bool) return OperandKind::Bool;
  return is_integer(u.dtype()) && cannot_wrap(u) ? OperandKind::Exact : OperandKind::Integer;
}

bool is_choice(Op op) { return op == Op::Where || op == Op::Max || op == Op::Min; }

// Of bytes, or of what was just made wider; see Dialect::hides_bytes.
bool chooses_hidden(UOp u, Op op) {
  if (!is_choice(op)) return false;
  const auto is_widened = [&](UOp s) {
    return s.is(Op::Cast) && size_of(s.src(0).dtype()) < size_of(s.dtype());
  };
  return size_of(u.dtype()) == 1 ||
         (op == Op::Where && (is_widened(u.src(1)) || is_widened(u.src(2))));
}

// The integer of a choice's size, which select() asks.
DType mask_type(DType t) {
  switch (size_of(t)) {
    case 1: return t;
    case 2: return DType::Int16;
    case 4: return DType::Int32;
    default: return DType::Int64;
  }
}

}  // namespace

std::string_view Expressions::type(DType t) const {
  const std::string_view text = dialect_.type(t);
  ensure(!text.empty(), "the {} renderer has no {}", dialect_.name, name_of(t));
  return text;
}

std::string Expressions::elementwise(UOp u, std::span<const std::string, 3> operands) {
  ensure(is_elementwise(u.op()) && u.num_src() > 0, "linear program: {} cannot stand in it",
         info(u.op()).name);
  if (u.is(Op::Cast)) return cast(u, operands[0]);
  if (u.is(Op::Bitcast)) return expand(dialect_.bitcast, u, operands);
  return op(u, u.op(), operands[0], operands[1], operands[2]);
}

std::string Expressions::cast(UOp u, const std::string& x) {
  const DType from = u.src(0).dtype(), to = u.dtype();
  if (to == DType::Bool) return fmt::format("{} != 0", x);
  if (is_float(from) && !is_float(to)) {
    return fmt::format("{}({})", use(cast_helper(dialect_, from, to)), x);
  }
  if (dialect_.hides_bytes && size_of(from) == 1 && size_of(to) > 1) {
    const DType wide = from == DType::Int8 ? DType::Int32 : DType::UInt32;
    return fmt::format("({})((({}){} << 24) >> 24)", type(to), type(wide), x);
  }
  return fmt::format("({}){}", type(to), x);
}

std::string Expressions::op(UOp u, Op op, const std::string& a, const std::string& b,
                            const std::string& c) {
  OperandKind kind = kind_of(u);
  // The bounds of a Reduce are those of the whole, not of each of its steps.
  if (u.is(Op::Reduce) && kind == OperandKind::Exact) kind = OperandKind::Integer;
  const std::string_view text = c_family::op_text(op, kind);
  ensure(!text.empty(), "the {} renderer has no {} of {}", dialect_.name, info(op).name,
         name_of(u.dtype()));
  if (dialect_.hides_bytes && chooses_hidden(u, op)) {
    const bool is_where = op == Op::Where;
    const std::string condition =
        is_where ? a : fmt::format("{} {} {}", a, op == Op::Max ? '>' : '<', b);
    return fmt::format("select(({0})({3}), ({0})({2}), ({4})-({1}))", type(u.dtype()), condition,
                       is_where ? b : a, is_where ? c : b, type(mask_type(u.dtype())));
  }
  if (kind == OperandKind::Float && (op == Op::Max || op == Op::Min)) {
    use(dialect_.extremum(dialect_, op, u.dtype()));
  }
  const std::string operands[] = {a, b, c};
  return expand(text, u, operands);
}

std::string Expressions::of_warp(UOp u, const std::string& x) {
  if (u.is(Op::Ballot)) {
    ensure(!dialect_.ballot.empty(), "the {} renderer has no ballots", dialect_.name);
    return fmt::format(fmt::runtime(dialect_.ballot), x, u.arg().value);
  }
  ensure(dialect_.shuffle != nullptr, "the {} renderer has no shuffles", dialect_.name);
  return fmt::format("{}({}, {})", use(dialect_.shuffle(dialect_, u.dtype())), x, u.arg().value);
}

// Replaces the names in braces (see OpText); other braces are text.
std::string Expressions::expand(std::string_view text, UOp u,
                                std::span<const std::string> operands) const {
  std::string result;
  const DType from = operand_type(u);
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] != '{' || i + 2 >= text.size() || text[i + 2] != '}') {
      result += text[i];
      continue;
    }
    const char name = text[i + 1];
    i += 2;  // to the closing brace
    switch (name) {
      case 'T': result += type(u.dtype()); break;
      case 'U': result += type(wrapping_type(u.dtype())); break;
      case 'S': result += type(from); break;
      case 'D': result += name_of(from); break;
      case 'f': result += from == DType::Float32 ? dialect_.float32_suffix : ""; break;
      default: result += operands[static_cast<std::size_t>(name - '0')];
    }
  }
  return result;
}

const std::string& Expressions::use(Helper helper) {
  auto known = std::ranges::find(helpers_, helper.name, &Helper::name);
  if (known == helpers_.end()) known = helpers_.insert(known, std::move(helper));
  return known->name;
}

}  // namespace croze::c_family
