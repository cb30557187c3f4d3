// transport_proof.cpp -- laws of transport as terms of Z3's theory of real numbers.
#include "croze/prove/transport_proof.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/rewrite/captures.h"

namespace croze {
namespace {

using namespace captures;

// What the letters of a pattern stand for, as terms.
using Letters = std::map<int, std::string>;

class Writer {
 public:
  std::string write(const Pattern& p, const Letters& letters) {
    const Token* t = p.tokens.data();
    return write(t, letters);
  }

  // exp(p) exp(q) = exp(p + q), for the exponents that were written.
  std::string facts() const {
    std::string text;
    for (std::size_t i = 0; i < exponents_.size(); i++) {
      for (std::size_t j = i; j < exponents_.size(); j++) {
        text += fmt::format("(assert (= (* (exp {0}) (exp {1})) (exp (+ {0} {1}))))\n",
                            exponents_[i], exponents_[j]);
      }
    }
    return text;
  }

 private:
  std::string write(const Token*& t, const Letters& letters) {
    const Token& head = *t++;
    if (head.is_literal()) return fmt::format("{}.0", head.value);
    if (head.is_capture()) return letters.at(head.id);
    std::vector<std::string> operands;
    for (int i = 0; i < head.count; i++) operands.push_back(write(t, letters));
    if (head.op() == Op::Min) {
      return fmt::format("(ite (<= {0} {1}) {0} {1})", operands[0], operands[1]);
    }
    if (head.op() == Op::Exp) exponents_.push_back(operands[0]);
    std::string text = fmt::format("({}", word(head.op()));
    for (const std::string& o : operands) text += " " + o;
    return text + ")";
  }

  static std::string_view word(Op op) {
    switch (op) {
      case Op::Neg: return "-";
      case Op::Add: return "+";
      case Op::Mul: return "*";
      case Op::Exp: return "exp";
      case Op::Eq: return "=";
      case Op::Ne: return "distinct";
      case Op::Or: return "or";
      case Op::Where: return "ite";
      default: break;
    }
    fail_internal({}, "transport: no word for {}", info(op).name);
  }

  std::vector<std::string> exponents_;
};

constexpr std::string_view declarations =
    "(declare-fun exp (Real) Real)\n"
    "(declare-const x Real) (declare-const p Real)\n"
    "(declare-const y Real) (declare-const z Real)\n"
    "(declare-const v Real) (declare-const w Real)\n"
    "(declare-const m Real) (declare-const n Real) (declare-const f Real) (declare-const k Real)\n";

// How an op combines, and what is known of its identity k.
struct Combination {
  std::string_view name;
  std::string_view combined;  // of {0} and {1}
  std::string_view identity;
};
constexpr Combination sums{"sum", "(+ {0} {1})", "(assert (= k 0.0))\n"};
constexpr Combination least{"least", "(ite (<= {0} {1}) {0} {1})", ""};
constexpr Combination greatest{"greatest", "(ite (<= {0} {1}) {1} {0})", ""};

class Prover {
 public:
  Prover(const Transport& law, Solver& solver) : solver_(solver) { proof_.law = &law; }

  TransportProof run() {
    prove_term();
    prove_rest();
    const bool of_equality = law().centre == Centre::Extreme;
    for (const Combination* c : {&sums, &least, &greatest}) {
      if (c == &sums || of_equality) prove_sum(*c);
    }
    if (law().centre == Centre::FiniteGreatest) prove_factor();
    return proof_;
  }

 private:
  const Transport& law() const { return *proof_.law; }

  // The letters x, y, z, w, n and k as themselves, but for these.
  static Letters letters(const Letters& others = {}) {
    Letters all = others;
    for (const char c : {'x', 'y', 'z', 'w', 'n', 'k'}) {
      all.try_emplace(slot_of(c), std::string(1, c));
    }
    return all;
  }

  // The centre is the greatest or the least of the terms so far, and then of more of them.
  std::string order() const {
    switch (law().centre) {
      case Centre::FiniteGreatest: return "(assert (and (<= x y) (<= y z)))\n";
      case Centre::Extreme:
        return "(assert (or (and (<= x y) (<= y z)) (and (>= x y) (>= y z))))\n";
      case Centre::Mean: return {};
    }
    return {};
  }

  void prove(std::string_view name, std::string_view assumed, const std::string& left,
             const std::string& right) {
    proof_.theorems++;
    const std::string question = fmt::format("{}{}{}(assert (distinct {} {}))\n", declarations,
                                             writer_.facts(), assumed, left, right);
    std::string witness;
    const Answer answer = solver_.check(question, "x y z v w m n f k", &witness);
    proof_.proven += answer == Answer::Unsat;
    if (answer != Answer::Unsat && proof_.detail.empty()) {
      proof_.detail = fmt::format("{} of {}: {}", name, law().name,
                                  answer == Answer::Sat ? witness : "not decided");
    }
    writer_ = {};
  }

  void prove_term() {
    const std::string before = writer_.write(law().term, letters({{w.slot(), "v"}}));
    const std::string after =
        writer_.write(law().term, letters({{y.slot(), "z"}, {w.slot(), "v"}}));
    const std::string moved =
        writer_.write(law().moved, letters({{w.slot(), before}, {n.slot(), "1.0"}}));
    const std::string rest = writer_.write(law().rest, letters());
    prove("term", order(), after, fmt::format("(+ {} {})", moved, rest));
  }

  // The rest is linear in x - y.
  void prove_rest() {
    const std::string one = writer_.write(law().rest, letters());
    const std::string other = writer_.write(law().rest, letters({{x.slot(), "p"}}));
    const std::string both = writer_.write(law().rest, letters({{x.slot(), "(- (+ x p) y)"}}));
    prove("rest", {}, both, fmt::format("(+ {} {})", one, other));
    prove("rest", {}, writer_.write(law().rest, letters({{x.slot(), "y"}})), "0.0");
  }

  void prove_sum(const Combination& c) {
    const auto combine = [&](const std::string& left, const std::string& right) {
      return fmt::format(fmt::runtime(c.combined), left, right);
    };
    const std::string one = writer_.write(law().moved, letters());
    const std::string other =
        writer_.write(law().moved, letters({{w.slot(), "v"}, {n.slot(), "m"}}));
    const std::string both =
        writer_.write(law().moved, letters({{w.slot(), combine("w", "v")}, {n.slot(), "(+ n m)"}}));
    prove(c.name, c.identity, both, combine(one, other));
  }

  void prove_factor() {
    const std::string one = writer_.write(law().moved, letters());
    const std::string scaled = writer_.write(law().moved, letters({{w.slot(), "(* f w)"}}));
    prove("factor", {}, scaled, fmt::format("(* f {})", one));
  }

  Solver& solver_;
  Writer writer_;
  TransportProof proof_;
};

}  // namespace

TransportProof prove_transport(const Transport& law, Solver& solver) {
  return Prover(law, solver).run();
}

}  // namespace croze
