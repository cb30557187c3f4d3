// Every rule makes what it rewrites smaller, so rewriting ends.
#include "croze/prove/termination.h"

#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/graph/analysis/measure.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

TEST(Termination, EveryAlgebraicRuleMakesSmaller) {
  for (const RuleList& list : rule_lists()) {
    if (list.why_it_ends) continue;
    for (const Rule& rule : list.rules) EXPECT_EQ(why_not_smaller(rule, list.numbers), "");
  }
}

constexpr Rule endless[] = {
    rule(x + y, y + x),
    rule(x * 2, x + x),
    rule((x + y) * c, x* c + y * c),
    rule(x / c, x / c + 0),
    rule(where(a, x, invalid), where(a& a, x, invalid)),
};

TEST(Termination, ARuleThatMayGoOnForEverIsCaught) {
  for (const Rule& r : endless) {
    const std::string why = why_not_smaller(r, Numbers::Wrapping);
    EXPECT_NE(why.find("termination_test.cpp:"), std::string::npos) << to_string(r);
  }
}

TEST(Termination, SizesOfNodes) {
  Graph graph;
  const UOp i = graph.load(graph.place(graph.param(DType::Int32, 0, 8), graph.index(0)));
  const UOp j = graph.load(graph.place(graph.param(DType::Int32, 1, 8), graph.index(0)));
  EXPECT_TRUE(is_smaller((i + j) + 3, (i + 3) + j));
  EXPECT_FALSE(is_smaller((i + 3) + j, (i + j) + 3));
  EXPECT_FALSE(is_smaller(i + j, i + j));
  EXPECT_TRUE(is_smaller(i * 2, i + i));
  const UOp r = graph.range(0, 8, LoopKind::Parallel), s = graph.range(1, 8, LoopKind::Parallel);
  EXPECT_TRUE(is_smaller(less(r + s, 3), less(r * 2 + s * 2, 6)));
  EXPECT_TRUE(is_smaller(less(r + s, 6), less_equal(r + s, graph.index(5))));
}

}  // namespace
}  // namespace croze
