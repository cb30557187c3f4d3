// rule_proof.cpp -- a question to Z3 for each reading of a rule.
//
// Bit-vectors make quotients hard.  A reading with divisions is done on integers where that is
// possible: if no part of either side can leave its type under the condition, then wrapping changes
// nothing, and the equation is one between integers.
#include "croze/prove/rule_proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/graph/analysis/interval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/prove/condition.h"
#include "croze/prove/meaning.h"
#include "croze/prove/reading.h"
#include "croze/prove/smt.h"

namespace croze {
namespace {

bool is_sized(DType t) { return is_integer(t) && t != DType::Index; }

bool mentions_invalid(const Rule& rule) {
  const auto has = [](const Pattern& p) {
    return std::any_of(p.tokens.begin(), p.tokens.begin() + p.size, [](const Token& t) {
      return t.kind == Token::Call && t.op() == Op::Invalid;
    });
  };
  return has(rule.pattern) || has(rule.replacement);
}

// Integers of mathematics have no bits: such a reading is done on words.
bool has_bits_of_index(const Reading& reading) {
  constexpr Op bitwise[] = {Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr, Op::Bitcast};
  return std::any_of(reading.parts.begin(), reading.parts.end(), [&](const RulePart& p) {
    return p.token->is_call() && p.dtype == DType::Index &&
           std::find(std::begin(bitwise), std::end(bitwise), p.op) != std::end(bitwise);
  });
}

std::string decimal(__int128 v) {
  const bool negative = v < 0;
  std::string digits;
  for (unsigned __int128 u = negative ? -static_cast<unsigned __int128>(v) : v; u || digits.empty();
       u /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(u % 10)));
  }
  return negative ? "(- " + digits + ")" : digits;
}

// ---- a lemma ----------------------------------------------------------------------------------

// (x % c) % d = x % d where d divides c is beyond Z3, but not with the remainders written out: by
// definition c = m*d, x = q*c + r, r = p*d + s with 0 <= s < d, and x = u*d + t with 0 <= t < d.
// Then s - t is the multiple v*d for v = u - q*m - p, and v is 0, or at least 1, or at most -1.
constexpr std::string_view nested_remainders_refuted = R"(
(declare-const d Int) (declare-const m Int) (declare-const x Int) (declare-const q Int)
(declare-const r Int) (declare-const p Int) (declare-const s Int) (declare-const u Int)
(declare-const t Int)
(assert (and (< 0 d) (< 0 m)))
(assert (= x (+ (* q m d) r)))
(assert (and (= r (+ (* p d) s)) (<= 0 s) (< s d)))
(assert (and (= x (+ (* u d) t)) (<= 0 t) (< t d)))
(assert (distinct s t))
(define-fun v () Int (- u (+ (* q m) p)))
(assert (or (= v 0) (>= v 1) (<= v (- 1))))
)";

// The lemma of the terms x, c and d.
std::string nested_remainders(const std::string& x, const std::string& c, const std::string& d) {
  return fmt::format(
      "(assert (=> (and (< 0 {1}) (< 0 {2}) (= 0 (fmod {1} {2})))"
      " (= (fmod (fmod {0} {1}) {2}) (fmod {0} {2}))))\n",
      x, c, d);
}

// ---- questions --------------------------------------------------------------------------------

// One reading, asked.
class Question {
 public:
  explicit Question(const Reading& reading, bool opaque_casts = false) : script_(graph_, false) {
    if (opaque_casts) script_.make_casts_opaque();
    OpaqueLeaves leaves;
    instance_ = instantiate(reading, graph_, leaves);
    rule_ = reading.rule;
  }

  // Each capture may have no value.
  void let_captures_be_undefined(Meanings& meanings) {
    for (std::size_t slot = 0; slot < 26; slot++) {
      const UOp u = instance_.names[slot];
      if (!u || !u.is(Op::Load) || u.src(0).src(0).slot() != static_cast<std::int64_t>(slot)) {
        continue;
      }
      const auto number = static_cast<std::int64_t>(200 + slot);
      const UOp defined =
          graph_.load(graph_.place(graph_.param(DType::Bool, number, 1), graph_.index(0)));
      meanings.set(u, {u, defined});
    }
  }

  // The negated theorem.
  std::string text() {
    Meanings meanings(graph_);
    if (mentions_invalid(*rule_)) let_captures_be_undefined(meanings);
    script_.assert_true(difference(meanings, instance_.left, instance_.right));
    const std::string facts = assumed() + lemmas();
    return script_.text() + facts;
  }

