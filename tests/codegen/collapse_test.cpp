// collapse_test.cpp -- sums in closed form, against adding up every term.
#include "croze/codegen/collapse.h"

#include <gtest/gtest.h>

#include <random>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/simplify.h"
#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

using i64 = std::int64_t;
using Env = std::unordered_map<const Node*, i64>;

// What stands in a test's buffer, and what must not be read.
i64 element(i64 i, i64 elements, DType t) {
  EXPECT_TRUE(0 <= i && i < elements) << "a load of element " << i << " of " << elements;
  return bits_of(i * 5 % 7 - 2, t);
}

// The value of `u`, by its definition; ranges that are open have their values in `env`.
i64 evaluate(UOp u, Env env) {
  if (const auto it = env.find(u.node()); it != env.end()) return it->second;
  if (u.is_const()) return u.arg().value;
  if (u.is(Op::Load)) {
    const UOp place = u.src(0);
    if (place.num_src() == 3 && evaluate(place.src(2), env) == 0) return bits_of(i64{0}, u.dtype());
    return element(evaluate(place.src(1), env), place.src(0).buffer_elements(), u.dtype());
  }
  if (u.is(Op::Reduce)) {
    const std::vector<UOp> ranges = closed_ranges(u);
    i64 total = bits_of(i64{0}, u.dtype());
    for (i64 n = 0; n < iterations(ranges); n++) {
      i64 rest = n;
      for (UOp r : ranges) {
        env[r.node()] = rest % r.range_size();
        rest /= r.range_size();
      }
      const i64 operands[] = {total, evaluate(u.src(0), env)};
      total = eval(Op::Add, u.dtype(), u.dtype(), operands);
    }
    return total;
  }
  std::vector<i64> operands;
  for (UOp s : u.sources()) operands.push_back(evaluate(s, env));
  return eval(u.op(), u.dtype(), u.src(u.num_src() - 1).dtype(), operands);
}

class Collapse : public ::testing::Test {
 protected:
  // The sum of `x` over r, stored for every i.
  UOp kernel(UOp x) {
    const UOp ranges[] = {r}, loops[] = {i};
    const UOp sum = graph.reduce(Op::Add, x, ranges);
    const UOp out = graph.place(graph.param(x.dtype(), 0, i.range_size()), i);
    const UOp store = graph.store(out, sum, loops);
    return graph.sink(std::span(&store, 1));
  }

  UOp collapsed(UOp sink) { return simplify_kernel(collapse_reductions(simplify_kernel(sink))); }

  // Checks every element, and returns how many iterations its sums still take.
  i64 expect_equal(UOp sink) {
    const UOp result = collapsed(sink);
    for (i64 v = 0; v < i.range_size(); v++) {
      const Env env{{i.node(), v}};
      EXPECT_EQ(evaluate(sink.src(0).src(1), env), evaluate(result.src(0).src(1), env))
          << "i = " << v;
    }
    i64 left = 0;
    for (UOp u : reduces(result)) left += iterations(closed_ranges(u));
    return left;
  }

  UOp load(DType t, UOp at) { return graph.load(graph.place(graph.param(t, 1, 9), at)); }
  UOp number(i64 v, DType t = DType::Int64) { return graph.constant(t, v); }

  Graph graph;
  UOp i = graph.range(0, 12, LoopKind::Parallel), r = graph.range(1, 9, LoopKind::Reduce);
};

TEST_F(Collapse, ATermThatDoesNotVaryIsMultiplied) {
  EXPECT_EQ(expect_equal(kernel(cast(i, DType::Int64))), 0);
  EXPECT_EQ(expect_equal(kernel(number(3))), 0);
  EXPECT_EQ(expect_equal(kernel(number(3, DType::Float32))), 0);
  // A float that is not known may round.
  EXPECT_EQ(expect_equal(kernel(cast(i, DType::Float32))), 9);
}

TEST_F(Collapse, ASumStartsFromZeroWithoutASign) {
  const DType t = DType::Float32;
  EXPECT_EQ(expect_equal(kernel(graph.constant(t, -0.0))), 9);
  EXPECT_EQ(expect_equal(kernel(number(-3, t))), 0);
  EXPECT_EQ(expect_equal(kernel(where(less(r, i), number(-3, t), number(0, t)))), 9);
}

TEST_F(Collapse, ComparisonsAreCounted) {
  for (i64 a = -4; a <= 4; a++) {
    for (i64 b = -3; b <= 3; b++) {
      if (a == 0) continue;
      const UOp below = less(r * a + i * b, 5), counted = where(below, number(3), number(0));
      EXPECT_EQ(expect_equal(kernel(counted)), 0) << a << " " << b;
      const UOp band = below & less(i, r + 4);
      EXPECT_EQ(expect_equal(kernel(where(band, number(1), number(0)))), 0) << a << " " << b;
      EXPECT_EQ(expect_equal(kernel(cast(band, DType::Int32))), 0) << a << " " << b;
    }
  }
}

