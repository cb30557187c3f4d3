// Index arithmetic in canonical form, against direct evaluation and known answers.
#include "croze/graph/index/index_form.h"

#include <gtest/gtest.h>

#include <random>

#include "croze/graph/graph.h"
#include "evaluate.h"

namespace croze {
namespace {

using i64 = std::int64_t;

i64 floor_div(i64 a, i64 b) {
  if (b == 0) return 0;
  const i64 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
i64 floor_mod(i64 a, i64 b) { return b == 0 ? a : a - floor_div(a, b) * b; }

class IndexForm : public ::testing::Test {
 protected:
  UOp range(i64 id, i64 size) { return graph.range(id, size, LoopKind::Parallel); }

  Graph graph;
};

TEST_F(IndexForm, EqualSumsAreTheSameNode) {
  const UOp x = range(0, 10), y = range(1, 10), z = range(2, 10);
  EXPECT_EQ((x + y) + z, (z + x) + y);
  EXPECT_EQ((x * 4 + y) * 2 - y, y + x * 8);
  EXPECT_EQ(x - x, graph.index(0));
  EXPECT_EQ((x + 3) * 5 - 15, x * 5);
  EXPECT_EQ((x + y) * (x + z), x * x + x * z + y * (x + z));
}

TEST_F(IndexForm, BoundsDecideQuotientsAndRemainders) {
  const UOp x = range(0, 10), y = range(1, 4);
  EXPECT_EQ(x / 10, graph.index(0));
  EXPECT_EQ(x % 10, x);
  EXPECT_EQ((x * 4 + y) / 4, x);
  EXPECT_EQ((x * 4 + y) % 4, y);
  EXPECT_EQ((x + 20) / 10, graph.index(2));
  EXPECT_EQ((y + 8) % 4, y);
  EXPECT_EQ((y - 4) / 4, graph.index(-1));
  EXPECT_EQ((x * 8 + y) / 16, x / 2);
  EXPECT_EQ((x * 8 + y) % 16, (x % 2) * 8 + y);
  EXPECT_EQ((y * 7 + 3) % 8, y * -1 + 3);
}

TEST_F(IndexForm, NestedQuotientsMerge) {
  const UOp x = range(0, 1000), y = range(1, 1000);
  EXPECT_EQ((x / 3) / 5, x / 15);
  EXPECT_EQ((x / 3 + 2) / 5, (x + 6) / 15);
  EXPECT_EQ((x % 24) / 4, (x / 4) % 6);
  EXPECT_EQ((x % 24) % 6, x % 6);
  EXPECT_EQ((x % 24 + y) % 6, (x + y) % 6);
  EXPECT_EQ((x * 6 + y * 3) / 9, (x * 2 + y) / 3);
  EXPECT_EQ((x * 6 + y * 3 + 2) % 9, ((x * 2 + y) % 3) * 3 + 2);
}

TEST_F(IndexForm, QuotientAndRemainderRecombine) {
  const UOp x = range(0, 1000), y = range(1, 1000);
  EXPECT_EQ(x % 7 + (x / 7) * 7, x);
  EXPECT_EQ((x % 7) * 3 + (x / 7) * 21 + y, x * 3 + y);
  EXPECT_EQ(((x / 4) % 8) * 4 + x % 4, x % 32);
  EXPECT_EQ((x / 32) * 32 + ((x / 4) % 8) * 4 + x % 4, x);
  EXPECT_EQ(x - (x / 7) * 7, x % 7);
  EXPECT_EQ(x - x % 7, (x / 7) * 7);
  const UOp s = x * 5 + y;
  EXPECT_EQ(s % 12 + (s / 12) * 12, s);
  EXPECT_EQ((s / 12 % 5) * 12 + s % 12, s % 60);
}

TEST_F(IndexForm, ReshapeChainsCollapse) {
  const UOp a = range(0, 6), b = range(1, 10), c = range(2, 4), d = range(3, 7);
  const UOp flat = ((a * 10 + b) * 4 + c) * 7 + d;
  EXPECT_EQ(flat / 280 % 6, a);
  EXPECT_EQ(flat / 28 % 10, b);
  EXPECT_EQ(flat / 7 % 4, c);
  EXPECT_EQ(flat % 7, d);
  // Through another shape and back: (6, 10, 4, 7) -> (15, 16, 7) -> (6, 10, 4, 7).
  const UOp p = flat / 112, q = flat / 7 % 16, r = flat % 7;
  EXPECT_EQ((p * 16 + q) * 7 + r, flat);
}

TEST_F(IndexForm, SymbolicDivisorsCancel) {
  const UOp v = graph.variable(0, 1, 100), w = graph.variable(1, 1, 100), x = range(0, 50);
  EXPECT_EQ((x * v) / v, x);
  EXPECT_EQ((x * v) % v, graph.index(0));
  EXPECT_EQ((x * v * w + x) / v, x * w + x / v);
  EXPECT_EQ((x / v) * v + x % v, x);
  EXPECT_EQ((v * 6) / (v * 2), graph.index(3));
}

TEST_F(IndexForm, StrideIsTheCoefficientOfTheRange) {
  const UOp x = range(0, 8), y = range(1, 8);
  EXPECT_EQ(stride_over(x * 5 + y / 3, x).step, 5);
  EXPECT_TRUE(stride_over(x * 5 + y / 3, x).affine);
  EXPECT_FALSE(stride_over(x * 5 + (x + y) / 3, x).affine);
  EXPECT_TRUE(stride_over(y * 3, x).affine);
  EXPECT_EQ(stride_over(y * 3, x).step, 0);
}

TEST_F(IndexForm, AVectorStaysAVector) {
  const UOp v = graph.iota(5);
  EXPECT_EQ((v - v).rank(), 1);
  EXPECT_EQ((v * 0).rank(), 1);
  EXPECT_EQ((v / 5).rank(), 1);
  EXPECT_EQ(((v + 1) - 1), v);
}

// A random expression, evaluated as it is written, against its canonical node.
class RandomIndex {
 public:
  RandomIndex(Graph& graph, std::mt19937_64& rng) : graph_(graph), rng_(rng) {
    const i64 sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 24, 60};
    for (i64 id = 0; id < 4; id++) {
      leaves_.push_back(graph.range(id, sizes[pick(10)], LoopKind::Parallel));
    }
    leaves_.push_back(graph.variable(0, -5, 20));
    leaves_.push_back(graph.variable(1, 1, 9));
  }

  struct Made {
    UOp node;
    std::vector<i64> values;  // at each of the sample points
  };

  void sample(int points) {
    points_.clear();
    for (int i = 0; i < points; i++) {
      std::vector<i64> point;
      for (UOp leaf : leaves_) {
        point.push_back(std::uniform_int_distribution<i64>(leaf.lo(), leaf.hi())(rng_));
      }
      points_.push_back(point);
    }
  }

  Made make(int depth) {
    if (depth == 0 || pick(8) == 0) return leaf();
    Made a = make(depth - 1);
    const int kind = static_cast<int>(pick(10));
    if (kind < 3) return combine(a, make(depth - 1), Op::Add);
    if (kind < 5) return combine(a, constant(pick(20) - 6), Op::Mul);
    if (kind == 5) return combine(a, pick(4) ? constant(pick(40) - 10) : make(1), Op::Mul);
    if (kind < 8) return combine(a, divisor(), Op::IDiv);
    return combine(a, divisor(), Op::Mod);
  }

  test::Values values_at(std::size_t point) const {
    test::Values values;
    for (std::size_t i = 0; i < leaves_.size(); i++) values[leaves_[i].node()] = points_[point][i];
    return values;
  }

 private:
  i64 pick(i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(rng_); }

  Made leaf() {
    const auto i = static_cast<std::size_t>(pick(static_cast<i64>(leaves_.size())));
    Made m{leaves_[i], {}};
    for (const auto& point : points_) m.values.push_back(point[i]);
    return m;
  }

  Made constant(i64 value) {
    return {graph_.index(value), std::vector<i64>(points_.size(), value)};
  }

  Made divisor() {
    const i64 divisors[] = {2, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16, 24, 60, 1, -3, 0};
    return pick(12) ? constant(divisors[pick(16)]) : leaf();
  }

  Made combine(const Made& a, const Made& b, Op op) {
    Made m{graph_.alu(op, {a.node, b.node}), {}};
    for (std::size_t i = 0; i < a.values.size(); i++) {
      const i64 x = a.values[i], y = b.values[i];
      m.values.push_back(op == Op::Add    ? x + y
                         : op == Op::Mul  ? x * y
                         : op == Op::IDiv ? floor_div(x, y)
                                          : floor_mod(x, y));
    }
    return m;
  }

  Graph& graph_;
  std::mt19937_64& rng_;
  std::vector<UOp> leaves_;
  std::vector<std::vector<i64>> points_;
};

void expect_in_bounds(UOp u, i64 value) {
  const Bounds& b = u.bounds();
  ASSERT_LE(b.lo, value);
  ASSERT_GE(b.hi, value);
  if (b.multiple == 0) {
    ASSERT_EQ(value, 0);
  } else {
    ASSERT_EQ(value % b.multiple, 0);
  }
}

TEST(IndexFormFuzz, RandomExpressionsKeepTheirValueAndStayInBounds) {
  std::mt19937_64 rng(20240701);
  for (int trial = 0; trial < 20000; trial++) {
    SCOPED_TRACE(trial);
    Graph graph;
    RandomIndex random(graph, rng);
    random.sample(12);
    const RandomIndex::Made made = random.make(2 + trial % 5);
    for (std::size_t i = 0; i < made.values.size(); i++) {
      test::Values values = random.values_at(i);
      ASSERT_EQ(test::evaluate(made.node, values), made.values[i]);
      for (const auto& [node, value] : values) expect_in_bounds(UOp(node), value);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(IndexFormFuzz, RebuildingACanonicalNodeGivesTheSameNode) {
  std::mt19937_64 rng(7);
  for (int trial = 0; trial < 3000; trial++) {
    Graph graph;
    RandomIndex random(graph, rng);
    random.sample(1);
    const UOp u = random.make(5).node;
    ASSERT_EQ(LinearForm::of(u).build(graph), u);
  }
}

TEST(IndexFormFuzz, RandomReshapeChainsCollapse) {
  std::mt19937_64 rng(11);
  auto pick = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(rng); };
  for (int trial = 0; trial < 2000; trial++) {
    Graph graph;
    const i64 factors[] = {2, 3, 4, 5};
    std::vector<i64> sizes;
    for (int i = 0; i < 4; i++) sizes.push_back(factors[pick(4)]);
    std::vector<UOp> axes;
    for (i64 i = 0; i < 4; i++) {
      axes.push_back(graph.range(i, sizes[static_cast<std::size_t>(i)], LoopKind::Parallel));
    }
    UOp flat = axes[0];
    for (std::size_t i = 1; i < 4; i++) flat = flat * sizes[i] + axes[i];
    // To a random other factorisation of the same number of elements, and back to flat.
    const i64 total = sizes[0] * sizes[1] * sizes[2] * sizes[3];
    std::vector<i64> other;
    for (i64 left = total; left > 1;) {
      i64 f = 2 + pick(14);
      while (left % f) f = f % 16 + 1;
      if (f == 1) f = left;
      other.push_back(f);
      left /= f;
    }
    UOp again = graph.index(0);
    i64 step = total;
    for (i64 size : other) {
      step /= size;
      again = again + (flat / step % size) * step;
    }
    ASSERT_EQ(again, flat) << "trial " << trial;
  }
}

}  // namespace
}  // namespace croze
