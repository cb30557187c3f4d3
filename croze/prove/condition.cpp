// condition.cpp -- conditions are about integers of mathematics.
//
// Over Index they are integers of the solver.  Over sized integers each operation is done on
// bit-vectors, signed and as wide as its exact result can be.
#include "croze/prove/condition.h"

#include <fmt/format.h>

#include <bit>

#include "croze/base/error.h"

namespace croze {
namespace {

constexpr int truth = 0, whole_numbers = -1;

// A term and its sort: `truth`, `whole_numbers`, or the bits of a signed bit-vector.
struct Typed {
  std::string text;
  int sort;
};

std::string widened(const Typed& t, int bits) {
  if (t.sort <= 0 || t.sort == bits) return t.text;
  return fmt::format("((_ sign_extend {}) {})", bits - t.sort, t.text);
}

class ConditionWriter {
 public:
  ConditionWriter(const std::array<UOp, 26>& names, const std::array<std::string, 26>& text_of)
      : names_(names), text_of_(text_of) {
    for (UOp u : names) {
      if (u && u.dtype() == DType::Index) on_integers_ = true;
    }
  }

  Typed write(const Token*& t) {
    const Token& head = *t++;
    if (head.kind == Token::Literal) return literal(head.value);
    if (head.is_capture()) return capture(head.id);
    const Typed p = write(t);
    const Typed q = head.count > 1 ? write(t) : p;
    if (head.op() == Op::Not) return {fmt::format("(not {})", p.text), truth};
    return on_integers_ ? integers(head.op(), p, q) : vectors(head.op(), p, q);
  }

 private:
  Typed literal(std::int64_t value) const {
    const auto bits = static_cast<std::uint64_t>(value);
    if (on_integers_) {
      return {value < 0 ? fmt::format("(- {})", std::uint64_t{0} - bits) : std::to_string(value),
              whole_numbers};
    }
    const int width = static_cast<int>(std::bit_width(value < 0 ? ~bits : bits)) + 1;
    const std::uint64_t mask = width < 64 ? (std::uint64_t{1} << width) - 1 : ~std::uint64_t{0};
    return {fmt::format("(_ bv{} {})", bits & mask, width), width};
  }

  Typed capture(std::uint8_t slot) const {
    const DType t = names_[slot].dtype();
    const std::string& name = text_of_[slot];
    if (t == DType::Bool && on_integers_) return {fmt::format("(ite {} 1 0)", name), whole_numbers};
    if (t == DType::Bool) return {fmt::format("(ite {} (_ bv1 2) (_ bv0 2))", name), 2};
    if (t == DType::Index) return {name, whole_numbers};
    const int width = static_cast<int>(8 * size_of(t));
    if (is_unsigned(t)) return {fmt::format("((_ zero_extend 1) {})", name), width + 1};
    return {name, width};
  }

  static Typed integers(Op op, const Typed& p, const Typed& q) {
    const bool of_truths = p.sort == truth;
    const auto call = [&](const char* f, int sort) {
      return Typed{fmt::format("({} {} {})", f, p.text, q.text), sort};
    };
    switch (op) {
      case Op::Lt: return call("<", truth);
      case Op::Le: return call("<=", truth);
      case Op::Eq: return call("=", truth);
      case Op::Ne: return call("distinct", truth);
      case Op::And: return of_truths ? call("and", truth) : call("iand", whole_numbers);
      case Op::Or: return of_truths ? call("or", truth) : call("ior", whole_numbers);
      case Op::Add: return call("+", whole_numbers);
      case Op::Mul: return call("*", whole_numbers);
      case Op::Mod: return call("fmod", whole_numbers);
      default: break;
    }
    fail_internal({}, "a condition uses {}", info(op).name);
  }

  static Typed vectors(Op op, const Typed& p, const Typed& q) {
    const int wider = std::max(p.sort, q.sort);
    const auto call = [&](const char* f, int bits, bool compares = false) {
      return Typed{fmt::format("({} {} {})", f, widened(p, bits), widened(q, bits)),
                   compares ? truth : bits};
    };
    switch (op) {
      case Op::Lt: return call("bvslt", wider, true);
      case Op::Le: return call("bvsle", wider, true);
      case Op::Eq: return call("=", wider, true);
      case Op::Ne: return call("distinct", wider, true);
      case Op::And: return call(p.sort == truth ? "and" : "bvand", wider);
      case Op::Or: return call(p.sort == truth ? "or" : "bvor", wider);
      case Op::Add: return call("bvadd", wider + 1);
      case Op::Mul: return call("bvmul", p.sort + q.sort);
      case Op::Mod: return call("bvsmod", wider);
      default: break;
    }
    fail_internal({}, "a condition uses {}", info(op).name);
  }

  const std::array<UOp, 26>& names_;
  const std::array<std::string, 26>& text_of_;
  bool on_integers_ = false;
};

}  // namespace

std::string condition_text(const Rule& rule, const std::array<UOp, 26>& names,
                           const std::array<std::string, 26>& text_of) {
  const Token* t = rule.condition.tokens.data();
  if (t->kind == Token::Literal) return t->value ? "true" : "false";
  return ConditionWriter(names, text_of).write(t).text;
}

}  // namespace croze
