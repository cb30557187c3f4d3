// The terms given to Z3 mean what eval.h says, op by op and dtype by dtype.
#include "croze/prove/smt.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/prove/solver.h"

namespace croze {
namespace {

using i64 = std::int64_t;

constexpr DType integer_types[] = {DType::Bool,   DType::Int8,  DType::UInt8,  DType::Int16,
                                   DType::UInt16, DType::Int32, DType::UInt32, DType::Int64,
                                   DType::UInt64, DType::Index};
constexpr Op binary_ops[] = {Op::Add, Op::Mul, Op::IDiv, Op::Mod, Op::CDiv, Op::CMod,
                             Op::Max, Op::Min, Op::And,  Op::Or,  Op::Xor,  Op::Shl,
                             Op::Shr, Op::Lt,  Op::Le,   Op::Eq,  Op::Ne};

// Edges of the type and numbers in between.  An Index stays so small that nothing overflows.
std::vector<i64> samples(DType t, std::mt19937_64& random) {
  std::vector<i64> values{0, 1, -1, 2, -7, 9, 63};
  if (t == DType::Index) {
    for (int i = 0; i < 3; i++)
      values.push_back(static_cast<i64>(random() % 2'000'001) - 1'000'000);
    return values;
  }
  if (t != DType::Bool) values.insert(values.end(), {min_value(t), max_value(t)});
  values.push_back(static_cast<i64>(random()));
  for (i64& v : values) v = bits_of(v, t);
  return values;
}

class SmtTest : public testing::Test {
 protected:
  SmtTest() {
    if (Solver::available()) solver.emplace();
  }
  void SetUp() override {
    if (!solver) GTEST_SKIP() << "libz3 is not installed";
    solver->state(smt_prelude());
  }

  UOp leaf(DType t, i64 slot) {
    return graph.load(graph.place(graph.param(t, slot, 1), graph.index(0)));
  }

  // Whether Z3 finds that `u` can be nothing but `expected` where the leaves are `values`.
  bool is_forced(UOp u, std::span<const UOp> leaves, std::span<const i64> values, i64 expected) {
    SmtScript script(graph, false);
    for (std::size_t i = 0; i < leaves.size(); i++) {
      script.assert_true(graph.make(
          Op::Eq, DType::Bool, {leaves[i], graph.constant_bits(leaves[i].dtype(), values[i])}));
    }
    script.assert_different(u, graph.constant_bits(u.dtype(), expected));
    return solver->check(script.text()) == Answer::Unsat;
  }

  Graph graph;
  std::optional<Solver> solver;
};

TEST_F(SmtTest, BinaryOpsMeanTheSame) {
  std::mt19937_64 random(1);
  for (DType t : integer_types) {
    const UOp x = leaf(t, 0), y = leaf(t, 1);
    for (Op op : binary_ops) {
      const bool shift = op == Op::Shl || op == Op::Shr;
      if (t == DType::Index && shift) continue;  // of constants only; below
      const DType result = is_comparison(op) ? DType::Bool : t;
      const UOp u = graph.make(op, result, {x, y});
      for (i64 a : samples(t, random)) {
        for (i64 b : samples(t, random)) {
          const i64 values[] = {a, b};
          EXPECT_TRUE(is_forced(u, std::vector{x, y}, values, eval(op, result, t, values)))
              << info(op).name << " of " << name_of(t) << ": " << a << ", " << b;
        }
      }
    }
  }
}

TEST_F(SmtTest, ShiftsOfIndexByConstantsMeanTheSame) {
  std::mt19937_64 random(2);
  const UOp x = leaf(DType::Index, 0);
  for (Op op : {Op::Shl, Op::Shr}) {
    for (i64 by : {0, 1, 5, 30}) {
      const UOp u = graph.make(op, DType::Index, {x, graph.index(by)});
      for (i64 a : samples(DType::Index, random)) {
        const i64 values[] = {a, by};
        EXPECT_TRUE(is_forced(u, std::vector{x}, std::vector{a},
                              eval(op, DType::Index, DType::Index, values)));
      }
    }
  }
}

TEST_F(SmtTest, UnaryOpsAndCastsMeanTheSame) {
  std::mt19937_64 random(3);
  for (DType from : integer_types) {
    const UOp x = leaf(from, 0);
    std::vector<UOp> results{graph.make(Op::Neg, from, {x}), graph.make(Op::Not, from, {x}),
                             graph.make(Op::Trunc, from, {x})};
    for (DType to : integer_types) results.push_back(graph.make(Op::Cast, to, {x}));
    for (UOp u : results) {
      for (i64 a : samples(from, random)) {
        EXPECT_TRUE(is_forced(u, std::vector{x}, std::vector{a},
                              eval(u.op(), u.dtype(), from, std::vector{a})))
            << info(u.op()).name << " of " << name_of(from) << " to " << name_of(u.dtype()) << ": "
            << a;
      }
    }
  }
}

TEST_F(SmtTest, SelectionAndMultiplyAddMeanTheSame) {
  std::mt19937_64 random(4);
  for (DType t : integer_types) {
    const UOp c = leaf(DType::Bool, 0), x = leaf(t, 1), y = leaf(t, 2);
    const UOp chosen = graph.make(Op::Where, t, {c, x, y});
    const UOp product = graph.make(Op::MulAdd, t, {x, y, x});
    for (i64 a : samples(t, random)) {
      const i64 b = samples(t, random).back();
      for (i64 condition : {0, 1}) {
        EXPECT_TRUE(is_forced(chosen, std::vector{c, x, y}, std::vector{condition, a, b},
                              condition ? a : b));
      }
      if (t == DType::Bool) continue;
      EXPECT_TRUE(is_forced(product, std::vector{x, y}, std::vector{a, b},
                            eval(Op::MulAdd, t, t, std::vector{a, b, a})));
    }
  }
}

TEST_F(SmtTest, CountersLieInTheirBoundsAndLeavesToo) {
  const UOp r = graph.range(0, 7, LoopKind::Parallel);
  SmtScript script(graph);
  script.assert_true(graph.make(Op::Le, DType::Bool, {graph.index(7), r}));
  EXPECT_EQ(solver->check(script.text()), Answer::Unsat);

  SmtScript possible(graph);
  possible.assert_true(graph.make(Op::Le, DType::Bool, {graph.index(6), r}));
  std::string witness;
  EXPECT_EQ(solver->check(possible.text(), possible.leaf_names(), &witness), Answer::Sat);
  EXPECT_NE(witness.find(" 6)"), std::string::npos) << witness;
}

TEST_F(SmtTest, AFaultInTheTextIsABug) {
  EXPECT_THROW(solver->check("(assert (= x 1))"), InternalError);
  EXPECT_EQ(solver->check("(assert true)"), Answer::Sat);  // and the conversation goes on
}

TEST_F(SmtTest, TheLimitEndsAHardQuestion) {
  Solver limited(100'000);
  EXPECT_EQ(
      limited.check("(declare-const a (_ BitVec 64)) (declare-const b (_ BitVec 64))"
                    "(assert (= (bvmul a b) #x123456789abcdef1))"
                    "(assert (bvugt a #x0000000000000fff)) (assert (bvugt b #x0000000000000fff))"
                    "(assert (bvult a #x00000000ffffffff)) (assert (bvult b #x00000000ffffffff))"),
      Answer::Unknown);
}

}  // namespace
}  // namespace croze
