// Rules on floats agree with eval on edge values and random bits; rules of fast maths need not, but
// are theorems about real numbers.
#include "croze/prove/float_check.h"

#include <gtest/gtest.h>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"
#include "croze/prove/real_proof.h"

namespace croze {
namespace {

using namespace captures;

TEST(FloatChecks, EveryRuleThatCanMeetAFloat) {
  int checked = 0;
  for (const RuleList& list : rule_lists()) {
    if (list.numbers == Numbers::Real) continue;
    for (const Rule& rule : list.rules) {
      const FloatCheck check = check_on_floats(rule, list.numbers, {.instances = 2000, .seed = 3});
      EXPECT_EQ(check.failed, 0) << check.name << ", seed 3: " << check.detail;
      checked += check.readings > 0;
    }
  }
  EXPECT_GE(checked, 60);
}

// True of real numbers only, and each for another reason.
constexpr Rule inexact[] = {
    rule(x + 0, x),                  // -0
    rule(x * 0, 0),                  // NaN, infinity, -0
    rule(x + -x, 0),                 // infinity
    rule(divide(x, x), 1),           // 0
    rule((x + k) + l, x + (k + l)),  // rounding
    rule(divide(x, k), x* divide(1, k)),
    rule(x == x, 1),  // NaN
};

TEST(FloatChecks, ARuleOfRealNumbersIsCaughtWithValues) {
  for (const Rule& r : inexact) {
    const FloatCheck check = check_on_floats(r, Numbers::Ieee);
    EXPECT_GE(check.failed, 4) << to_string(r);  // some 8-bit types have no -0 and no infinity
    EXPECT_FALSE(check.detail.empty());
  }
}

TEST(RealProofs, FastMathsIsTrueOfRealNumbers) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  Solver solver;
  for (const Rule& rule : fast_math_list().rules) {
    const RuleProof proof = prove_on_reals(rule, solver);
    EXPECT_EQ(proof.verdict, Verdict::Proven) << proof.detail;
    EXPECT_GT(proof.readings, 0) << to_string(rule);
  }
}

TEST(RealProofs, AWrongRuleIsCaughtWithValues) {
  if (!Solver::available()) GTEST_SKIP() << "libz3 is not installed";
  Solver solver;
  constexpr Rule wrong = rule(divide(x, y) * x, y);
  const RuleProof proof = prove_on_reals(wrong, solver);
  EXPECT_EQ(proof.verdict, Verdict::Failed);
  EXPECT_NE(proof.detail.find("(x "), std::string::npos) << proof.detail;
}

}  // namespace
}  // namespace croze