TEST_F(Collapse, OnePlaceIsLoaded) {
  for (DType t : {DType::Int64, DType::Float32}) {
    const UOp value = load(t, r * -1 + 8);
    const UOp zero = number(0, t);
    EXPECT_EQ(expect_equal(kernel(where(equal(r, i), value, zero))), 0);
    EXPECT_EQ(expect_equal(kernel(where(equal(r + i, graph.index(10)), value, zero))), 0);
    EXPECT_EQ(expect_equal(kernel(where(equal(r, i) & less(r, 4), value, zero))), 0);
    EXPECT_EQ(expect_equal(kernel(where(equal(r, i) & less(i, 4), value, zero))), 0);
    // 2 r = i has a solution for even i only: not taken on.
    EXPECT_EQ(expect_equal(kernel(where(equal(r * 2, i), value, zero))), 9);
  }
}

TEST_F(Collapse, APositionMayBeLoaded) {
  const UOp position = load(DType::Int32, i % 9);
  const UOp value = load(DType::Float32, r), zero = number(0, DType::Float32);
  EXPECT_EQ(expect_equal(kernel(where(equal(cast(r, DType::Int32), position), value, zero))), 0);
}

TEST_F(Collapse, OnlyAPartOfTheRangeIsSummed) {
  const UOp value = load(DType::Int64, r);
  EXPECT_EQ(expect_equal(kernel(where(less(r, 4), value, number(0)))), 4);
  EXPECT_EQ(expect_equal(kernel(where(less(r, 7) & less(graph.index(2), r), value, number(0)))), 4);
  EXPECT_EQ(expect_equal(kernel(where(less(r, 4) & less(i, 5), value, number(0)))), 4);
  EXPECT_EQ(expect_equal(kernel(where(less(r, i), value, number(0)))), 9);
}

TEST_F(Collapse, OnlyPlacesOfOneRemainderAreSummed) {
  const UOp value = load(DType::Int64, r), zero = number(0);
  EXPECT_EQ(expect_equal(kernel(where(equal((r + 1) % 2, 0), value, zero))), 4);
  EXPECT_EQ(expect_equal(kernel(where(equal((r * -1 + 20) % 3, 1), value, zero))), 3);
  EXPECT_EQ(expect_equal(kernel(where(equal(r % 4, 0) & less(r, 5), value, zero))), 2);
  EXPECT_EQ(expect_equal(kernel(where(equal((r + i) % 2, 0), value, zero))), 9);
  // One place is left, and the loop is none.
  EXPECT_EQ(expect_equal(kernel(where(equal(r % 8, 7), value, zero))), 0);
}

TEST_F(Collapse, GatesOfAllFactorsShortenTheSum) {
  const DType t = DType::Float32;
  const auto gated = [&](UOp at, UOp gate) {
    return graph.load(graph.place(graph.param(t, 1, 9), at, gate));
  };
  const UOp both = less(graph.index(3), r), one = less(r, i);
  EXPECT_EQ(expect_equal(kernel(gated(r, both) * gated(r * -1 + 8, both & one))), 5);
  EXPECT_EQ(expect_equal(kernel(gated(r, equal(r % 2, 0)) * gated(r, equal(r % 2, 0) & one))), 5);
  // What is zero times an infinity is none.
  EXPECT_EQ(expect_equal(kernel(gated(r, both) * load(t, r))), 9);
}

TEST_F(Collapse, RandomConditionsAreSolvedRight) {
  const unsigned seed = 23;
  std::mt19937_64 rng(seed);
  const auto pick = [&](i64 lo, i64 hi) { return std::uniform_int_distribution(lo, hi)(rng); };
  int changed = 0;
  for (int trial = 0; trial < 2000; trial++) {
    UOp condition = graph.boolean(true);
    for (i64 n = pick(1, 3); n > 0; n--) {
      const UOp sum = r * pick(-2, 2) + i * pick(-2, 2) + (i / pick(1, 4)) * pick(-1, 1);
      const i64 bound = pick(-9, 9);
      const UOp term = pick(0, 2) ? less(sum, bound) : equal(sum, bound);
      condition = condition & (pick(0, 3) ? term : logical_not(term));
    }
    const UOp value = pick(0, 1) ? load(DType::Int64, r) : cast(i + 1, DType::Int64);
    changed += expect_equal(kernel(where(condition, value, number(0)))) < 9;
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ", trial " << trial;
  }
  EXPECT_GT(changed, 1000);
}

}  // namespace
}  // namespace croze
