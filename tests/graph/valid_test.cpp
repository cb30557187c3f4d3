// Simplification under a condition: equal where the condition holds.
#include "croze/graph/analysis/valid.h"

#include <gtest/gtest.h>

#include <random>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "evaluate.h"

namespace croze {
namespace {

using i64 = std::int64_t;

TEST(Valid, BoundsFromTheGateRemoveDivisions) {
  Graph graph;
  const UOp i = graph.range(0, 20, LoopKind::Parallel), j = graph.range(1, 4, LoopKind::Parallel);
  EXPECT_EQ(simplify_under(less(i, 10), i % 10), i);
  EXPECT_EQ(simplify_under(logical_not(less(i, 10)), (i / 10) * 7), graph.index(7));
  const UOp sum = i + j;
  EXPECT_EQ(simplify_under(less(sum, 8) & less(graph.index(3), sum), (sum - 4) / 4),
            graph.index(0));
  EXPECT_EQ(simplify_under(less(sum, 8), less(sum, 8)), graph.boolean(true));
  EXPECT_EQ(simplify_under(less(sum, 8), less(i, 9)), graph.boolean(true));
}

// The reads of a padded convolution: the gate of the rows and that of the columns leave only one
// quotient together.
TEST(Valid, SeveralBoundsTogetherRemoveDivisions) {
  Graph graph;
  const UOp y = graph.range(0, 14, LoopKind::Parallel), x = graph.range(1, 14, LoopKind::Parallel);
  const UOp ky = graph.range(2, 3, LoopKind::Reduce), kx = graph.range(3, 3, LoopKind::Reduce);
  const UOp row = y + ky, column = x + kx, one = graph.index(1);
  const UOp gate =
      less(row, 15) & less_equal(one, row) & less(column, 15) & less_equal(one, column);
  const UOp place = row * 14 + column - 15;
  EXPECT_EQ(simplify_under(gate, (place + 196) % 196), place);
  EXPECT_EQ(simplify_under(gate, (place + 196) / 196), one);
  const UOp undecided = (place + 190) % 196;
  EXPECT_EQ(simplify_under(gate, undecided), undecided);
}

TEST(Valid, AGateLosesWhatTheRestImplies) {
  Graph graph;
  const UOp i = graph.range(0, 20, LoopKind::Parallel);
  EXPECT_EQ(simplify_gate(less(i, 5) & less(i, 9)), less(i, 5));
}

TEST(Valid, AGateOfTheSameTermsIsTheSameNodeWhicheverBuffersTheyRead) {
  Graph graph;
  const auto term = [&](i64 slot) {
    const UOp x = graph.load(graph.place(graph.param(DType::Int32, slot, 1), graph.index(0)));
    return less(cast(x, DType::Index), 3);
  };
  const UOp a = term(1), b = term(2), c = term(3);
  const UOp gate = simplify_gate(a & b & c);
  EXPECT_EQ(simplify_gate(gate), gate);
  EXPECT_EQ(simplify_gate(c & (b & a)), gate);
}

TEST(Valid, AGateThatContradictsItselfIsFalse) {
  Graph graph;
  const UOp i = graph.variable(0, 0, 14);
  EXPECT_EQ(simplify_gate(less(graph.index(0), i) & less(i, 1)), graph.boolean(false));
}

// Writing n as v - (rest of the first sum) would square the coefficient.
TEST(Valid, ADetourThroughNumbersThatAreTooLargeIsNotTaken) {
  Graph graph;
  const UOp i = graph.range(0, 4, LoopKind::Parallel), n = graph.variable(1, 9, 16);
  const UOp gate = less(n - i * 3567476736, 2) & less(graph.index(-6), n * n - i * 1170432);
  EXPECT_NO_THROW(EXPECT_EQ(simplify_gate(gate).dtype(), DType::Bool));
}

TEST(Valid, LargeCoefficientsDoNotMultiply) {
  Graph graph;
  const UOp i = graph.range(0, 3, LoopKind::Parallel), j = graph.range(1, 8, LoopKind::Parallel);
  const UOp x = j * j + i * 6;
  EXPECT_EQ(simplify_under(less(j + i * 4294967297, 6), x), x);
}

// A load happens whether the gate holds or not, so it keeps its own.
TEST(Valid, LoadsKeepTheirGates) {
  Graph graph;
  const UOp i = graph.range(0, 20, LoopKind::Parallel);
  const UOp gate = less(i, 7);
  const UOp place = graph.place(graph.param(DType::Int32, 0, 7), i, gate);
  const UOp loaded = graph.cast(graph.load(place), DType::Index);
  EXPECT_EQ(simplify_under(gate, less(loaded, 3)), less(loaded, 3));
  EXPECT_EQ(simplify_gate(gate & less(loaded, 3)), gate & less(loaded, 3));
}

// What stands for a sum meanwhile is in no place of the result, the gates of loads included.
TEST(Valid, AChoiceThatBecomesAGateIsOneOfTheSum) {
  Graph graph;
  const UOp i = graph.range(0, 100, LoopKind::Parallel), j = graph.range(1, 7, LoopKind::Parallel);
  const UOp loaded = graph.load(graph.place(graph.param(DType::Float32, 0, 7), j, less(j, 5)));
  const UOp zero = graph.constant(DType::Float32, 0.0);
  const UOp few = less(where(less(i, 16), loaded, zero), graph.constant(DType::Float32, 3.0));
  const UOp simplified = simplify_under(less(i, 40), few & less(i, 90));
  EXPECT_LT(toposort(simplified).size(), toposort(few & less(i, 90)).size());
  for (UOp u : toposort(simplified)) EXPECT_FALSE(u.is(Op::Variable));
}

TEST(Valid, RandomExpressionsAreEqualWhereTheGateHolds) {
  std::mt19937_64 rng(17);
  const auto pick = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(rng); };
  int changed = 0;
  for (int trial = 0; trial < 1500; trial++) {
    Graph graph;
    std::vector<UOp> leaves;
    for (i64 id = 0; id < 3; id++)
      leaves.push_back(graph.range(id, 2 + pick(12), LoopKind::Parallel));
    const auto leaf = [&] { return leaves[static_cast<std::size_t>(pick(3))]; };
    const auto sum = [&] {
      return leaf() * (1 + pick(4)) + leaf() * (pick(3) - 1) + (pick(9) - 4);
    };
    UOp gate = less(sum(), 3 + pick(12));
    for (i64 n = pick(3); n > 0; n--) gate = gate & logical_not(less(sum(), pick(8)));
    UOp x = sum();
    for (int n = 0; n < 3; n++) {
      x = pick(2) ? x / (1 + pick(8)) : x % (1 + pick(12));
      if (pick(2)) x = x * (1 + pick(3)) + sum();
    }
    const bool boolean = pick(4) == 0;
    if (boolean) x = less(x, pick(6));
    const UOp y = simplify_under(gate, x), reduced = simplify_gate(gate);
    changed += y != x;
    for (int point = 0; point < 100; point++) {
      test::Values at;
      for (UOp l : leaves) at[l.node()] = pick(l.range_size());
      test::Values b = at, c = at, d = at;
      const bool holds = test::evaluate(gate, at) != 0;
      ASSERT_EQ(test::evaluate(reduced, d) != 0, holds) << "trial " << trial;
      if (!holds) continue;
      ASSERT_EQ(test::evaluate(x, b), test::evaluate(y, c)) << "trial " << trial;
    }
  }
  EXPECT_GT(changed, 100);
}

}  // namespace
}  // namespace croze