  // The negated theorem that nothing leaves `t` and both sides are equal, on Index for `t`.
  std::string text_on_integers(DType t) {
    std::string escapes;
    const Interval all = whole(t);
    const auto inside = [&](UOp u) {
      return fmt::format("(<= {} {} {})", decimal(all.lo), script_.name(u), decimal(all.hi));
    };
    std::string leaves, different;
    Meanings meanings(graph_);
    const std::string differ = script_.name(difference(meanings, instance_.left, instance_.right));
    std::vector<UOp> pending{instance_.left, instance_.right};
    while (!pending.empty()) {
      const UOp u = pending.back();
      pending.pop_back();
      const bool is_leaf = u.is(Op::Load);
      if (u.dtype() == DType::Index && is_leaf) leaves += fmt::format("(assert {})\n", inside(u));
      if (u.dtype() == DType::Index && !is_leaf) escapes += fmt::format(" (not {})", inside(u));
      if (is_leaf) continue;
      for (UOp s : u.sources()) pending.push_back(s);
    }
    const std::string goal = fmt::format("(assert (or {}{}))\n", differ, escapes);
    const std::string facts = leaves + assumed() + lemmas();
    return script_.text() + facts + goal;
  }

  bool uses_lemma() const { return uses_lemma_; }

  // The cases of a constant, a bit-vector: each value below `limit`, and the others together.
  std::vector<std::string> cases_of(std::uint8_t slot, std::int64_t limit) {
    const std::string name = script_.name(instance_.names[slot]);
    const std::int64_t width = 8 * size_of(instance_.names[slot].dtype());
    std::vector<std::string> cases;
    for (std::int64_t v = 0; v < limit; v++) {
      cases.push_back(fmt::format("(assert (= {} (_ bv{} {})))\n", name, v, width));
    }
    cases.push_back(fmt::format("(assert (bvuge {} (_ bv{} {})))\n", name, limit, width));
    return cases;
  }

  // The values that Z3 found, by letter.
  std::string asked() const {
    std::string names;
    for (UOp u : instance_.names) {
      if (u && u.is(Op::Load) && is_declared(u)) names += fmt::format(" n{}", u.id());
    }
    return names.empty() ? script_.leaf_names() : names;
  }
  std::string with_letters(std::string witness) const {
    for (std::size_t slot = 0; slot < 26; slot++) {
      const UOp u = instance_.names[slot];
      if (!u || !is_declared(u)) continue;
      const std::string name = fmt::format("(n{} ", u.id());
      if (const auto at = witness.find(name); at != std::string::npos) {
        witness.replace(at, name.size(), fmt::format("({} ", static_cast<char>('a' + slot)));
      }
    }
    return witness;
  }

 private:
  bool is_declared(UOp u) const {
    const auto& leaves = script_.leaves();
    return std::find(leaves.begin(), leaves.end(), u) != leaves.end();
  }

  std::string assumed() {
    std::array<std::string, 26> text_of;
    for (std::size_t slot = 0; slot < 26; slot++) {
      const UOp u = instance_.names[slot];
      if (u && is_integral(u.dtype()) && u.op() != Op::Param) text_of[slot] = script_.name(u);
    }
    return fmt::format("(assert {})\n", condition_text(*rule_, instance_.names, text_of));
  }

  // The lemma for each remainder of a remainder.
  std::string lemmas() {
    std::string text;
    for (UOp u : toposort(instance_.left)) {
      if (u.dtype() != DType::Index || !u.is(Op::Mod) || !u.src(0).is(Op::Mod)) continue;
      const UOp inner = u.src(0);
      text += nested_remainders(script_.name(inner.src(0)), script_.name(inner.src(1)),
                                script_.name(u.src(1)));
      uses_lemma_ = true;
    }
    return text;
  }

  Graph graph_;
  SmtScript script_;
  Instance instance_;
  const Rule* rule_;
  bool uses_lemma_ = false;
};

// The one sized type of a reading; Void if there are none or several.
DType only_sized_type(const Reading& reading) {
  DType found = DType::Void;
  for (const RulePart& p : reading.parts) {
    if (p.dtype == DType::Bool || p.dtype == found) continue;
    if (!is_sized(p.dtype) || found != DType::Void) return DType::Void;
    found = p.dtype;
  }
  return found;
}

// Whether the numbers written in the rule are the same in the type and among the integers.
bool literals_fit(const Reading& reading, DType t) {
  return std::all_of(reading.parts.begin(), reading.parts.end(), [&](const RulePart& p) {
    const Interval all = whole(t);
    return p.token->kind != Token::Literal || p.dtype != t || all.contains(p.token->value);
  });
}

