// rule.h -- rewrite rules as data.
//
//     rule(x + 0,            x)                             pattern, replacement
//     rule(x % c,            x,  0 <= x && x < c)           ... when the condition is provable
//     rule(x / c,            fold_div)                      ... or computed by a function
//
// A pattern is ordinary C++ arithmetic on capture variables (captures.h holds the project's
// alphabet).  It is built by constexpr operators into a small array of tokens in prefix order, so a
// table of rules is constant data: no template is instantiated per rule, no code runs at start-up,
// and a rule that uses a name its pattern never captured is a compile error on its own line.  Every
// rule knows its file and line.
//
//     Any  x{'x'}    any node but Invalid, which is no value; x.of(ints) restricts the dtype
//     Bool a{'a'}    a node of dtype Bool
//     Int  c{'c'}    a constant of an integral dtype
//     Const k{'k'}   a constant of any dtype
//     Rest r{'r'}    all remaining sources
//     Ops  op{'o', {Op::Add, Op::Mul}}    op(x, y): one of these ops; the replacement can reuse it
//     n(pattern)     n names the node that an inner pattern matched
//
// A capture used twice must match the same node.  Operands of commutative ops are tried in both
// orders.  A literal matches a constant of that value and any dtype; in a replacement it takes the
// dtype of the operand beside it, or of the node it replaces.  `/` and `%` are floor division and
// remainder, `divide(x, y)` is division of floats, `~` is Not, of booleans too.
//
// A condition means "provable": it is evaluated over the bounds of what was captured, on
// mathematical integers.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"

namespace croze {

// A set of dtypes, one bit each.
using Types = std::uint32_t;
constexpr Types types_of(std::initializer_list<DType> list) {
  Types types = 0;
  for (DType t : list) types |= 1u << static_cast<int>(t);
  return types;
}
inline constexpr Types any_type = (1u << num_dtypes) - 1;
inline constexpr Types bools = types_of({DType::Bool});
inline constexpr Types index_type = types_of({DType::Index});
inline constexpr Types sized_ints =
    types_of({DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32, DType::UInt32,
              DType::Int64, DType::UInt64});
inline constexpr Types unsigned_ints =
    types_of({DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64});
inline constexpr Types ints = index_type | sized_ints;
inline constexpr Types integrals = ints | bools;
inline constexpr Types floats = any_type & ~integrals & ~types_of({DType::Void});
constexpr bool contains(Types types, DType t) { return (types >> static_cast<int>(t)) & 1; }

struct Pattern;

// One of several ops.  An object of static storage: patterns keep its address.
struct Ops {
  static constexpr int capacity = 24;

  char letter;
  std::array<Op, capacity> ops{};
  int count = 0;

  constexpr Ops(char name, std::initializer_list<Op> list) : letter(name) {
    for (Op op : list) ops[static_cast<std::size_t>(count++)] = op;
  }
  template <typename... P>
  constexpr Pattern operator()(const P&... operands) const;
};

struct Token {
  enum Kind : std::uint8_t { Call, Family, Any, Int, Const, Rest, Literal, Real };
  static constexpr std::uint8_t no_name = 255;

  Kind kind = Literal;
  std::uint8_t id = 0;          // Call: the op.  Captures and families: the slot, 0..25.
  std::uint8_t count = 0;       // Call, Family: operands that follow
  std::uint8_t name = no_name;  // Call, Family: the slot that names the node
  Types types = any_type;
  union {
    std::int64_t value = 0;  // Literal: the number.  Real: bits of the double.
    const Ops* family;       // Family
    std::int64_t arg;        // Call: the argument's first integer, if has_arg
  };
  bool has_arg = false;

  constexpr bool is_capture() const { return kind >= Any && kind <= Rest; }
  constexpr bool is_call() const { return kind == Call || kind == Family; }
  constexpr bool is_literal() const { return kind == Literal || kind == Real; }
  constexpr Op op() const { return static_cast<Op>(id); }
};

constexpr std::uint8_t slot_of(char name) {
  if (name < 'a' || name > 'z') throw "names are the letters a to z";
  return static_cast<std::uint8_t>(name - 'a');
}

// An expression over captures: a pattern, a replacement or a condition.
struct Pattern {
  static constexpr int capacity = 20;

  std::array<Token, capacity> tokens{};
  std::uint8_t size = 0;

  constexpr Pattern(std::integral auto literal) {
    Token t;
    t.value = static_cast<std::int64_t>(literal);
    push(t);
  }
  constexpr Pattern(double literal) {
    Token t;
    t.kind = Token::Real;
    t.types = floats;
    t.value = std::bit_cast<std::int64_t>(literal);
    push(t);
  }
  constexpr Pattern(const Token& head) { push(head); }
  constexpr Pattern(Op op, std::initializer_list<Pattern> operands) {
    Token head;
    head.kind = Token::Call;
    head.id = static_cast<std::uint8_t>(op);
    push_call(head, operands);
  }
  constexpr Pattern(const Token& head, std::initializer_list<Pattern> operands) {
    push_call(head, operands);
  }

