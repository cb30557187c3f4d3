// Loops and buffers whose sizes are expressions of Variables.
#include <gtest/gtest.h>

#include "croze/base/error.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/analysis/valid.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rules/rules.h"
#include "croze/graph/text/print.h"
#include "croze/graph/text/serialize.h"

namespace croze {
namespace {

class OpenRange : public testing::Test {
 protected:
  UOp range(UOp trip) { return g.range(next_range++, trip, LoopKind::Parallel); }
  UOp simplified(UOp u) { return rewrite(u, simplify_rules()); }

  Graph g;
  std::int64_t next_range = 0;
  UOp n = g.variable(0, 0, 100), m = g.variable(1, 1, 50);
};

TEST_F(OpenRange, HasATripCount) {
  const UOp r = range(n);
  EXPECT_TRUE(r.is_open());
  EXPECT_EQ(r.trip_count(), n);
  EXPECT_EQ(r.range_size(), 100);
  EXPECT_EQ(r.lo(), 0);
  EXPECT_EQ(r.hi(), 99);
  EXPECT_EQ(r.ranges(), RangeSet::of(0));
  EXPECT_EQ(r.trip_divisor(), 1);
  EXPECT_EQ(range((n + 7) / 8 * 8).trip_divisor(), 8);
}

TEST_F(OpenRange, OfAConstantSizeIsTheConstantRange) {
  const UOp r = g.range(5, g.index(12), LoopKind::Reduce);
  EXPECT_EQ(r, g.range(5, 12, LoopKind::Reduce));
  EXPECT_EQ(r.num_src(), 0);
  EXPECT_EQ(r.trip_count(), g.index(12));
  EXPECT_EQ(r.trip_divisor(), 12);
  EXPECT_EQ(g.param(DType::Float32, 0, 8, g.index(8)).num_src(), 0);
}

TEST_F(OpenRange, DependsOnNoLoopAndIsNotNegative) {
  EXPECT_THROW(range(range(n)), InternalError);
  EXPECT_THROW(range(n - 1), InternalError);
  EXPECT_NO_THROW(range(m - 1));
}

// As codegen makes it where a mask says how long there is anything to add for the turn of a loop.
TEST_F(OpenRange, MayTurnAsOftenAsALoopAroundItSays) {
  const UOp loop = range(n), other = g.range(8, 4, LoopKind::Parallel);
  const std::int64_t arg[] = {7, 9, static_cast<std::int64_t>(LoopKind::Reduce)};
  const UOp turns = g.make(Op::Range, DType::Index, {min(loop * 2, g.index(9))}, Arg(arg));
  const UOp moved = substitute(turns, std::vector{std::pair{loop, other}});
  EXPECT_TRUE(moved.is_open());
  EXPECT_EQ(moved.trip_count(), min(other * 2, g.index(9)));
  const UOp fixed = substitute(turns, std::vector{std::pair{loop, g.index(3)}});
  EXPECT_EQ(fixed, g.range(7, 6, LoopKind::Reduce));
}

TEST_F(OpenRange, StaysBelowItsTripCount) {
  const UOp r = range(n), s = range(m);
  EXPECT_TRUE(simplified(less(r, n)).is_const(1));
  EXPECT_TRUE(simplified(less(r, n + s)).is_const(1));
  EXPECT_TRUE(simplified(less_equal(n, r)).is_const(0));
  EXPECT_TRUE(simplified(less(r * 2 + 1, n * 2)).is_const(1));
  EXPECT_FALSE(simplified(less(r, m)).is_const());
  EXPECT_FALSE(simplified(less(r + 1, n)).is_const());
}

TEST_F(OpenRange, IsDividedByItsTripCount) {
  const UOp r = range(n), s = range(m);
  EXPECT_TRUE((r / n).is_const(0));
  EXPECT_EQ(r % n, r);
  EXPECT_EQ((s * n + r) / n, s);
  EXPECT_EQ((s * n + r) % n, r);
  EXPECT_EQ((s * n + r + n * 3) / n, s + 3);
  // n may be 0 where the loop is another one.
  EXPECT_FALSE((s / n).is_const());
  const UOp both = range(m * n);
  EXPECT_EQ(both / n * n + both % n, both);
}

TEST_F(OpenRange, BoundsWhatIsReducedOverIt) {
  const UOp r = range(n), s = range(m), x = r % 5 + 3;
  const UOp sum = g.reduce(Op::Add, x, std::span(&r, 1));
  EXPECT_EQ(sum.lo(), 0);
  EXPECT_EQ(sum.hi(), 700);
  const UOp negative = g.reduce(Op::Add, x * -1, std::span(&r, 1));
  EXPECT_EQ(negative.lo(), -700);
  EXPECT_EQ(negative.hi(), 0);
  // The greatest of nothing is the least number of the type.
  EXPECT_EQ(g.reduce(Op::Max, x, std::span(&r, 1)).lo(), INT64_MIN);
  EXPECT_EQ(g.reduce(Op::Max, s % 5 + 3, std::span(&s, 1)).lo(), 3);
}

TEST_F(OpenRange, IsReadBackFromItsTexts) {
  const UOp r = range(n * m), x = g.load(g.place(g.param(DType::Float32, 0, 5000, n * m), r));
  const std::string text = print_graph(x);
  Graph other;
  EXPECT_EQ(print_graph(parse_graph(other, text)), text);
  const std::string bytes = serialize(std::span(&x, 1));
  Graph third;
  const std::vector<UOp> list = deserialize(third, bytes);
  EXPECT_EQ(print_graph(list[0]), text);
  EXPECT_EQ(list[0].key(), x.key());
  EXPECT_EQ(print_graph(third.import(x)), text);
  EXPECT_THROW(parse_graph(other, "%0 = range index [0, 4, 0]\n%1 = range index %0 %0 [1, 4, 0]"),
               Error);
}

TEST_F(OpenRange, KeepsItsTripCountUnderAGate) {
  // The gate knows of n; a loop of n stays one.
  const UOp r = range(n), gate = less(n, 9) & less(r, 4);
  const UOp x = simplify_under(gate, r / 4 + n / 9);
  EXPECT_TRUE(x.is_const(0)) << to_string(x);
  const UOp kept = simplify_under(gate, r + n / 9);
  EXPECT_EQ(kept, r);
}

TEST_F(OpenRange, IsCheckedByTheSpec) {
  const auto kernel = [&](UOp r) {
    const UOp place = g.place(g.param(DType::Int32, 0, 100, n), r);
    const UOp store = g.store(place, g.constant(DType::Int32, std::int64_t{1}), std::span(&r, 1));
    return g.sink(std::span(&store, 1));
  };
  EXPECT_NO_THROW(check_kernel(kernel(range(n))));
  const std::int64_t small[] = {7, 10, 0};
  const UOp beyond = g.make(Op::Range, DType::Index, {n}, Arg(std::span(small)));
  EXPECT_THROW(check_kernel(kernel(beyond)), InternalError);
  const UOp loaded = g.load(g.place(g.param(DType::UInt8, 1, 1), g.index(0)));
  EXPECT_THROW(check_kernel(kernel(range(min(cast(loaded, DType::Index), n)))), InternalError);
}

}  // namespace
}  // namespace croze
