// Derived bounds hold for every value, on every integral type, and are exact where that is easy.
#include <gtest/gtest.h>

#include <random>

#include "croze/graph/analysis/interval.h"
#include "croze/graph/graph.h"
#include "evaluate.h"

namespace croze {
namespace {

using i64 = std::int64_t;

bool divides(std::uint64_t multiple, std::uint64_t magnitude) {
  return multiple == 0 ? magnitude == 0 : magnitude % multiple == 0;
}

// A UInt64 whose upper bound is the largest int64 has no known one.
bool is_within(UOp u, i64 value) {
  const Bounds& b = u.bounds();
  const auto multiple = static_cast<std::uint64_t>(b.multiple),
             bits = static_cast<std::uint64_t>(value);
  if (u.dtype() == DType::UInt64) {
    const bool below = b.hi == INT64_MAX || bits <= static_cast<std::uint64_t>(b.hi);
    return bits >= static_cast<std::uint64_t>(b.lo) && below && divides(multiple, bits);
  }
  return b.lo <= value && value <= b.hi && divides(multiple, value < 0 ? 0 - bits : bits);
}

TEST(Bounds, HoldForRandomExpressionsOfEveryIntegralType) {
  std::mt19937_64 rng(3);
  const auto pick = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(rng); };
  const Op ops[] = {Op::Add, Op::Mul, Op::IDiv, Op::Mod, Op::CDiv, Op::CMod, Op::Max,
                    Op::Min, Op::And, Op::Or,   Op::Xor, Op::Shl,  Op::Shr};
  for (int trial = 0; trial < 20000; trial++) {
    Graph graph;
    const auto t = static_cast<DType>(static_cast<int>(DType::Bool) + pick(9));
    std::vector<UOp> leaves, values;
    for (i64 i = 0; i < 3; i++) {
      const i64 lo = pick(3) ? pick(20) - 10 : static_cast<i64>(rng()) >> pick(64);
      const i64 hi = lo > INT64_MAX - 300 ? lo : lo + pick(300);
      leaves.push_back(graph.variable(i, lo, hi));
      values.push_back(graph.make(Op::Cast, t, {leaves.back()}));
    }
    const auto any = [&] {
      return values[static_cast<std::size_t>(pick(static_cast<i64>(values.size())))];
    };
    for (int i = 0; i < 8; i++) {
      const UOp p = any();
      const UOp q =
          pick(2) ? graph.constant(t, pick(3) ? pick(12) - 3 : static_cast<i64>(rng())) : any();
      const i64 kind = pick(16);
      UOp made;
      if (kind == 0) {
        made = where(less(p, q), p, any());
      } else if (kind == 1) {
        made = cast(less_equal(p, q), t);
      } else if (kind == 2) {
        made = graph.alu(pick(2) ? Op::Neg : Op::Not, {p});
      } else if (kind == 3) {
        made = cast(cast(p, static_cast<DType>(static_cast<int>(DType::Int8) + pick(8))), t);
      } else {
        made = graph.alu(ops[pick(std::size(ops))], {p, q});
      }
      values.push_back(made);
    }
    for (int point = 0; point < 6; point++) {
      test::Values at;
      for (UOp leaf : leaves) {
        const i64 v = point == 0   ? leaf.lo()
                      : point == 1 ? leaf.hi()
                                   : std::uniform_int_distribution<i64>(leaf.lo(), leaf.hi())(rng);
        at[leaf.node()] = v;
      }
      for (UOp u : values) test::evaluate(u, at);
      for (const auto& [node, value] : at) {
        ASSERT_TRUE(is_within(UOp(node), value))
            << "trial " << trial << " op " << info(node->op).name << " " << name_of(node->dtype)
            << " " << value;
      }
    }
  }
}

class BoundsOf : public ::testing::Test {
 protected:
  void expect(UOp u, i64 lo, i64 hi, i64 multiple = 1) {
    EXPECT_EQ(u.lo(), lo);
    EXPECT_EQ(u.hi(), hi);
    EXPECT_EQ(u.bounds().multiple, multiple);
  }
  Graph graph;
};

TEST_F(BoundsOf, IndexArithmeticIsExactAtTheCorners) {
  const UOp i = graph.range(0, 10, LoopKind::Parallel), v = graph.variable(0, -7, 5);
  expect(i, 0, 9);
  expect(i * 6 + 12, 12, 66, 6);
  expect(v * -3, -15, 21, 3);
  expect(v / 3, -3, 1);
  expect(v % 3, 0, 2);
  expect((i * 6) % 9, 0, 6, 3);
  expect(graph.alu(Op::Mul, {i, v}), -63, 45);
  expect(max(i, v), 0, 9);
  expect(min(i, v), -7, 5);
  expect(cast(i, DType::Int8), 0, 9);
}

// Every pair of small intervals: the derived one ends at values that are taken.
TEST(Bounds, OfIntegerOpsAreExact) {
  const Op ops[] = {Op::Add, Op::Mul, Op::IDiv, Op::CDiv, Op::Max, Op::Min, Op::And, Op::Or,
                    Op::Xor, Op::Lt,  Op::Le,   Op::Eq,   Op::Ne,  Op::Mod, Op::CMod};
  constexpr i64 least = -6, most = 6;
  const auto check = [](Op op, const Interval& a, const Interval& b) {
    i64 lo = INT64_MAX, hi = INT64_MIN;
    for (i64 x = static_cast<i64>(a.lo); x <= a.hi; x++) {
      for (i64 y = static_cast<i64>(b.lo); y <= b.hi; y++) {
        const i64 operands[] = {x, y};
        const i64 v =
            eval(op, is_comparison(op) ? DType::Bool : DType::Int64, DType::Int64, operands);
        lo = std::min(lo, v);
        hi = std::max(hi, v);
      }
    }
    const Interval operands[] = {a, b};
    const Interval derived = interval_of(op, DType::Int64, operands);
    // Remainders are exact by one divisor; by several, they hold.
    const bool exact = (op != Op::Mod && op != Op::CMod) || b.is_point();
    ASSERT_TRUE(exact ? derived.lo == lo && derived.hi == hi : derived.lo <= lo && hi <= derived.hi)
        << info(op).name << " of [" << i64(a.lo) << ", " << i64(a.hi) << "] and [" << i64(b.lo)
        << ", " << i64(b.hi) << "] is [" << lo << ", " << hi << "], not [" << i64(derived.lo)
        << ", " << i64(derived.hi) << "]";
  };
  for (i64 a = least; a <= most; a++) {
    for (i64 b = a; b <= most; b++) {
      for (i64 c = least; c <= most; c++) {
        for (i64 d = c; d <= most; d++) {
          for (Op op : ops) check(op, {a, b}, {c, d});
        }
      }
    }
  }
}

TEST_F(BoundsOf, BitsAreExactAtTheCorners) {
  const UOp i = graph.range(0, 10, LoopKind::Parallel), v = graph.variable(0, -7, 5);
  expect(graph.alu(Op::And, {i + 32, graph.index(-8)}), 32, 40, 8);
  expect(graph.alu(Op::Or, {i * 8, graph.index(4)}), 4, 76, 4);
  expect(graph.alu(Op::Xor, {v, graph.index(1)}), -8, 5);
  expect(graph.alu(Op::And, {v, graph.index(-1)}), -7, 5);
}

TEST_F(BoundsOf, SizedIntegersThatMayWrapKnowOnlyTheirType) {
  const UOp i = cast(graph.range(0, 100, LoopKind::Parallel), DType::Int8);
  expect(i + 20, 20, 119);
  expect(i + i, -128, 127);
  expect(graph.alu(Op::And, {i, graph.constant(DType::Int8, i64{7})}), 0, 7);
  expect(graph.alu(Op::Shr, {i, graph.constant(DType::Int8, i64{3})}), 0, 12);
}

TEST_F(BoundsOf, WhereWithInvalidHasTheBoundsOfTheOtherArm) {
  const UOp i = graph.range(0, 10, LoopKind::Parallel);
  expect(where(less(i, 3), i, graph.invalid(DType::Index)), 0, 9);
}

}  // namespace
}  // namespace croze