  // Only nodes of these dtypes: x.of(ints), (x + y).of(floats).
  constexpr Pattern of(Types types) const {
    Pattern p = *this;
    p.tokens[0].types = types;
    return p;
  }

  // Only nodes whose argument is, or begins with, this integer: reduce(x, r).with(Op::Add).
  constexpr Pattern with(std::int64_t arg) const {
    if (tokens[0].kind != Token::Call) throw "only an op has an argument";
    Pattern p = *this;
    p.tokens[0].has_arg = true;
    p.tokens[0].arg = arg;
    return p;
  }
  constexpr Pattern with(Op arg) const { return with(static_cast<std::int64_t>(arg)); }

  // One bit per name used: captures, named nodes and op families.
  constexpr std::uint32_t names() const {
    std::uint32_t mask = 0;
    for (int i = 0; i < size; i++) {
      const Token& t = tokens[static_cast<std::size_t>(i)];
      if (t.is_capture() || t.kind == Token::Family) mask |= 1u << t.id;
      if (t.name != Token::no_name) mask |= 1u << t.name;
    }
    return mask;
  }

 private:
  constexpr void push(const Token& t) {
    if (size == capacity) throw "the pattern is too large";
    tokens[size++] = t;
  }
  constexpr void push_call(Token head, std::initializer_list<Pattern> operands) {
    head.count = static_cast<std::uint8_t>(operands.size());
    push(head);
    for (const Pattern& p : operands) {
      for (int i = 0; i < p.size; i++) push(p.tokens[static_cast<std::size_t>(i)]);
    }
  }
};

template <typename... P>
constexpr Pattern Ops::operator()(const P&... operands) const {
  Token head;
  head.kind = Token::Family;
  head.id = slot_of(letter);
  head.family = this;
  return Pattern(head, {Pattern(operands)...});
}

template <Token::Kind kind, Types types>
struct Capture {
  char name;

  constexpr int slot() const { return slot_of(name); }
  constexpr operator Pattern() const {
    Token t;
    t.kind = kind;
    t.id = slot_of(name);
    t.types = types;
    return t;
  }
  constexpr Pattern of(Types restricted) const { return Pattern(*this).of(restricted); }

  // n(pattern): n is the node that the pattern matched.
  constexpr Pattern operator()(Pattern p) const {
    if (!p.tokens[0].is_call()) throw "only an op can be named";
    p.tokens[0].name = slot_of(name);
    return p;
  }
};

using Any = Capture<Token::Any, any_type>;
using Bool = Capture<Token::Any, bools>;
using Int = Capture<Token::Int, integrals>;
using Const = Capture<Token::Const, any_type>;
using Rest = Capture<Token::Rest, any_type>;

// ---- algebra on patterns ----------------------------------------------------------------------

// clang-format off
constexpr Pattern operator+(const Pattern& p, const Pattern& q) { return {Op::Add, {p, q}}; }
constexpr Pattern operator*(const Pattern& p, const Pattern& q) { return {Op::Mul, {p, q}}; }
constexpr Pattern operator/(const Pattern& p, const Pattern& q) { return {Op::IDiv, {p, q}}; }
constexpr Pattern operator%(const Pattern& p, const Pattern& q) { return {Op::Mod, {p, q}}; }
constexpr Pattern operator-(const Pattern& p) { return {Op::Neg, {p}}; }
constexpr Pattern operator-(const Pattern& p, const Pattern& q) { return p + -q; }
constexpr Pattern operator<(const Pattern& p, const Pattern& q) { return {Op::Lt, {p, q}}; }
constexpr Pattern operator<=(const Pattern& p, const Pattern& q) { return {Op::Le, {p, q}}; }
constexpr Pattern operator>(const Pattern& p, const Pattern& q) { return q < p; }
constexpr Pattern operator>=(const Pattern& p, const Pattern& q) { return q <= p; }
constexpr Pattern operator==(const Pattern& p, const Pattern& q) { return {Op::Eq, {p, q}}; }
constexpr Pattern operator!=(const Pattern& p, const Pattern& q) { return {Op::Ne, {p, q}}; }
constexpr Pattern operator~(const Pattern& p) { return {Op::Not, {p}}; }
constexpr Pattern operator&(const Pattern& p, const Pattern& q) { return {Op::And, {p, q}}; }
constexpr Pattern operator|(const Pattern& p, const Pattern& q) { return {Op::Or, {p, q}}; }
constexpr Pattern operator^(const Pattern& p, const Pattern& q) { return {Op::Xor, {p, q}}; }
constexpr Pattern operator<<(const Pattern& p, const Pattern& q) { return {Op::Shl, {p, q}}; }
constexpr Pattern operator>>(const Pattern& p, const Pattern& q) { return {Op::Shr, {p, q}}; }
constexpr Pattern operator&&(const Pattern& p, const Pattern& q) { return p & q; }
constexpr Pattern operator||(const Pattern& p, const Pattern& q) { return p | q; }
constexpr Pattern divide(const Pattern& p, const Pattern& q) { return {Op::Div, {p, q}}; }
constexpr Pattern min(const Pattern& p, const Pattern& q) { return {Op::Min, {p, q}}; }
constexpr Pattern max(const Pattern& p, const Pattern& q) { return {Op::Max, {p, q}}; }
constexpr Pattern where(const Pattern& p, const Pattern& q, const Pattern& s) {
  return {Op::Where, {p, q, s}};
}
constexpr Pattern exp(const Pattern& p) { return {Op::Exp, {p}}; }
constexpr Pattern cast(const Pattern& p) { return {Op::Cast, {p}}; }
constexpr Pattern load(const Pattern& place) { return {Op::Load, {place}}; }
constexpr Pattern index(const Pattern& buffer, const Pattern& i) {
  return {Op::Index, {buffer, i}};
}
constexpr Pattern index(const Pattern& buffer, const Pattern& i, const Pattern& gate) {
  return {Op::Index, {buffer, i, gate}};
}
// clang-format on
inline constexpr Pattern invalid{Op::Invalid, {}};

// ---- matches ----------------------------------------------------------------------------------

// What a matched pattern captured.
class Match {
 public:
  static constexpr int num_slots = 26;  // one per letter
  struct Captures {
    const Node* nodes[num_slots];  // a Rest: the node whose sources it spans
    std::uint8_t ops[num_slots];   // of families; of a Rest: the first source it spans
  };

