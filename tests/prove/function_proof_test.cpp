// Functions from graph to graph, proven on thousands of random instances.
#include "croze/prove/function_proof.h"

#include <gtest/gtest.h>

#include <optional>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"
#include "croze/prove/claim.h"
#include "croze/prove/smt.h"
#include "croze/prove/view_proof.h"

namespace croze {
namespace {

using namespace captures;

constexpr InstanceOptions some{.count = 1000, .seed = 7};

void expect_proven(const InstanceProof& proof) {
  EXPECT_TRUE(proof.is_proven()) << proof.name << ", seed " << some.seed << ": "
                                 << proof.counts.detail;
  EXPECT_EQ(proof.fired, some.count) << proof.name << " hardly ever applies";
}

class FunctionProofs : public testing::Test {
 protected:
  FunctionProofs() {
    if (Solver::available()) solver.emplace();
  }
  void SetUp() override {
    if (!solver) GTEST_SKIP() << "libz3 is not installed";
    solver->state(smt_prelude());
  }
  std::optional<Solver> solver;
};

TEST_F(FunctionProofs, EveryFunctionRuleOnIntegers) {
  int proven = 0;
  for (const RuleList& list : rule_lists()) {
    for (const Rule& rule : list.rules) {
      if (!rule.rewrite || !has_integral_instances(rule, list.numbers)) continue;
      expect_proven(prove_function(rule, list.numbers, *solver, some));
      proven++;
    }
  }
  EXPECT_GE(proven, 8);
}

TEST_F(FunctionProofs, ConstructorsOfIndexNodes) {
  expect_proven(prove_index_constructors(*solver, some));
}
TEST_F(FunctionProofs, SimplificationUnderAGate) {
  expect_proven(prove_simplify_under(*solver, some));
}
TEST_F(FunctionProofs, SimplificationOfGates) { expect_proven(prove_simplify_gate(*solver, some)); }
TEST_F(FunctionProofs, TheSimplifier) { expect_proven(prove_simplifier(*solver, some)); }

// x / c is 0 also where x == c.
UOp wrong_quotient(const Match& m) {
  return m[c] > 0 && m[x].lo() >= 0 && m[x].hi() <= m[c] ? m.graph.index(0) : UOp();
}
constexpr Rule wrong = rule(x / c, wrong_quotient);

TEST_F(FunctionProofs, AWrongFunctionIsCaughtWithValues) {
  const InstanceProof proof = prove_function(wrong, Numbers::Index, *solver, some);
  EXPECT_FALSE(proof.is_proven());
  EXPECT_GT(proof.counts.failed, 0);
  EXPECT_NE(proof.counts.detail.find("differ at"), std::string::npos) << proof.counts.detail;
}

// What is known of v makes another node of the loop's trip count, 2 v.
TEST_F(FunctionProofs, ALoopIsTheSameIfItTurnsAsOften) {
  Graph g;
  const UOp v = g.variable(0, 0, 5), x = g.variable(1, -4, 4), is_three = equal(v, 3);
  const auto loop = [&](UOp turns) { return g.range(2, turns, LoopKind::Parallel); };
  const auto proves = [&](UOp left, UOp right, UOp gate) {
    ClaimProver prover(*solver);
    prover.claim(left, right, gate);
    prover.settle();
    return prover.counts().proven() == 1;
  };
  EXPECT_TRUE(proves(x + loop(v * 2), loop(v + v) + x, {}));
  EXPECT_TRUE(proves(x + loop(v * 2), loop(g.index(6)) + x, is_three));
  EXPECT_FALSE(proves(x + loop(v * 2), loop(g.index(6)) + x, {}));
  EXPECT_FALSE(proves(x + loop(v * 2), loop(v) + x, {})) << "even where it turns less often";
  EXPECT_FALSE(proves(x + loop(v * 2), loop(v * 2), is_three));
}

TEST(ViewProofs, EveryRuleAboutViews) {
  for (const Rule& rule : movement_list().rules) {
    ASSERT_TRUE(is_about_views(rule)) << to_string(rule);
    expect_proven(prove_views(rule, some));
  }
}

UOp forget_a_flip(const Match& m) { return m[x]; }
constexpr Rule wrong_view = rule(Pattern(Op::Flip, {x}), forget_a_flip);

TEST(ViewProofs, AWrongRuleIsCaught) {
  const InstanceProof proof = prove_views(wrong_view, some);
  EXPECT_GT(proof.counts.failed, 0);
  EXPECT_NE(proof.counts.detail.find("flip"), std::string::npos) << proof.counts.detail;
}

}  // namespace
}  // namespace croze
