// real_proof.cpp -- rules as terms of Z3's theory of real numbers.
#include "croze/prove/real_proof.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/prove/reading.h"

namespace croze {
namespace {

class RealWriter {
 public:
  explicit RealWriter(const Reading& reading) : reading_(reading) {
    left_ = write(reading.pattern);
    nonzero_ = std::move(divisors_);
    right_ = write(reading.replacement);
  }

  std::string question() const {
    return fmt::format("{}{}(assert (distinct {} {}))\n", declared_, nonzero_, left_, right_);
  }
  const std::string& names() const { return names_; }

 private:
  std::string write(int place) {
    const RulePart& p = reading_.parts[static_cast<std::size_t>(place)];
    const Token& t = *p.token;
    if (t.is_literal()) {
      ensure(t.kind == Token::Literal, "fast maths: {} has no whole number",
             to_string(*reading_.rule));
      if (p.dtype == DType::Bool) return t.value ? "true" : "false";
      return t.value < 0 ? fmt::format("(- {}.0)", -t.value) : fmt::format("{}.0", t.value);
    }
    if (t.is_capture()) return capture(t, p.dtype);
    std::string operands;
    for (int o : p.operands) operands += " " + write(o);
    if (p.op == Op::Div) {
      const std::string divisor = write(p.operands[1]);
      divisors_ += fmt::format("(assert (distinct {} 0.0))\n", divisor);
    }
    return fmt::format("({}{})", word(p.op), operands);
  }

  std::string capture(const Token& t, DType dtype) {
    const std::string name(1, static_cast<char>('a' + t.id));
    if (!(declared_slots_ >> t.id & 1)) {
      declared_slots_ |= 1u << t.id;
      declared_ +=
          fmt::format("(declare-const {} {})\n", name, dtype == DType::Bool ? "Bool" : "Real");
      names_ += (names_.empty() ? "" : " ") + name;
    }
    return name;
  }

  static std::string_view word(Op op) {
    switch (op) {
      case Op::Neg: return "-";
      case Op::Add: return "+";
      case Op::Mul: return "*";
      case Op::Div: return "/";
      case Op::Lt: return "<";
      case Op::Le: return "<=";
      case Op::Eq: return "=";
      case Op::Ne: return "distinct";
      case Op::Where: return "ite";
      default: break;
    }
    fail_internal({}, "fast maths: no word for {}", info(op).name);
  }

  const Reading& reading_;
  std::string left_, right_, declared_, names_, divisors_, nonzero_;
  std::uint32_t declared_slots_ = 0;
};

}  // namespace

RuleProof prove_on_reals(const Rule& rule, Solver& solver) {
  RuleProof proof{&rule};
  const Types any_float = types_of({DType::Float64, DType::Bool});
  for (const Reading& reading : readings_of(rule, Numbers::Real, any_float)) {
    proof.readings++;
    const RealWriter writer(reading);
    std::string witness;
    const Answer answer = solver.check(writer.question(), writer.names(), &witness);
    if (answer == Answer::Unsat) {
      proof.by[static_cast<std::size_t>(Method::Direct)]++;
      continue;
    }
    proof.verdict = answer == Answer::Sat ? Verdict::Failed : Verdict::Unknown;
    proof.detail = fmt::format("{}: {}", to_string(rule), witness);
  }
  return proof;
}

}  // namespace croze
