// rule.cpp -- building replacements, proving conditions, printing rules.
#include "croze/graph/rewrite/rule.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/graph/analysis/interval.h"
#include "croze/graph/graph.h"

namespace croze {

// ---- building ---------------------------------------------------------------------------------

SmallVector<UOp, 8> Match::operator[](Rest r) const {
  const UOp owner(captures_.nodes[r.slot()]);
  SmallVector<UOp, 8> rest;
  for (int i = captures_.ops[r.slot()]; i < owner.num_src(); i++) rest.push_back(owner.src(i));
  return rest;
}

UOp Match::build(const Pattern& p) const {
  const Token* t = p.tokens.data();
  return build(t, root);
}

// `beside` lends its dtype to literals.
UOp Match::build(const Token*& t, UOp beside) const {
  if (t->is_call()) return build_call(t, beside);
  const Token& head = *t++;
  if (head.kind == Token::Literal) return graph.constant(beside.dtype(), head.value);
  if (head.kind == Token::Real) {
    return graph.constant(beside.dtype(), std::bit_cast<double>(head.value));
  }
  return UOp(captures_.nodes[head.id]);
}

namespace {

const Token* skip(const Token* t) {
  for (int left = 1; left > 0; left--, t++) left += t->is_call() ? t->count : 0;
  return t;
}

}  // namespace

UOp Match::build_call(const Token*& t, UOp beside) const {
  const Token& head = *t++;
  const Op op = head.kind == Token::Family ? static_cast<Op>(captures_.ops[head.id]) : head.op();
  if (op == Op::Invalid) return graph.invalid(beside.dtype());

  // Literals wait until an operand beside them is there.
  SmallVector<UOp, 8> src;
  const Token* operands[Pattern::capacity];
  UOp neighbour = is_comparison(op) ? UOp() : beside;
  for (int i = 0; i < head.count; i++, t = skip(t)) {
    operands[i] = t;
    if (t->kind == Token::Rest) {
      const SmallVector<UOp, 8> rest = (*this)[Rest{static_cast<char>('a' + t->id)}];
      src.append(rest.begin(), rest.end());
      continue;
    }
    const Token* operand = t;
    src.push_back(t->is_literal() ? UOp() : build(operand, beside));
    const bool is_condition = op == Op::Where && i == 0;
    if (src.back() && !is_condition) neighbour = src.back();
  }
  for (int i = 0; i < head.count; i++) {
    if (operands[i]->is_literal()) src[i] = build(operands[i], neighbour ? neighbour : beside);
  }

  if (op == Op::Cast) return graph.cast(src[0], root.dtype());
  if (op == Op::Bitcast) return graph.bitcast(src[0], root.dtype());
  if (op == Op::Neg) return -src[0];
  if (is_elementwise(op)) return graph.alu(op, src);
  if (op == root.op()) return graph.make(op, root.dtype(), src, root.arg());
  const DType t0 = has_trait(op, trait_effect) ? DType::Void : src[0].dtype();
  return graph.make(op, t0, src);
}

// ---- proving ----------------------------------------------------------------------------------

namespace {

// Beyond 64 bits nothing is known, so that products stay in 128.
bool is_small(const Interval& x) {
  constexpr __int128 limit = __int128{1} << 64;
  return x.lo >= -limit && x.hi <= limit;
}

// The interval of the condition at `t`; empty (lo > hi) if it is not known.
Interval interval(const Token*& t, const Match::Captures& captures) {
  const Token& head = *t++;
  constexpr Interval none{1, 0};
  if (head.kind == Token::Literal) return {head.value, head.value};
  if (head.is_capture()) {
    const UOp u(captures.nodes[head.id]);
    return is_integral(u.dtype()) ? interval_of(u) : none;
  }
  Interval operands[Pattern::capacity];
  bool known = true, truths = true;
  for (int i = 0; i < head.count; i++) {
    operands[i] = interval(t, captures);
    known = known && operands[i].lo <= operands[i].hi && is_small(operands[i]);
    truths = truths && operands[i].lo >= 0 && operands[i].hi <= 1;
  }
  if (!known) return none;
  return interval_of(head.op(), truths ? DType::Bool : DType::Index,
                     std::span(operands, head.count));
}

}  // namespace

bool Match::proves(const Pattern& condition) const {
  const Token* t = condition.tokens.data();
  if (t->kind == Token::Literal) return t->value != 0;
  const Interval value = interval(t, captures_);
  return value.lo > 0 && value.hi >= value.lo;
}

// ---- printing ---------------------------------------------------------------------------------

namespace {

// Division that is no floor has a sign of its own here, for a rule names no dtypes.
std::string_view sign_of(Op op) { return op == Op::Div ? "/." : infix(op); }

std::string suffix(const Token& t) {
  if (t.kind == Token::Int || t.types == any_type || t.is_literal()) return "";
  std::string names;
  for (int i = 0; i < num_dtypes; i++) {
    const DType type = static_cast<DType>(i);
    if (contains(t.types, type))
      fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : "|", name_of(type));
  }
  if (t.types == bools) names = "bool";
  if (t.types == ints) names = "ints";
  if (t.types == integrals) names = "integrals";
  if (t.types == floats) names = "floats";
  if (t.types == sized_ints) names = "sized_ints";
  if (t.types == (any_type & ~bools)) names = "not_bool";
  return ":" + names;
}

std::string print(const Token*& t) {
  const Token& head = *t++;
  if (head.kind == Token::Literal) return fmt::format("{}", head.value);
  if (head.kind == Token::Real) return fmt::format("{:.1f}", std::bit_cast<double>(head.value));
  const char letter = static_cast<char>('a' + head.id);
  if (head.kind == Token::Rest) return fmt::format("{}...", letter);
  if (!head.is_call()) return letter + suffix(head);

  std::string name =
      head.name == Token::no_name ? "" : fmt::format("{}@", static_cast<char>('a' + head.name));
  const std::string_view sign = head.kind == Token::Call ? sign_of(head.op()) : "";
  if (!sign.empty() && head.count == 2) {
    const std::string left = print(t);
    const std::string right = print(t);
    return fmt::format("{}({} {} {}){}", name, left, sign, right, suffix(head));
  }
  if (head.kind == Token::Call && (head.op() == Op::Not || head.op() == Op::Neg)) {
    return name + (head.op() == Op::Not ? "~" : "-") + print(t) + suffix(head);
  }
  name += head.kind == Token::Call ? std::string(info(head.op()).name) : std::string(1, letter);
  if (head.has_arg) name += fmt::format("[{}]", head.arg);
  name += "(";
  for (int i = 0; i < head.count; i++) name += (i ? ", " : "") + print(t);
  return name + ")" + suffix(head);
}

}  // namespace

std::string to_string(const Pattern& p) {
  const Token* t = p.tokens.data();
  return print(t);
}

std::string place_of(const Rule& rule) {
  const std::string_view file = rule.file;
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), rule.line);
}

std::string to_string(const Rule& rule) {
  std::string text = fmt::format("{}: {} -> {}", place_of(rule), to_string(rule.pattern),
                                 rule.rewrite ? "<function>" : to_string(rule.replacement));
  if (rule.condition.tokens[0].is_call()) text += " when " + to_string(rule.condition);
  return text;
}

}  // namespace croze
