// smt.cpp -- the meaning of each op, in SMT-LIB.
//
// `div` of SMT-LIB rounds down for positive divisors and up for negative ones; floor division by a
// positive constant, the common case, is written with it alone, because the solver knows most about
// that form.  Bit-vector operations carry their width in their name: "fdiv32".
#include "croze/prove/smt.h"

#include <fmt/format.h>

#include "croze/base/error.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

bool is_index(UOp u) { return u.dtype() == DType::Index; }
bool is_bool(UOp u) { return u.dtype() == DType::Bool; }
int width_of(DType t) { return static_cast<int>(8 * size_of(t)); }

std::string own_name(UOp u) { return fmt::format("n{}", u.id()); }

std::string sort_of(DType t) {
  if (t == DType::Bool) return "Bool";
  if (t == DType::Index) return "Int";
  return fmt::format("(_ BitVec {})", width_of(t));
}

std::string number(DType t, std::int64_t value) {
  if (t == DType::Bool) return value ? "true" : "false";
  std::uint64_t bits = static_cast<std::uint64_t>(value);
  if (t == DType::Index) {
    return value < 0 ? fmt::format("(- {})", std::uint64_t{0} - bits) : fmt::format("{}", value);
  }
  const int width = width_of(t);
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  return fmt::format("(_ bv{} {})", bits, width);
}

std::string call(std::string_view function, UOp u) {
  std::string text = fmt::format("({}", function);
  for (UOp s : u.sources()) text += " " + own_name(s);
  return text + ")";
}

bool divides_down(UOp u) { return u.src(1).is_const() && u.src(1).const_int() > 0; }

// A shift of a mathematical integer is a product or a quotient, if the amount is known.
std::string shifted_index(UOp u) {
  const UOp by = u.src(1);
  if (!by.is_const() || by.const_int() < 0 || by.const_int() > 63) return {};
  const std::uint64_t power = std::uint64_t{1} << by.const_int();
  return fmt::format("({} {} {})", u.is(Op::Shl) ? "*" : "div", own_name(u.src(0)), power);
}

// Each of the following gives the term of a node, or nothing where the solver has no word for it.

std::string index_term(UOp u) {
  switch (u.op()) {
    case Op::Neg: return call("-", u);
    case Op::Not: return fmt::format("(- (- 1) {})", own_name(u.src(0)));
    case Op::Add: return call("+", u);
    case Op::Mul: return call("*", u);
    case Op::IDiv: return call(divides_down(u) ? "div" : "fdiv", u);
    case Op::Mod: return call(divides_down(u) ? "mod" : "fmod", u);
    case Op::CDiv: return call("cdiv", u);
    case Op::CMod: return call("cmod", u);
    case Op::Max: return call("imax", u);
    case Op::Min: return call("imin", u);
    case Op::And: return call("iand", u);
    case Op::Or: return call("ior", u);
    case Op::Xor: return call("ixor", u);
    case Op::Shl:
    case Op::Shr: return shifted_index(u);
    default: return {};
  }
}

// Of truth values: arithmetic on 0 and 1 whose result is whether it is not 0.
std::string bool_term(UOp u) {
  switch (u.op()) {
    case Op::Not: return call("not", u);
    case Op::Neg:
    case Op::Trunc:
    case Op::Shl: return own_name(u.src(0));
    case Op::Add:
    case Op::Or:
    case Op::Max: return call("or", u);
    case Op::Mul:
    case Op::And:
    case Op::Min:
    case Op::IDiv:
    case Op::CDiv: return call("and", u);
    case Op::Xor: return call("xor", u);
    case Op::Mod:
    case Op::CMod:
    case Op::Shr: return call("andnot", u);
    default: return {};
  }
}

