// numbers_test.cpp -- which numbers of a graph are told apart from its form.
#include "croze/schedule/numbers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "croze/graph/rewrite/rewrite.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

constexpr DType f32 = DType::Float32;

class Numbers : public testing::Test {
 protected:
  UOp number(double value) { return s.graph.constant(f32, value); }
  UOp everywhere(double value, std::int64_t size) {
    return s.expand(s.reshape(number(value), {1}), {size});
  }
  UOp apply(Op op, UOp u) { return s.graph.make(op, u.dtype(), {u}); }
  static GraphForm form(const std::vector<UOp>& roots) { return form_of(canonical_graph(roots)); }
  static std::vector<double> values(const GraphForm& form) {
    std::vector<double> result;
    for (const FormNumber& n : form.numbers) result.push_back(Arg(n.bits).as_double());
    return result;
  }
  bool is_folded(UOp root) { return form({root}).numbers.at(0).is_folded; }
  UOp sum(UOp u) { return s.reduce(Op::Add, u, {0}); }

  Scheduled s;
  UOp x = s.buffer({6}), y = s.buffer({6});
};

using Values = std::vector<double>;

TEST_F(Numbers, GraphsThatDifferInNumbersHaveOneForm) {
  const GraphForm a = form({x * number(3) + y * number(7)});
  const GraphForm b = form({x * number(0.1) + y * number(0.1)});
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(values(a), (Values{3, 7}));
  EXPECT_EQ(values(b), (Values{0.1F, 0.1F}));
  EXPECT_NE(a.key, form({x * number(3) + x * number(7)}).key);
}

TEST_F(Numbers, TheOrderOfOperandsDoesNotDependOnThem) {
  const auto mixed = [&](double a) {
    const UOp u = x * number(a) + y * number(1 - a);
    return form({u, x * u}).key;
  };
  for (int i = 1; i < 40; i++) EXPECT_EQ(mixed(0.01 * i), mixed(0.5 + 0.01 * i));
}

TEST_F(Numbers, WhatFollowsFromNumbersAloneIsANumber) {
  const UOp g = s.graph.alu(Op::Mul, {everywhere(3, 6), apply(Op::Detach, everywhere(5, 6))});
  EXPECT_EQ(values(form({x * apply(Op::Exp, g)})), Values{static_cast<float>(std::exp(15.0))});
}

TEST_F(Numbers, PositionsMasksAndIndicesKeepTheirs) {
  const UOp position = s.graph.cast(s.graph.iota(6), DType::Int32);
  const UOp row = s.buffer({0, 1, 2, 2, 1, 0}, {6}, DType::Int32);
  const auto none = [&](UOp u) { EXPECT_EQ(values(form({u})), Values{}); };
  none(where(less(position, s.graph.constant(DType::Int32, std::int64_t{4})), x, y));
  none(s.graph.make(Op::Gather, f32, {x, row + 3}));
  none(apply(Op::Exp, s.graph.cast(position, f32) * number(0.3)));
  EXPECT_EQ(form({row + 3}).numbers.size(), 1u);
  EXPECT_EQ(values(form({x + s.graph.cast(position, f32) * number(0.5)})), Values{0.5});
}

TEST_F(Numbers, AreFoldedWhereASumIsRoundedOnceLessWithoutThem) {
  const UOp product = x * y;
  EXPECT_TRUE(is_folded(sum(product * number(1))));
  EXPECT_TRUE(is_folded(sum(-(product * number(-1)))));
  EXPECT_TRUE(is_folded(sum(where(less(x, y), product, number(0)))));
  EXPECT_FALSE(is_folded(sum(product * number(2))));
  EXPECT_FALSE(is_folded(product * number(1)));
  EXPECT_FALSE(is_folded(sum(apply(Op::Exp, product * number(1)))));
  EXPECT_FALSE(is_folded(sum(x * y * (y + number(1)))));
}

TEST_F(Numbers, RootsThatComeToTheSameStayTwo) {
  const UOp two = everywhere(2, 6), detached = apply(Op::Detach, two);
  const CanonicalGraph graph = canonical_graph(std::vector{two, detached, x * two, x * detached});
  const GraphForm form = form_of(graph);
  const CanonicalGraph folded = with_numbers_passed(form, std::vector(4, -1), graph.inputs);
  for (const std::vector<UOp>& roots : {form.roots, folded.roots}) {
    for (std::size_t i = 0; i < 4; i++) {
      EXPECT_EQ(std::ranges::count(roots, roots[i]), 1) << "root " << i;
    }
  }
}

TEST_F(Numbers, ArePassedOrConstantsAsAsked) {
  const CanonicalGraph graph = canonical_graph(std::vector{(x * number(3)) * number(4)});
  const GraphForm form = form_of(graph);
  const CanonicalGraph mixed = with_numbers_passed(form, std::vector{-1, 0}, graph.inputs);
  EXPECT_EQ(mixed.inputs, graph.inputs);
  const UOp root = mixed.roots[0];
  EXPECT_EQ(root.src(1), mixed.graph->number(f32, 0));
  EXPECT_TRUE(root.src(0).src(1).is_const(3));
}

}  // namespace
}  // namespace croze::test
