// Every data rule of every list: both sides agree on random and on edge values, in every dtype the
// list is about.  Invalid is no value: an expression with one has none either, except that a Where
// ignores the arm it does not take.
#include "croze/graph/rules/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <random>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rewrite/rewrite.h"
#include "evaluate.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using Wide = __int128;

// No value: Invalid.
using Value = std::optional<i64>;

bool same_value(DType t, i64 p, i64 q) {
  if (p == q) return true;
  if (!is_float(t)) return false;
  return std::isnan(std::bit_cast<double>(p)) && std::isnan(std::bit_cast<double>(q));
}

// One way of giving types and values to the names of a rule.
class Instance {
 public:
  Instance(const Rule& rule, std::mt19937_64& rng) : rule_(rule), rng_(rng) {}

  // False if the rule does not admit these types.
  bool choose(DType root, DType domain, std::span<const Op> family_ops) {
    family_ops_ = family_ops;
    domain_ = domain;
    const Token* t = rule_.pattern.tokens.data();
    if (!assign(t, root)) return false;
    root_type_ = root;
    for (Name& name : names_) {
      if (name.used) name.value = random_value(name.type);
    }
    return true;
  }

  bool condition_holds() {
    const Token* t = rule_.condition.tokens.data();
    return condition(t) != 0;
  }

  Value left() {
    const Token* t = rule_.pattern.tokens.data();
    return evaluate(t, root_type_);
  }
  Value right() {
    const Token* t = rule_.replacement.tokens.data();
    return evaluate(t, root_type_);
  }

  std::string text() const {
    std::string s = to_string(rule_);
    for (std::size_t i = 0; i < 26; i++) {
      if (!names_[i].used) continue;
      const char letter = static_cast<char>('a' + i);
      if (is_float(names_[i].type)) {
        s += fmt::format(" {}={}", letter, std::bit_cast<double>(names_[i].value));
      } else {
        s += fmt::format(" {}={}:{}", letter, names_[i].value, name_of(names_[i].type));
      }
    }
    return s;
  }

 private:
  struct Name {
    bool used = false;
    DType type = DType::Void;
    i64 value = 0;
  };

  Op op_of(const Token& t) const {
    if (t.kind == Token::Call) return t.op();
    return family_ops_[t.id == 'u' - 'a' ? 0 : family_ops_.size() - 1];
  }

  // The type an operand has whatever is around it, or Void.
  DType forced(const Token*& t) {
    const Token& head = *t++;
    if (head.is_capture()) {
      if (names_[head.id].used) return names_[head.id].type;
      return head.types == bools ? DType::Bool : DType::Void;
    }
    if (!head.is_call()) return DType::Void;
    DType found = DType::Void;
    const Op op = op_of(head);
    for (int i = 0; i < head.count; i++) {
      const DType inner = forced(t);
      const bool lends = op != Op::Cast && op != Op::Bitcast && !(op == Op::Where && i == 0);
      if (lends && inner != DType::Void) found = inner;
    }
    return is_comparison(op) ? DType::Bool : found;
  }

  // The common type of the operands of a comparison.
  DType operand_type(const Token* t, int count) {
    for (int i = 0; i < count; i++) {
      if (const DType f = forced(t); f != DType::Void) return f;
    }
    return domain_;
  }

  DType type_of_operand(const Token& head, const Token* operands, int i, DType result) {
    const Op op = op_of(head);
    if (op == Op::Where && i == 0) return DType::Bool;
    if (op == Op::Cast || op == Op::Bitcast) {
      const Token* t = operands;
      const DType f = forced(t);
      return f != DType::Void ? f : domain_;
    }
    if (is_comparison(op)) return operand_type(operands, head.count);
    return result;
  }

  bool assign(const Token*& t, DType expected) {
    const Token& head = *t++;
    if (head.is_literal()) return true;
    if (head.is_capture()) {
      Name& name = names_[head.id];
      if (name.used && name.type != expected) return false;
      name = {true, expected, 0};
      return contains(head.types, expected) && head.kind != Token::Rest;
    }
    if (!contains(head.types, expected)) return false;
    const Op op = op_of(head);
    if (op == Op::Invalid) return true;
    if (!is_elementwise(op)) return false;
    if (is_comparison(op) && expected != DType::Bool) return false;
    if (has_trait(op, trait_float_only) && !is_float(expected)) return false;
    if (has_trait(op, trait_integer_only) && is_float(expected)) return false;
    if (op == Op::Threefry && expected != DType::UInt64) return false;
    const Token* operands = t;
    for (int i = 0; i < head.count; i++) {
      const DType type = type_of_operand(head, operands, i, expected);
      if (op == Op::Bitcast && size_of(type) != size_of(expected)) return false;
      if (op == Op::Bitcast && (type == DType::Index) != (expected == DType::Index)) return false;
      if (!assign(t, type)) return false;
    }
    if (head.name != Token::no_name) names_[head.name].type = expected;
    return true;
  }

