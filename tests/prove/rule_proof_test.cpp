// Rules are theorems, and what is no theorem is caught.
#include "croze/prove/rule_proof.h"

#include <gtest/gtest.h>

#include <optional>

#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"
#include "croze/prove/reading.h"
#include "croze/prove/smt.h"

namespace croze {
namespace {

using namespace captures;

class RuleProofs : public testing::Test {
 protected:
  RuleProofs() {
    if (Solver::available()) solver.emplace();
  }
  void SetUp() override {
    if (!solver) GTEST_SKIP() << "libz3 is not installed";
    solver->state(smt_prelude());
  }

  void prove_list(const RuleList& list) {
    for (const Rule& rule : list.rules) {
      if (rule.rewrite) continue;
      const RuleProof proof = prove_rule(rule, list.numbers, *solver);
      EXPECT_EQ(proof.verdict, Verdict::Proven) << proof.detail;
    }
  }

  std::optional<Solver> solver;
};

TEST_F(RuleProofs, IntegerAlgebra) { prove_list(algebra_list()); }
TEST_F(RuleProofs, Comparisons) { prove_list(compare_list()); }
TEST_F(RuleProofs, Logic) { prove_list(logic_list()); }
TEST_F(RuleProofs, Selection) { prove_list(select_list()); }
TEST_F(RuleProofs, Invalid) { prove_list(invalid_list()); }
TEST_F(RuleProofs, WhatIsInvalidInTheEnd) { prove_list(drop_invalid_list()); }
TEST_F(RuleProofs, Casts) { prove_list(cast_list()); }
TEST_F(RuleProofs, CastsOfBool) { prove_list(integer_cast_list()); }
// The rules on shifts take their time: `croze rules --prove` proves them.

constexpr Rule wrong[] = {
    rule(x / c + 1, (x + c) / c),                     // c == 0
    rule((x + y) / c, x / c + y / c, 0 < c),          // the remainders may carry
    rule(x.of(sized_ints) / c, 0, 0 <= x && x <= c),  // x == c
    rule(x < y, 1, x <= y),                           // x == y
    rule((x << c) >> c, x),                           // loses the high bits
    rule(x + -x, 0),                                  // of Bool, + is or
    rule(where(a, g, h), a& g),                       // drops h
    rule(load(index(b, x, g)), load(index(b, x))),    // a gate is needed
    rule(where(a, x, where(g, y, invalid)), where(g, where(a, x, y), invalid)),
    rule((x * c) / c, x, 0 < c),   // the product may wrap
    rule(cast(cast(x)), cast(x)),  // the inner cast may be narrower
};

TEST_F(RuleProofs, AWrongRuleIsCaughtWithValues) {
  for (const Rule& r : wrong) {
    const RuleProof proof = prove_rule(r, Numbers::All, *solver);
    EXPECT_EQ(proof.verdict, Verdict::Failed) << to_string(r);
    EXPECT_NE(proof.detail.find("rule_proof_test.cpp:"), std::string::npos) << proof.detail;
    EXPECT_NE(proof.detail.find("(("), std::string::npos) << proof.detail;
  }
}

TEST_F(RuleProofs, TheCounterexampleNamesTheLettersOfTheRule) {
  constexpr Rule r = rule((x / c) * c, x);
  const RuleProof proof = prove_rule(r, Numbers::Index, *solver);
  EXPECT_NE(proof.detail.find("(c "), std::string::npos) << proof.detail;
  EXPECT_NE(proof.detail.find("(x "), std::string::npos) << proof.detail;
}

TEST(Readings, FollowTheRestrictionsOfARule) {
  constexpr Rule any = rule(x + y, y + x);
  EXPECT_EQ(readings_of(any, Numbers::Wrapping, any_type).size(), 10u);
  EXPECT_EQ(readings_of(any, Numbers::Ieee, any_type).size(), 8u);
  constexpr Rule sized = rule(x.of(sized_ints) * -1, -x);
  EXPECT_EQ(readings_of(sized, Numbers::Wrapping, any_type).size(), 8u);
  constexpr Rule comparison = rule(~(x < y), y <= x);  // the last source is a Bool
  EXPECT_EQ(readings_of(comparison, Numbers::Wrapping, any_type).size(), 18u);
  constexpr Rule casts = rule(cast(cast(x)), cast(x));
  EXPECT_EQ(readings_of(casts, Numbers::All, integrals).size(), 1000u);
}

}  // namespace
}  // namespace croze