  Match(Graph& g, UOp matched, const Captures& captures, void* pass_state)
      : graph(g), root(matched), captures_(captures), state_(pass_state) {}

  template <Types types>
  UOp operator[](Capture<Token::Any, types> x) const {
    return UOp(captures_.nodes[x.slot()]);
  }
  std::int64_t operator[](Int c) const { return UOp(captures_.nodes[c.slot()]).const_int(); }
  UOp operator[](Const k) const { return UOp(captures_.nodes[k.slot()]); }
  SmallVector<UOp, 8> operator[](Rest r) const;
  Op operator[](const Ops& family) const {
    return static_cast<Op>(captures_.ops[slot_of(family.letter)]);
  }

  // Builds the expression `p` with its captures filled in, in place of the root.
  UOp build(const Pattern& p) const;

  // True if `condition` holds for every value the captures can take, by their bounds.
  bool proves(const Pattern& condition) const;

  // What the pass handed to rewrite().
  template <typename T>
  T& state() const {
    return *static_cast<T*>(state_);
  }

  Graph& graph;
  const UOp root;

 private:
  UOp build(const Token*& t, UOp beside) const;
  UOp build_call(const Token*& t, UOp beside) const;

  const Captures& captures_;
  void* state_;
};

// A replacement computed by code.  Returns a null handle to decline.  Must be pure.
using Rewrite = UOp (*)(const Match&);

struct Rule {
  static constexpr int max_captures = 8;

  Pattern pattern;
  Pattern replacement;  // used when `rewrite` is null
  Pattern condition;
  Rewrite rewrite;
  const char* file;
  int line;
};

namespace detail {

constexpr void check_pattern(const Pattern& pattern) {
  if (!pattern.tokens[0].is_call()) throw "a pattern must start with an op";
  if (std::popcount(pattern.names()) > Rule::max_captures) throw "a pattern has too many names";
}

}  // namespace detail

constexpr Rule rule(const Pattern& pattern, const Pattern& replacement,
                    const Pattern& condition = 1, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  detail::check_pattern(pattern);
  if (replacement.names() & ~pattern.names()) {
    throw "the replacement uses a name the pattern does not capture";
  }
  if (condition.names() & ~pattern.names()) {
    throw "the condition uses a name the pattern does not capture";
  }
  return {pattern, replacement, condition, nullptr, file, line};
}

// A template only so that the literal 0 is read as the number, never as a null function.
template <std::convertible_to<Rewrite> F>
constexpr Rule rule(const Pattern& pattern, F rewrite, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  detail::check_pattern(pattern);
  return {pattern, 0, 1, rewrite, file, line};
}

std::string to_string(const Pattern&);
std::string place_of(const Rule&);   // "algebra.cpp:12"
std::string to_string(const Rule&);  // "algebra.cpp:12: x + 0 -> x"

}  // namespace croze