  i64 random_value(DType t) {
    const auto pick = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(rng_); };
    if (t == DType::Index) return pick(2) ? pick(20) - 6 : pick(4000) - 2000;
    if (is_float(t)) {
      const double edges[] = {0.0,     -0.0,    1.0,     -1.0,    INFINITY, -INFINITY, NAN,
                              1e-40,   -1e-40,  3.4e38,  -3.4e38, 0.5,      2.0,       1e-310,
                              65504.0, 6.1e-05, 5.9e-08, 448.0,   57344.0,  1.7e308,   4.0};
      if (pick(2)) return bits_of(edges[pick(std::size(edges))], t);
      return bits_of(
          std::ldexp(static_cast<double>(pick(4001) - 2000), static_cast<int>(pick(21) - 16)), t);
    }
    if (pick(2)) return bits_of(pick(12) - 3, t);
    if (pick(4) == 0) return bits_of(pick(2) ? max_value(t) : min_value(t), t);
    return bits_of(static_cast<i64>(rng_()), t);
  }

  Value evaluate(const Token*& t, DType expected) {
    const Token& head = *t++;
    if (head.kind == Token::Literal) return bits_of(head.value, expected);
    if (head.kind == Token::Real) return bits_of(std::bit_cast<double>(head.value), expected);
    if (head.is_capture()) return names_[head.id].value;
    const Op op = op_of(head);
    if (op == Op::Invalid) return std::nullopt;
    const Token* operands = t;
    Value values[3];
    DType last = expected;
    for (int i = 0; i < head.count; i++) {
      last = type_of_operand(head, operands, i, expected);
      values[i] = evaluate(t, last);
    }
    Value result;
    if (op == Op::Where) {
      if (values[0]) result = *values[0] ? values[1] : values[2];
    } else if (values[0] && (head.count < 2 || values[1]) && (head.count < 3 || values[2])) {
      i64 bits[3] = {0, 0, 0};
      for (int i = 0; i < head.count; i++) bits[i] = *values[i];
      result = eval(op, expected, last, std::span(bits, static_cast<std::size_t>(head.count)));
    }
    if (head.name != Token::no_name && result) names_[head.name].value = *result;
    return result;
  }

  // Conditions are about mathematical integers.
  Wide condition(const Token*& t) {
    const Token& head = *t++;
    if (head.kind == Token::Literal) return head.value;
    if (head.is_capture()) {
      const Name& name = names_[head.id];
      return name.type == DType::UInt64 ? Wide{static_cast<std::uint64_t>(name.value)}
                                        : Wide{name.value};
    }
    const Wide p = condition(t), q = head.count > 1 ? condition(t) : 0;
    switch (head.op()) {
      case Op::Lt: return p < q;
      case Op::Le: return p <= q;
      case Op::Eq: return p == q;
      case Op::And: return p & q;
      case Op::Or: return p | q;
      case Op::Add: return p + q;
      case Op::Mul: return p * q;
      case Op::Mod: return q == 0 ? p : ((p % q) + q) % q;
      default: ADD_FAILURE() << "condition uses " << info(head.op()).name; return 0;
    }
  }

  const Rule& rule_;
  std::mt19937_64& rng_;
  Name names_[26];
  DType root_type_ = DType::Void, domain_ = DType::Void;
  std::span<const Op> family_ops_;
};

// The ops of the pattern's family; any one op if it has none.
std::span<const Op> ops_of_family(const Rule& rule) {
  static constexpr Op none[] = {Op::Add};
  for (const Token& t : rule.pattern.tokens) {
    if (t.kind == Token::Family) {
      return std::span(t.family->ops).first(static_cast<std::size_t>(t.family->count));
    }
  }
  return none;
}

bool is_about_memory(const Rule& rule) {
  for (int i = 0; i < rule.pattern.size; i++) {
    const Token& t = rule.pattern.tokens[static_cast<std::size_t>(i)];
    if (t.kind == Token::Call && !is_elementwise(t.op())) return true;
    if (t.kind == Token::Family && !is_elementwise(t.family->ops[0])) return true;
  }
  return false;
}