// Whether a divisor is anything but a number written in the rule.
bool divides(const Reading& reading) {
  return std::any_of(reading.parts.begin(), reading.parts.end(), [&](const RulePart& p) {
    if (!p.token->is_call() || (p.op != Op::IDiv && p.op != Op::Mod)) return false;
    return !reading.parts[static_cast<std::size_t>(p.operands[1])].token->is_literal();
  });
}

// A capture by which sized integers of more than 8 bits are shifted; no_name if there is none.
std::uint8_t shift_amount(const Reading& reading) {
  for (const RulePart& p : reading.parts) {
    if (!p.token->is_call() || (p.op != Op::Shl && p.op != Op::Shr)) continue;
    const RulePart& amount = reading.parts[static_cast<std::size_t>(p.operands[1])];
    if (amount.token->is_capture() && is_sized(p.dtype) && size_of(p.dtype) > 1) {
      return amount.token->id;
    }
  }
  return Token::no_name;
}

bool casts(const Reading& reading) {
  return std::any_of(reading.parts.begin(), reading.parts.end(),
                     [](const RulePart& p) { return p.token->is_call() && p.op == Op::Cast; });
}

class Prover {
 public:
  Prover(Solver& solver, RuleProof* proof) : solver_(solver), proof_(proof) {}

  void prove(const Reading& reading) {
    proof_->readings++;
    if (casts(reading) && holds_for_all_casts(reading)) return count(Method::Direct);
    if (divides(reading) && holds_on_integers(reading)) return count(Method::Integers);
    const bool words = has_bits_of_index(reading);
    const Reading asked = words ? reading.with(DType::Index, DType::Int64) : reading;
    Question question(asked);
    const std::string text = question.text();
    if (question.uses_lemma()) check_lemma();
    const std::uint8_t amount = shift_amount(asked);
    if (amount == Token::no_name) {
      return answer(reading, question, {text}, words ? Method::Words : Method::Direct);
    }
    const DType t = asked.parts[static_cast<std::size_t>(asked.place_of(amount))].dtype;
    std::vector<std::string> cases = question.cases_of(amount, 8 * size_of(t));
    for (std::string& c : cases) c = text + c;
    answer(reading, question, cases, Method::Cases);
  }

 private:
  void answer(const Reading& reading, const Question& question,
              const std::vector<std::string>& texts, Method method) {
    for (const std::string& text : texts) {
      std::string witness;
      const Answer found = solver_.check(text, question.asked(), &witness);
      if (found == Answer::Unsat) continue;
      if (found == Answer::Unknown) {
        return refuse(Verdict::Unknown, reading, "the solver gives up");
      }
      return refuse(Verdict::Failed, reading, question.with_letters(witness));
    }
    count(method);
  }

  // Whether the reading, of one sized type, is a theorem on integers that never leaves the type.
  bool holds_on_integers(const Reading& reading) {
    const DType t = only_sized_type(reading);
    if (t == DType::Void || !literals_fit(reading, t)) return false;
    const Reading on_integers = reading.with(t, DType::Index);
    if (has_bits_of_index(on_integers)) return false;
    Question question(on_integers);
    const std::string text = question.text_on_integers(t);
    if (question.uses_lemma()) check_lemma();
    return solver_.check(text) == Answer::Unsat;
  }

  bool holds_for_all_casts(const Reading& reading) {
    Question question(reading, true);
    return solver_.check(question.text()) == Answer::Unsat;
  }

  void check_lemma() {
    ensure(solver_.check(nested_remainders_refuted) == Answer::Unsat, "the lemma is not proven");
  }

  void count(Method method) { proof_->by[static_cast<std::size_t>(method)]++; }

  void refuse(Verdict verdict, const Reading& reading, const std::string& why) {
    proof_->verdict = verdict;
    proof_->detail = fmt::format("{} of {}: {}", to_string(*reading.rule), reading.text(), why);
  }

  Solver& solver_;
  RuleProof* proof_;
};

}  // namespace

std::string_view name_of(Method method) {
  constexpr std::string_view names[num_methods] = {"direct", "words", "integers", "cases"};
  return names[static_cast<std::size_t>(method)];
}

RuleProof prove_rule(const Rule& rule, Numbers numbers, Solver& solver) {
  RuleProof proof{&rule};
  Prover prover(solver, &proof);
  for (const Reading& reading : readings_of(rule, numbers, integrals)) {
    prover.prove(reading);
    if (proof.verdict == Verdict::Failed) break;
  }
  return proof;
}

}  // namespace croze