std::string bits_term(UOp u) {
  const bool plain = is_unsigned(u.dtype());
  const int width = width_of(u.dtype());
  auto sized = [&](std::string_view function) {
    return call(fmt::format("{}{}", function, width), u);
  };
  switch (u.op()) {
    case Op::Neg: return call("bvneg", u);
    case Op::Not: return call("bvnot", u);
    case Op::Add: return call("bvadd", u);
    case Op::Mul: return call("bvmul", u);
    case Op::IDiv: return sized(plain ? "udiv" : "fdiv");
    case Op::CDiv: return sized(plain ? "udiv" : "cdiv");
    case Op::Mod: return call(plain ? "bvurem" : "bvsmod", u);
    case Op::CMod: return call(plain ? "bvurem" : "bvsrem", u);
    case Op::Max: return sized(plain ? "umax" : "smax");
    case Op::Min: return sized(plain ? "umin" : "smin");
    case Op::And: return call("bvand", u);
    case Op::Or: return call("bvor", u);
    case Op::Xor: return call("bvxor", u);
    case Op::Shl: return call("bvshl", u);
    case Op::Shr: return call(plain ? "bvlshr" : "bvashr", u);
    default: return {};
  }
}

std::string comparison_term(UOp u) {
  const UOp x = u.src(0);
  if (!is_integral(x.dtype())) return {};
  if (u.is(Op::Eq)) return call("=", u);
  if (u.is(Op::Ne)) return call("distinct", u);
  const bool strict = u.is(Op::Lt);
  if (is_index(x)) return call(strict ? "<" : "<=", u);
  if (is_bool(x)) return call(strict ? "notand" : "=>", u);
  if (is_unsigned(x.dtype())) return call(strict ? "bvult" : "bvule", u);
  return call(strict ? "bvslt" : "bvsle", u);
}

std::string cast_term(UOp u) {
  const UOp x = u.src(0);
  const DType from = x.dtype(), to = u.dtype();
  const std::string value = own_name(x);
  if (!is_integral(from)) return {};
  if (from == to) return value;
  if (from == DType::Bool) {
    return fmt::format("(ite {} {} {})", value, number(to, 1), number(to, 0));
  }
  if (to == DType::Bool) return fmt::format("(distinct {} {})", value, number(from, 0));
  if (from == DType::Index) return fmt::format("((_ int2bv {}) {})", width_of(to), value);
  if (to == DType::Index) {  // 64 bits are taken as signed, as an Index is
    const bool plain = is_unsigned(from) && from != DType::UInt64;
    return fmt::format("({}{} {})", plain ? "uint" : "sint", width_of(from), value);
  }
  const int narrow = width_of(from), wide = width_of(to);
  if (wide <= narrow) return fmt::format("((_ extract {} 0) {})", wide - 1, value);
  return fmt::format("((_ {}_extend {}) {})", is_unsigned(from) ? "zero" : "sign", wide - narrow,
                     value);
}

// The byte of a Bool is 0 or 1, and a byte that is not 0 is true.
std::string bitcast_term(UOp u) {
  const DType from = u.src(0).dtype();
  if (!is_integral(from) || from == DType::Index) return {};
  return from == DType::Bool || is_bool(u) ? cast_term(u) : own_name(u.src(0));
}

// The value of `u` in terms of its sources' names; nothing for a leaf.
std::string known_term(UOp u) {
  if (u.is_const()) return number(u.dtype(), u.const_int());
  if (!is_elementwise(u.op())) return {};
  if (is_comparison(u.op())) return comparison_term(u);
  switch (u.op()) {
    case Op::Where: return call("ite", u);
    case Op::Cast: return cast_term(u);
    case Op::Bitcast: return bitcast_term(u);
    case Op::Trunc: return own_name(u.src(0));
    default: break;
  }
  if (u.is(Op::MulAdd)) {
    const bool index = is_index(u);
    return is_bool(u)
               ? std::string()
               : fmt::format("({} ({} {} {}) {})", index ? "+" : "bvadd", index ? "*" : "bvmul",
                             own_name(u.src(0)), own_name(u.src(1)), own_name(u.src(2)));
  }
  if (is_index(u)) return index_term(u);
  return is_bool(u) ? bool_term(u) : bits_term(u);
}