// Compares both sides on random values; returns how often the condition held.
int check_rule(const Rule& rule, Numbers numbers, std::mt19937_64& rng) {
  int held = 0;
  for (Op op : ops_of_family(rule)) {
    const Op family[] = {op};
    for (int round = 0; round < 1500; round++) {
      const auto type = [&] { return static_cast<DType>(1 + rng() % (num_dtypes - 1)); };
      const DType domain = type();
      if (!contains(types_of(numbers), domain)) continue;
      const Token& head = rule.pattern.tokens[0];
      const Op root_op = head.kind == Token::Family ? op : head.op();
      const bool is_cast = root_op == Op::Cast || root_op == Op::Bitcast;
      const DType root = is_comparison(root_op) ? DType::Bool : is_cast ? type() : domain;
      Instance instance(rule, rng);
      if (!instance.choose(root, domain, family)) continue;
      const Value before = instance.left();
      if (!instance.condition_holds()) continue;
      const Value after = instance.right();
      held++;
      EXPECT_EQ(before.has_value(), after.has_value()) << instance.text();
      if (before && after && !same_value(root, *before, *after)) {
        ADD_FAILURE() << name_of(root) << ": " << instance.text() << ": " << *before << " becomes "
                      << *after;
        return held;
      }
    }
  }
  return held;
}

TEST(Rules, BothSidesOfEveryDataRuleAreEqual) {
  std::mt19937_64 rng(99);
  int checked = 0;
  for (const RuleList& list : rule_lists()) {
    // One list gives a value to Invalid.
    if (list.rules.data() == drop_invalid_list().rules.data()) continue;
    if (list.numbers == Numbers::Real) continue;  // not exact; proven over the reals in tests/prove
    for (const Rule& rule : list.rules) {
      if (rule.rewrite || is_about_memory(rule)) continue;
      EXPECT_GE(check_rule(rule, list.numbers, rng), 20)
          << "hardly ever holds: " << to_string(rule);
      checked++;
    }
  }
  EXPECT_GE(checked, 120);
}

// The restriction stands at one use of x, and the matcher may meet the other one first.
TEST(Rules, ARestrictedCaptureIsRestrictedInEveryOrderOfOperands) {
  Graph graph;
  for (int trial = 0; trial < 20; trial++) {  // the order goes by key
    const UOp x = graph.load(graph.place(graph.param(DType::Bool, trial, 8), graph.index(trial)));
    EXPECT_FALSE(algebra_rules().apply(graph.alu(Op::Add, {x, graph.alu(Op::Neg, {x})})));
  }
}

TEST(Rules, PrintAsAlgebraWithTheirPlace) {
  std::string text;
  for (const RuleList& list : rule_lists()) {
    for (const Rule& rule : list.rules) {
      const std::string line = to_string(rule);
      EXPECT_NE(line.find(".cpp:"), std::string::npos);
      EXPECT_NE(line.find(" -> "), std::string::npos);
      text += line + "\n";
    }
  }
  EXPECT_NE(text.find("(x * c) + (x * d)"), std::string::npos) << text;
  EXPECT_NE(text.find("when ((0 <= x) & (x < c))"), std::string::npos);
}

// ---- whole expressions ------------------------------------------------------------------------

class Simplify : public ::testing::Test {
 protected:
  UOp range(i64 id, i64 size) { return graph.range(id, size, LoopKind::Parallel); }
  UOp scalar(DType t, i64 slot) {
    return graph.load(graph.place(graph.param(t, slot, 1), graph.index(0)));
  }
  UOp simplified(UOp u) { return rewrite(u, simplify_rules()); }

  Graph graph;
};

TEST_F(Simplify, DecidesComparisonsByBounds) {
  const UOp i = range(0, 10), j = range(1, 4);
  EXPECT_EQ(simplified(less(i * 4 + j, 40)), graph.boolean(true));
  EXPECT_EQ(simplified(less(i, j - 4)), graph.boolean(false));
  EXPECT_EQ(simplified(equal(i * 2, graph.index(5))), graph.boolean(false));
  EXPECT_EQ(simplified(less(i * 4 + j, 20)), simplified(less(i, 5)));
  EXPECT_EQ(simplified(less_equal(i, graph.index(4))), simplified(less(i, 5)));
  EXPECT_EQ(simplified(less(i / 3, 2)), simplified(less(i, 6)));
  EXPECT_EQ(simplified(logical_not(less(i, 5))), simplified(less(graph.index(4), i)));
}

