// The rule engine and its drivers.
#include "croze/graph/rewrite/rewrite.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rewrite/rule_set.h"
#include "croze/graph/rewrite/rule_statistics.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;
using i64 = std::int64_t;

constexpr Ops either{'o', {Op::Max, Op::Mul}};

UOp count_and_decline(const Match& m) {
  m.state<int>()++;
  return {};
}

UOp keep_rest(const Match& m) {
  UOp result = m[r].front();
  for (i64 i = 1; i < m[r].size(); i++) result = result + m[r][i];
  return result;
}

constexpr Rule first_wins[] = {rule(x + 1, x), rule(x + k, x * 2), rule(x * 7, count_and_decline)};
constexpr Rule families[] = {rule(either(x, either(x, y)), either(x, y))};
constexpr Rule named[] = {rule(-n(max(x, y)), n), rule({Op::After, {x, r}}, x)};
constexpr Rule typed[] = {rule(x.of(floats) * 2, x), rule(x.of(sized_ints) * 2, 0)};
constexpr Rule proven[] = {rule(max(x, y), y, x <= y)};
constexpr Rule forever[] = {rule(x + y, y + x * 1), rule(max(x, y), min(x, y)),
                            rule(min(x, y), max(x, y))};
constexpr Rule in_two_steps[] = {rule(-x, x * 3 % 5), rule(x * 3, x * 7)};
constexpr Rule with_argument[] = {rule(Pattern(Op::Reduce, {x, r}).with(Op::Max), x)};
constexpr Rule effects[] = {rule({Op::Sink, {r}}, keep_rest)};

RuleList toy(std::span<const Rule> rules, Numbers numbers = Numbers::All) {
  return {"toy", numbers, rules, "it need not"};
}

class RuleEngine : public ::testing::Test {
 protected:
  UOp scalar(DType t, i64 slot) {
    return graph.load(graph.place(graph.param(t, slot, 1), graph.index(0)));
  }
  Graph graph;
  UOp p = scalar(DType::Int32, 0), q = scalar(DType::Int32, 1), f = scalar(DType::Float32, 2);
};

TEST_F(RuleEngine, FirstRuleInTheListWins) {
  const RuleSet set("test", {toy(first_wins)});
  EXPECT_EQ(set.apply(p + 1), p);
  EXPECT_EQ(set.apply(p + 5), p * 2);
  EXPECT_EQ(set.apply(p + q), UOp());
  int tried = 0;
  EXPECT_EQ(set.apply(p * 7, &tried), UOp());
  EXPECT_EQ(tried, 1);
}

TEST_F(RuleEngine, FamiliesStandForTheSameOpOnBothSides) {
  const RuleSet set("test", {toy(families)});
  EXPECT_EQ(set.apply(max(p, max(q, p))), max(p, q));
  EXPECT_EQ(set.apply(p * (p * q)), p * q);
  EXPECT_EQ(set.apply(p * max(p, q)), UOp());
}

TEST_F(RuleEngine, NamesAndRestsBind) {
  const RuleSet set("test", {toy(named)});
  EXPECT_EQ(set.apply(-max(p, q)), max(p, q));
  const UOp store = graph.store(graph.place(graph.param(DType::Int32, 5, 1), graph.index(0)), p);
  EXPECT_EQ(set.apply(graph.make(Op::After, DType::Int32, {p, store})), p);
  const RuleSet sums("test", {toy(effects)});
  const UOp sink = graph.make(Op::Sink, DType::Void, {p, q, p});
  EXPECT_EQ(sums.apply(sink), (p + q) + p);
}

TEST_F(RuleEngine, DtypesArgumentsAndNumbersSelect) {
  const RuleSet set("test", {toy(typed)});
  EXPECT_EQ(set.apply(f * 2), f);
  EXPECT_EQ(set.apply(p * 2), constant_like(p, 0));
  const RuleSet integers("test", {toy(typed, Numbers::Wrapping)});
  EXPECT_EQ(integers.apply(f * 2), UOp());
  const UOp range = graph.range(0, 4, LoopKind::Reduce);
  const RuleSet maxima("test", {toy(with_argument)});
  EXPECT_EQ(maxima.apply(graph.reduce(Op::Max, f, std::span(&range, 1))), f);
  EXPECT_EQ(maxima.apply(graph.reduce(Op::Add, f, std::span(&range, 1))), UOp());
}

TEST_F(RuleEngine, ConditionsMustBeProvable) {
  const RuleSet set("test", {toy(proven)});
  const UOp i = graph.range(0, 4, LoopKind::Parallel), j = graph.variable(0, 3, 9);
  EXPECT_EQ(set.apply(max(i, j)), j);
  EXPECT_EQ(set.apply(max(p, q)), UOp());
}