// What the solver is to know of a leaf: lo <= u <= hi, and what it divides by.
std::string bounds_term(UOp u) {
  const DType t = u.dtype();
  const Bounds& b = u.bounds();
  const std::string name = own_name(u);
  if (t == DType::Bool) return b.is_point() ? fmt::format("(= {} {})", name, b.lo != 0) : "true";
  std::string_view less_equal = "<=";
  if (t != DType::Index) less_equal = is_unsigned(t) ? "bvule" : "bvsle";
  const bool open = t == DType::UInt64 && b.hi == INT64_MAX;
  std::string text = fmt::format("(and ({} {} {})", less_equal, number(t, b.lo), name);
  if (!open) text += fmt::format(" ({} {} {})", less_equal, name, number(t, b.hi));
  if (t == DType::Index && b.multiple > 1)
    text += fmt::format(" (= 0 (mod {} {}))", name, b.multiple);
  return text + ")";
}

bool is_counter(UOp u) { return u.is(Op::Range) || u.is(Op::Special) || u.is(Op::Variable); }

std::string make_prelude() {
  std::string text = R"(
(define-fun fdiv ((a Int) (b Int)) Int (ite (= b 0) 0 (ite (> b 0) (div a b) (div (- a) (- b)))))
(define-fun fmod ((a Int) (b Int)) Int (- a (* (fdiv a b) b)))
(define-fun cdiv ((a Int) (b Int)) Int
  (ite (= b 0) 0 (ite (= (>= a 0) (> b 0)) (div (abs a) (abs b)) (- (div (abs a) (abs b))))))
(define-fun cmod ((a Int) (b Int)) Int (- a (* (cdiv a b) b)))
(define-fun imax ((a Int) (b Int)) Int (ite (< a b) b a))
(define-fun imin ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun andnot ((a Bool) (b Bool)) Bool (and a (not b)))
(define-fun notand ((a Bool) (b Bool)) Bool (and (not a) b))
)";
  for (int w : {8, 16, 32, 64}) {
    text +=
        fmt::format(R"(
(define-fun udiv{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0})
  (ite (= b (_ bv0 {0})) (_ bv0 {0}) (bvudiv a b)))
(define-fun cdiv{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0})
  (ite (= b (_ bv0 {0})) (_ bv0 {0}) (bvsdiv a b)))
(define-fun fdiv{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0})
  (ite (= (bvsmod a b) (bvsrem a b)) (cdiv{0} a b) (bvsub (bvsdiv a b) (_ bv1 {0}))))
(define-fun umax{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0}) (ite (bvult a b) b a))
(define-fun umin{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0}) (ite (bvult a b) a b))
(define-fun smax{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0}) (ite (bvslt a b) b a))
(define-fun smin{0} ((a (_ BitVec {0})) (b (_ BitVec {0}))) (_ BitVec {0}) (ite (bvslt a b) a b))
(define-fun uint{0} ((a (_ BitVec {0}))) Int (bv2int a))
(define-fun sint{0} ((a (_ BitVec {0}))) Int
  (ite (bvslt a (_ bv0 {0})) (- (bv2int a) {1}) (bv2int a)))
)",
                    w, w == 64 ? "18446744073709551616" : std::to_string(std::uint64_t{1} << w));
  }
  // Bits of an Index, as if it had 64: no Index is larger.
  for (std::string_view op : {"and", "or", "xor"}) {
    text += fmt::format(
        "(define-fun i{0} ((a Int) (b Int)) Int"
        " (sint64 (bv{0} ((_ int2bv 64) a) ((_ int2bv 64) b))))\n",
        op);
  }
  return text;
}

}  // namespace

std::string_view smt_prelude() {
  static const std::string& prelude = *new std::string(make_prelude());
  return prelude;
}