TEST_F(Simplify, EqualTermsAndBooleanChoicesFold) {
  Graph g;
  const UOp i = g.range(0, 9, LoopKind::Parallel);
  const UOp x = g.load(g.place(g.param(DType::Int32, 0, 9), i));
  const UOp a = g.load(g.place(g.param(DType::Bool, 1, 9), i));
  const UOp c = g.constant(DType::Int32, i64{3}), twice = g.constant(DType::Int32, i64{6});
  const UOp yes = g.boolean(true), no = g.boolean(false);
  EXPECT_EQ(rewrite(x * c + x * c, simplify_rules()), x * twice);
  EXPECT_EQ(rewrite(where(a, yes, no), simplify_rules()), a);
  EXPECT_EQ(rewrite(where(a, no, yes), simplify_rules()), logical_not(a));
  // 4 i + 8 j + 3 < 12: only whole steps of 4 count.
  const UOp j = g.range(1, 4, LoopKind::Parallel);
  EXPECT_EQ(rewrite(less(j * 4 + g.range(2, 4, LoopKind::Parallel), 8), simplify_rules()),
            less(j, 2));
  EXPECT_EQ(rewrite(less(j * 4 - g.range(2, 4, LoopKind::Parallel), 5), simplify_rules()),
            less(j, 2));
}

TEST_F(Simplify, InvalidIndexBecomesTheGateOfALoad) {
  const UOp i = range(0, 10), j = range(1, 4);
  const UOp p = graph.param(DType::Float32, 0, 100);
  const UOp gate = less(i, 5), second = less(j, 2);
  const UOp padded = where(gate, i, graph.invalid(DType::Index)) * 4 + 3;
  const UOp place = simplified(graph.place(p, where(second, padded, graph.invalid(DType::Index))));
  ASSERT_EQ(place.num_src(), 3);
  EXPECT_EQ(place.src(1), i * 4 + 3);
  EXPECT_EQ(place.src(2), simplified(gate & second));
  const UOp load = graph.load(graph.place(p, i, gate));
  EXPECT_EQ(simplified(where(gate, load, graph.constant(DType::Float32, i64{0}))), load);
  EXPECT_EQ(simplified(graph.load(graph.place(p, i, graph.boolean(false)))),
            graph.constant(DType::Float32, i64{0}));
}

TEST_F(Simplify, InvalidThatIsLeftBecomesZero) {
  const UOp f = scalar(DType::Float32, 0), g = scalar(DType::Bool, 1);
  const UOp u = simplified(where(g, f, graph.invalid(DType::Float32)) * 2);
  EXPECT_EQ(u, where(g, f * 2, graph.invalid(DType::Float32)));
  EXPECT_EQ(rewrite(u, drop_invalid_rules()), where(g, f * 2, constant_like(f, 0)));
}

TEST_F(Simplify, FloatsKeepTheirSpecialValues) {
  const UOp f = scalar(DType::Float32, 0);
  EXPECT_EQ(simplified(f * 1), f);
  EXPECT_EQ(simplified(f + 0), f + 0);
  EXPECT_EQ(simplified(f * 0), f * 0);
  EXPECT_EQ(simplified(f - f), f - f);
  EXPECT_EQ(simplified(not_equal(f, f)), not_equal(f, f));
  const UOp below = less(f, scalar(DType::Float32, 1));
  EXPECT_EQ(simplified(logical_not(below)), logical_not(below));
  EXPECT_EQ(simplified(f / 4), f * graph.constant(DType::Float32, 0.25));
  EXPECT_EQ(simplified(f / 3), f / 3);
}

TEST_F(Simplify, CastsMergeOnlyWhenExact) {
  const UOp i = scalar(DType::Int8, 0), f = scalar(DType::Float32, 1), l = scalar(DType::Int64, 2);
  EXPECT_EQ(simplified(cast(cast(i, DType::Int32), DType::Float32)), cast(i, DType::Float32));
  EXPECT_EQ(simplified(cast(cast(f, DType::Float16), DType::Float32)),
            cast(cast(f, DType::Float16), DType::Float32));
  EXPECT_EQ(simplified(cast(cast(f, DType::Float64), DType::Float32)), f);
  EXPECT_EQ(simplified(cast(cast(l, DType::Int32), DType::Int8)), cast(l, DType::Int8));
  EXPECT_EQ(simplified(cast(cast(l, DType::Int32), DType::Int64)),
            cast(cast(l, DType::Int32), DType::Int64));
  const UOp r = range(0, 100);
  EXPECT_EQ(simplified(cast(cast(r, DType::Int32), DType::Index)), r);
}