#ifndef NDEBUG  // only debug builds measure what rules make
TEST_F(RuleEngine, ARuleThatMakesNothingSmallerIsNoticed) {
  const RuleSet set("test", {RuleList{"t", Numbers::All, first_wins}});
  EXPECT_EQ(set.apply(p + 1), p);
  EXPECT_THROW((void)set.apply(p + 5), InternalError);
}
#endif

TEST_F(RuleEngine, RulesThatDoNotSettleAreNamed) {
  const RuleSet set("endless", {toy(forever)});
  try {
    (void)rewrite(max(p, q), set);
    FAIL() << "did not throw";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("rewrite_test.cpp:"), std::string::npos) << e.what();
    EXPECT_EQ(e.details().pass, "endless");
  }
}

constexpr Rule negate_twice[] = {rule(-x, x + 1)};

// -p becomes p*3 % 5 and then p*7 % 5; that the first form also stands elsewhere is no circle.
TEST_F(RuleEngine, AFormThatANodeTookOnTheWayMayOccurAgain) {
  const RuleSet set("test", {toy(in_two_steps)});
  const UOp root =
      graph.make(Op::IDiv, DType::Int32, {logical_not(p * 3 % constant_like(p, 5)), -p});
  const UOp final = p * 7 % constant_like(p, 5);
  for (Order order : {Order::Post, Order::Pre}) {
    EXPECT_EQ(rewrite(root, set, order),
              graph.make(Op::IDiv, DType::Int32, {logical_not(final), final}));
  }
}

TEST_F(RuleEngine, DriversDifferInWhatTheyVisit) {
  const RuleSet set("test", {toy(negate_twice)});
  const UOp u = -(-p);
  EXPECT_EQ(rewrite(u, set, Order::Post), (p + 1) + 1);
  EXPECT_EQ(rewrite(u, set, Order::Pre), (p + 1) + 1);
  EXPECT_EQ(rewrite(u, set, Order::Walk), (p + 1) + 1);
  EXPECT_EQ(rewrite(q, set), q);
}

constexpr Rule grow[] = {rule(-x, ~(-x))};

TEST_F(RuleEngine, WalkDoesNotVisitWhatARuleMade) {
  const RuleSet set("test", {toy(grow)});
  EXPECT_EQ(rewrite(-p, set, Order::Walk), graph.alu(Op::Not, {-p}));
  EXPECT_THROW((void)rewrite(-p, set, Order::Pre), InternalError);
}

TEST_F(RuleEngine, SubstituteRebuildsInCanonicalForm) {
  const UOp i = graph.range(0, 12, LoopKind::Parallel), j = graph.range(1, 3, LoopKind::Parallel),
            l = graph.range(2, 4, LoopKind::Parallel);
  const std::pair<UOp, UOp> pairs[] = {{i, j * 4 + l}};
  EXPECT_EQ(substitute((i / 4) * 7 + i % 4, pairs), j * 7 + l);
  const std::pair<UOp, UOp> swap[] = {{p, q}, {q, p}};
  EXPECT_EQ(substitute(p * 2 + q, swap), q * 2 + p);
}

TEST_F(RuleEngine, ToposortListsSourcesFirstAndOnce) {
  const UOp u = (p + q) * (p + q) + p;
  const std::vector<UOp> order = toposort(u);
  EXPECT_EQ(order.back(), u);
  std::vector<UOp> seen;
  for (UOp v : order) {
    for (UOp s : v.sources()) EXPECT_NE(std::find(seen.begin(), seen.end(), s), seen.end());
    EXPECT_EQ(std::find(seen.begin(), seen.end(), v), seen.end());
    seen.push_back(v);
  }
}

TEST_F(RuleEngine, AMillionNodesDeepIsNoDepth) {
  UOp u = f;
  for (int i = 0; i < 1'000'000; i++) u = i % 2 ? u * 1 : u + f;
  EXPECT_EQ(toposort(u).size(), 1'000'000u + 5u);
  const UOp simple = rewrite(u, simplify_rules());
  EXPECT_EQ(toposort(simple).size(), 500'000u + 4u);
  const std::pair<UOp, UOp> pairs[] = {{f, f * 3}};
  EXPECT_NE(substitute(simple, pairs), simple);
}

TEST_F(RuleEngine, StatisticsCountTriesAndHits) {
  RuleStatistics statistics;
  {
    const Observing observing(statistics);
    (void)rewrite(p + 0, simplify_rules());
  }
  const std::string text = statistics.text();
  (void)rewrite(p * 1, simplify_rules());
  EXPECT_EQ(statistics.text(), text);
  EXPECT_NE(text.find("algebra.cpp"), std::string::npos);
  EXPECT_NE(text.find("hits"), std::string::npos);
}

}  // namespace
}  // namespace croze