std::string SmtScript::name(UOp u) {
  ensure(is_integral(u.dtype()), "prove: {} is no integer", name_of(u.dtype()));
  std::vector<std::pair<UOp, bool>> pending{{u, false}};  // true: its sources are defined
  while (!pending.empty()) {
    const auto [node, ready] = pending.back();
    pending.pop_back();
    if (known_.get(node)) continue;
    const UOp chosen = chosen_of(node);
    if (ready || (!chosen && !node.is_open() && term_of(node).empty())) {
      known_.set(node, true);
      define(node);
      continue;
    }
    pending.emplace_back(node, true);
    if (chosen) {
      pending.emplace_back(chosen, false);
      continue;
    }
    for (UOp s : node.sources()) pending.emplace_back(s, false);
  }
  return own_name(u);
}

// The result of a maximum or minimum is its operand for some values of the closed ranges, which are
// variables of this reduction alone.  Null for anything else.
UOp SmtScript::chosen_of(UOp u) {
  if (!u.is(Op::Reduce) || !is_integral(u.dtype()) || u.num_src() < 2) return {};
  if (u.reduce_op() != Op::Max && u.reduce_op() != Op::Min) return {};
  if (const UOp known = chosen_.get(u)) return known;
  std::vector<std::pair<UOp, UOp>> values;
  for (int i = 1; i < u.num_src(); i++) {
    const UOp r = u.src(i);
    if (!r.is(Op::Range) || r.range_size() < 1 || r.is_open()) return {};  // there may be none
    const std::int64_t slot = -2 - (std::int64_t{u.id()} * RangeSet::capacity + r.range_id());
    values.emplace_back(r, u.graph().variable(slot, 0, r.range_size() - 1));
  }
  const UOp chosen = substitute(u.src(0), values);
  chosen_.set(u, chosen);
  return chosen;
}

// The op as a function of which nothing is known but that it is one.
std::string SmtScript::unknown_function(UOp u) {
  std::string name = fmt::format("unknown_{}", info(u.op()).name), sorts;
  for (UOp s : u.sources()) {
    name += fmt::format("_{}", name_of(s.dtype()));
    sorts += (sorts.empty() ? "" : " ") + sort_of(s.dtype());
  }
  name += fmt::format("_{}", name_of(u.dtype()));
  if (text_.find(fmt::format("(declare-fun {} ", name)) == std::string::npos) {
    text_ += fmt::format("(declare-fun {} ({}) {})\n", name, sorts, sort_of(u.dtype()));
  }
  return call(name, u);
}

std::string SmtScript::term_of(UOp u) {
  if (const UOp chosen = chosen_of(u)) return own_name(chosen);
  const bool is_opaque = u.is(Op::Threefry) || (opaque_casts_ && u.is(Op::Cast));
  bool is_readable = true;
  for (UOp s : u.sources()) is_readable = is_readable && is_integral(s.dtype());
  return is_opaque && is_readable ? unknown_function(u) : known_term(u);
}

void SmtScript::define(UOp u) {
  const std::string value = term_of(u);
  if (value.empty()) {
    declare(u);
  } else {
    text_ += fmt::format("(define-fun {} () {} {})\n", own_name(u), sort_of(u.dtype()), value);
  }
}

void SmtScript::declare(UOp u) {
  leaves_.push_back(u);
  text_ += fmt::format("(declare-const {} {})\n", own_name(u), sort_of(u.dtype()));
  if (trust_bounds_ || is_counter(u)) text_ += fmt::format("(assert {})\n", bounds_term(u));
  if (u.is_open()) {
    text_ += fmt::format("(assert (< {} {}))\n", own_name(u), own_name(u.src(0)));
  }
}

void SmtScript::assert_true(UOp u) { text_ += fmt::format("(assert {})\n", name(u)); }

void SmtScript::assert_different(UOp a, UOp b) {
  const std::string first = name(a), second = name(b);
  text_ += fmt::format("(assert (distinct {} {}))\n", first, second);
}

std::string SmtScript::leaf_names() const {
  std::string names;
  for (UOp u : leaves_) names += (names.empty() ? "" : " ") + own_name(u);
  return names;
}

}  // namespace croze