TEST_F(Simplify, ABitcastThroughBoolKeepsOneBitOnly) {
  const UOp i = scalar(DType::Int8, 0);
  const UOp through = graph.bitcast(graph.bitcast(i, DType::Bool), DType::Int8);
  EXPECT_EQ(simplified(through), through);
}

TEST_F(Simplify, InvalidMovesOutOfBothArmsOfAWhere) {
  const UOp f = scalar(DType::Float32, 0), v = scalar(DType::Float32, 1);
  const UOp g = scalar(DType::Bool, 2), a = scalar(DType::Bool, 3);
  const UOp padded = where(g, f, graph.invalid(DType::Float32));
  EXPECT_EQ(simplified(where(a, padded, v)),
            where(simplified(logical_not(a) | g), where(a, f, v), graph.invalid(DType::Float32)));
  EXPECT_EQ(simplified(where(a, v, padded)),
            where(a | g, where(a, v, f), graph.invalid(DType::Float32)));
}

TEST_F(Simplify, MergesViews) {
  const UOp b = graph.buffer(DType::Float32, 1, 24, 0);
  const i64 shape[] = {2, 3, 4}, other[] = {4, 6}, order[] = {2, 0, 1}, back[] = {1, 2, 0};
  const UOp x = graph.movement(Op::Reshape, b, shape);
  const UOp y = graph.movement(Op::Reshape, graph.movement(Op::Reshape, x, other), shape);
  EXPECT_EQ(rewrite(y, tensor_rules()), x);
  const UOp p = graph.movement(Op::Permute, graph.movement(Op::Permute, x, order), back);
  EXPECT_EQ(rewrite(p, tensor_rules()), x);
  const i64 first[] = {0, 2, 1, 3, 0, 4}, second[] = {0, 2, 1, 2, 1, 3},
            both[] = {0, 2, 2, 3, 1, 3};
  const UOp s = graph.movement(Op::Shrink, graph.movement(Op::Shrink, x, first), second);
  EXPECT_EQ(rewrite(s, tensor_rules()), graph.movement(Op::Shrink, x, both));
}

// Random scalar expressions of one integer type keep their value.
TEST(SimplifyFuzz, RandomIntegerExpressionsKeepTheirValue) {
  std::mt19937_64 rng(5);
  const auto pick = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(rng); };
  const DType types[] = {DType::Int8, DType::UInt8, DType::Int32, DType::UInt64, DType::Index};
  const Op ops[] = {Op::Add, Op::Mul, Op::Max, Op::Min,  Op::And, Op::Or,
                    Op::Xor, Op::Shr, Op::Shl, Op::IDiv, Op::Mod};
  for (int trial = 0; trial < 5000; trial++) {
    Graph graph;
    const DType t = types[pick(5)];
    std::vector<UOp> leaves, values;
    for (i64 i = 0; i < 3; i++) {
      const i64 lo = t == DType::UInt64 || t == DType::UInt8 ? 0 : -pick(10);
      leaves.push_back(graph.variable(i, lo, lo + pick(100)));
      values.push_back(cast(leaves.back(), t));
    }
    for (int i = 0; i < 12; i++) {
      const auto any = [&] {
        return values[static_cast<std::size_t>(pick(static_cast<i64>(values.size())))];
      };
      const UOp p = any();
      const UOp q = pick(2) ? graph.constant(t, pick(12) - 2) : any();
      const i64 kind = pick(10);
      if (kind == 0) {
        values.push_back(where(less(p, q), any(), any()));
      } else if (kind == 1) {
        values.push_back(where(equal(p, q) | less_equal(q, any()), p, q));
      } else if (kind == 2) {
        values.push_back(cast(less(p, any()), t));
      } else {
        const bool bits = t == DType::Index;  // bounds keep Index from overflowing: no shifts
        values.push_back(
            graph.alu(ops[bits ? (pick(2) ? pick(4) : 9 + pick(2)) : pick(11)], {p, q}));
        if (bits && (values.back().lo() < -100000 || values.back().hi() > 100000))
          values.pop_back();
      }
    }
    const UOp before = values.back(), after = rewrite(before, simplify_rules());
    for (int point = 0; point < 8; point++) {
      test::Values at;
      for (UOp leaf : leaves)
        at[leaf.node()] = std::uniform_int_distribution<i64>(leaf.lo(), leaf.hi())(rng);
      test::Values at_after = at;
      ASSERT_EQ(test::evaluate(before, at), test::evaluate(after, at_after)) << "trial " << trial;
    }
    ASSERT_EQ(rewrite(after, simplify_rules()), after) << "not settled, trial " << trial;
  }
}

}  // namespace
}  // namespace croze
