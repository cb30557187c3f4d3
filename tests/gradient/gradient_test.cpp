// Gradients against finite differences in double, op by op, through the reference evaluator.
#include "croze/graph/gradient/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "croze/graph/gradient/gradient_rules.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "support/reference.h"

namespace croze {
namespace {

using test::Reference;
using Function = UOp (*)(std::span<const UOp>);

struct Case {
  const char* name;
  std::vector<Dims> shapes;  // of the inputs
  Function f;
  double low = -2, high = 2;  // of the inputs' values
  bool twice = true;          // differentiate the gradient too
};

UOp all_summed(UOp x) {
  if (x.rank() == 0) return x;
  Dims axes;
  for (int i = 0; i < x.rank(); i++) axes.push_back(i);
  Graph& graph = x.graph();
  return graph.movement(Op::Reshape, graph.reduce_axes(Op::Add, x, axes), Dims{});
}

UOp move(Op op, UOp x, std::initializer_list<std::int64_t> arg) {
  return x.graph().movement(op, x, Dims(arg));
}

UOp reduce(Op op, UOp x, std::initializer_list<std::int64_t> axes) {
  return x.graph().reduce_axes(op, x, Dims(axes));
}

UOp call(Op op, UOp x) { return x.graph().alu(op, {x}); }
UOp call(Op op, UOp x, UOp y) { return x.graph().alu(op, {x, y}); }
UOp keep(Op op, UOp x) { return x.graph().make(op, x.dtype(), {x}); }

UOp number(UOp like, double value) { return like.graph().constant(like.dtype(), value); }

// Constant indices 2, 0, 2, 5 (out of range) for an axis of size 4 or less.
UOp some_indices(Graph& graph) {
  const UOp i = graph.iota(4);
  return i * 5 % 7 % 6 + -1;
}

// clang-format off
const Case cases[] = {
    {"neg", {{2, 3}}, [](std::span<const UOp> x) { return -x[0]; }},
    {"exp", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Exp, x[0]); }},
    {"exp2", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Exp2, x[0]); }},
    {"log", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Log, x[0]); }, 0.5, 3},
    {"log2", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Log2, x[0]); }, 0.5, 3},
    {"sin", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Sin, x[0]); }},
    {"cos", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Cos, x[0]); }},
    {"sqrt", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Sqrt, x[0]); }, 0.5, 3},
    {"reciprocal", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Reciprocal, x[0]); }, 0.5, 3},
    {"trunc", {{2, 3}}, [](std::span<const UOp> x) { return call(Op::Trunc, x[0]) * x[0]; }, 1.2, 1.8},
    {"add", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return x[0] + x[1]; }},
    {"mul", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return x[0] * x[1] * x[0]; }},
    {"div", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return x[0] / x[1]; }, 0.5, 3},
    {"max", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return max(x[0], x[1]); }},
    {"min", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return min(x[0], x[1]); }},
    {"pow", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return call(Op::Pow, x[0], x[1]); }, 0.5, 2},
    {"muladd", {{2, 3}, {2, 3}, {2, 3}}, [](std::span<const UOp> x) { return x[0].graph().alu(Op::MulAdd, {x[0], x[1], x[2]}); }},
    {"where", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) { return where(less(x[0], x[1]), x[0] * x[0], x[1]); }},
    {"a number beside a tensor", {{2, 3}, {}}, [](std::span<const UOp> x) { return x[0] * x[1] + number(x[0], 3); }},
    {"cast", {{2, 3}}, [](std::span<const UOp> x) { return cast(cast(x[0], DType::Float64) * x[0], DType::Float64); }},
    {"contiguous", {{2, 3}}, [](std::span<const UOp> x) { return keep(Op::Contiguous, keep(Op::ContiguousBackward, x[0] * x[0])); }},
    {"detach", {{2, 3}}, [](std::span<const UOp> x) { return x[0] + keep(Op::Detach, call(Op::Trunc, x[0])); }, 1.2, 1.8},

    {"reshape", {{2, 3}}, [](std::span<const UOp> x) { return move(Op::Reshape, x[0] * x[0], {3, 2}); }},
    {"expand", {{2, 1}}, [](std::span<const UOp> x) { return move(Op::Expand, x[0] * x[0], {2, 4}); }},
    {"permute", {{2, 3, 4}}, [](std::span<const UOp> x) { return move(Op::Permute, x[0] * x[0], {2, 0, 1}); }},
    {"flip", {{2, 3}}, [](std::span<const UOp> x) { return move(Op::Flip, x[0] * x[0], {0, 1}); }},
    {"pad", {{2, 3}}, [](std::span<const UOp> x) { return move(Op::Pad, x[0] * x[0], {1, 0, 2, 1}); }},
    {"shrink", {{4, 5}}, [](std::span<const UOp> x) { return move(Op::Shrink, x[0] * x[0], {1, 3, 0, 4}); }},
    {"window", {{2, 7}}, [](std::span<const UOp> x) { return move(Op::Window, x[0] * x[0], {1, 3, 2, 1}); }},
    {"dilated window", {{7, 2}}, [](std::span<const UOp> x) { return move(Op::Window, x[0] * x[0], {0, 3, 1, 2}); }},
    {"windows with gaps", {{2, 8}}, [](std::span<const UOp> x) { return move(Op::Window, x[0] * x[0], {1, 2, 3, 1}); }},
    {"unwindow", {{2, 3, 2}}, [](std::span<const UOp> x) { return move(Op::Unwindow, x[0] * x[0], {1, 7, 2, 1}); }},

    {"sum", {{2, 3, 2}}, [](std::span<const UOp> x) { return reduce(Op::Add, x[0] * x[0], {0, 2}); }},
    {"reduce max", {{2, 3, 2}}, [](std::span<const UOp> x) { return reduce(Op::Max, x[0] * x[0], {1}); }},
    {"reduce min", {{2, 3, 2}}, [](std::span<const UOp> x) { return reduce(Op::Min, x[0], {0, 1}); }},
    {"product", {{2, 3}}, [](std::span<const UOp> x) { return reduce(Op::Mul, x[0], {1}); }},
    {"gather", {{3, 4}}, [](std::span<const UOp> x) {
       Graph& graph = x[0].graph();
       const UOp i = some_indices(graph);
       return graph.make(Op::Gather, x[0].dtype(), {x[0] * x[0], i, graph.iota(4)}); }},
    {"scatter add", {{3}, {4}}, [](std::span<const UOp> x) {
       Graph& graph = x[0].graph();
       return graph.make(Op::Scatter, x[0].dtype(), {x[0] * x[0], x[1] * x[1], some_indices(graph)},
                         Arg(static_cast<std::int64_t>(Op::Add))); }},
    {"scatter", {{6}, {4}}, [](std::span<const UOp> x) {
       Graph& graph = x[0].graph();
       return graph.make(Op::Scatter, x[0].dtype(), {x[0] * x[0], x[1] * x[1], graph.iota(4) + 1}, Arg(0)); }},
    {"store of a whole", {{2, 3}, {2, 3}}, [](std::span<const UOp> x) {
       Graph& graph = x[0].graph();
       const UOp stores[] = {graph.store(x[0], x[1] * x[1])};
       return graph.after(x[0], stores) * x[1]; }},
    {"store of a part", {{3, 4}, {2, 2}}, [](std::span<const UOp> x) {
       Graph& graph = x[0].graph();
       const UOp base = x[0] * x[0];
       const UOp stores[] = {graph.store(move(Op::Flip, move(Op::Shrink, base, {1, 3, 1, 3}), {1, 0}), x[1] * x[1])};
       return graph.after(base, stores); }},
    {"softmax", {{2, 5}}, [](std::span<const UOp> x) {
       const UOp top = keep(Op::Detach, reduce(Op::Max, x[0], {1}));
       const UOp e = call(Op::Exp, x[0] - move(Op::Expand, top, {2, 5}));
       return e / move(Op::Expand, reduce(Op::Add, e, {1}), {2, 5}); }},
    {"matrix product", {{2, 3}, {3, 4}}, [](std::span<const UOp> x) {
       const UOp a = move(Op::Expand, move(Op::Reshape, x[0], {2, 1, 3}), {2, 4, 3});
       const UOp b = move(Op::Expand, move(Op::Reshape, move(Op::Permute, x[1], {1, 0}), {1, 4, 3}), {2, 4, 3});
       return reduce(Op::Add, a * b, {2}); }},
};
// clang-format on

struct Problem {
  Graph graph;
  Reference reference;
  std::vector<UOp> inputs;
  std::vector<std::vector<double>> values;
  std::mt19937 random{7};

  std::vector<double> draw(std::int64_t n, double low, double high) {
    std::vector<double> v;
    std::uniform_real_distribution<double> uniform(low, high);
    for (std::int64_t i = 0; i < n; i++) v.push_back(uniform(random));
    return v;
  }

  UOp input(const Dims& shape, double low, double high) {
    std::int64_t n = 1;
    for (std::int64_t s : shape) n *= s;
    const UOp buffer = graph.buffer(DType::Float64, static_cast<std::int64_t>(values.size()), n, 0);
    values.push_back(draw(n, low, high));
    reference.bind(buffer, values.back());
    return graph.movement(Op::Reshape, buffer, shape);
  }

  // A number that depends on every element of x differently.
  UOp weighted(UOp x) {
    const std::size_t before = values.size();
    const UOp weights = input(Dims(x.shape()), 0.5, 1.5);
    weight_inputs.push_back(before);
    return all_summed(x * weights);
  }
  std::vector<std::size_t> weight_inputs;

  double value(UOp loss) { return reference.evaluate(loss).numbers()[0]; }

  // Compares the gradient of `loss` by each input with differences.
  void check(UOp loss, double tolerance) {
    const std::vector<UOp> gradients = gradient(loss, inputs);
    for (std::size_t i = 0; i < inputs.size(); i++) {
      ASSERT_TRUE(std::ranges::equal(gradients[i].shape(), inputs[i].shape()));
      ASSERT_EQ(gradients[i].dtype(), inputs[i].dtype());
      const std::vector<double> got = reference.evaluate(gradients[i]).numbers();
      for (std::size_t k = 0; k < got.size(); k++) {
        EXPECT_NEAR(got[k], difference(loss, i, k), tolerance) << "input " << i << " element " << k;
      }
    }
  }

  double difference(UOp loss, std::size_t i, std::size_t k) {
    constexpr double step = 1e-5;
    const UOp buffer = inputs[i].src(0);
    const double before = values[i][k];
    double sides[2];
    for (int side = 0; side < 2; side++) {
      values[i][k] = before + (side == 0 ? step : -step);
      reference.bind(buffer, values[i]);
      sides[side] = value(loss);
    }
    values[i][k] = before;
    reference.bind(buffer, values[i]);
    return (sides[0] - sides[1]) / (2 * step);
  }
};

class EachOp : public testing::TestWithParam<Case> {};

TEST_P(EachOp, HasTheGradientOfFiniteDifferences) {
  const Case& c = GetParam();
  Problem problem;
  for (const Dims& shape : c.shapes) problem.inputs.push_back(problem.input(shape, c.low, c.high));
  problem.check(problem.weighted(c.f(problem.inputs)), 1e-7);
}

TEST_P(EachOp, HasTheSecondGradientOfFiniteDifferences) {
  const Case& c = GetParam();
  Problem problem;
  for (const Dims& shape : c.shapes) problem.inputs.push_back(problem.input(shape, c.low, c.high));
  const UOp loss = problem.weighted(c.f(problem.inputs));
  UOp second;
  for (UOp g : gradient(loss, problem.inputs)) {
    const UOp part = problem.weighted(g);
    second = second ? second + part : part;
  }
  problem.check(second, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Gradient, EachOp, testing::ValuesIn(cases), [](const auto& test) {
  std::string name = test.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

TEST(Gradient, EveryElementwiseFloatOpHasARule) {
  for (int i = 0; i < num_ops; i++) {
    const Op op = static_cast<Op>(i);
    const bool smooth = is_elementwise(op) && info(op).arity > 0 && !is_comparison(op) &&
                        !has_trait(op, trait_integer_only);
    if (!smooth || op == Op::Cast || op == Op::Bitcast || op == Op::Trunc) continue;
    if (op == Op::Scale) continue;  // of programs
    EXPECT_TRUE(std::ranges::any_of(gradient_rules(), [&](const GradientRule& r) {
      return r.op() == op;
    })) << info(op).name;
  }
}

TEST(Gradient, EqualExtremesShare) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 4, 0);
  reference.bind(x, {1, 3, 3, 2});
  const UOp targets[] = {x};
  EXPECT_EQ(reference.evaluate(gradient(all_summed(reduce(Op::Max, x, {0})), targets)[0]).numbers(),
            (std::vector<double>{0, 0.5, 0.5, 0}));
  EXPECT_EQ(reference.evaluate(gradient(all_summed(max(x, number(x, 3))), targets)[0]).numbers(),
            (std::vector<double>{0, 0.5, 0.5, 0}));
}

TEST(Gradient, AProductWithZerosIsDifferentiatedExactly) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 6, 0);
  reference.bind(x, {2, 0, 3, 0, 0, 5});
  const UOp rows = move(Op::Reshape, x, {2, 3});
  const UOp targets[] = {x};
  EXPECT_EQ(
      reference.evaluate(gradient(all_summed(reduce(Op::Mul, rows, {1})), targets)[0]).numbers(),
      (std::vector<double>{0, 6, 0, 0, 0, 0}));
}

TEST(Gradient, APowerWithConstantExponentHasNoNan) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 3, 0), y = graph.buffer(DType::Float64, 1, 3, 0);
  reference.bind(x, {0, 0, 2});
  reference.bind(y, {2, 0, 0});
  const UOp targets[] = {x, y};
  const auto gradients = gradient(all_summed(call(Op::Pow, x, y)), targets);
  EXPECT_EQ(reference.evaluate(gradients[0]).numbers(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(reference.evaluate(gradients[1]).numbers(), (std::vector<double>{0, 0, std::log(2)}));
}

TEST(Gradient, DetachStopsIt) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 3, 0);
  reference.bind(x, {1, 2, 3});
  const UOp targets[] = {x};
  const UOp loss = all_summed(x * keep(Op::Detach, x * x));
  EXPECT_EQ(reference.evaluate(gradient(loss, targets)[0]).numbers(),
            (std::vector<double>{1, 4, 9}));
}

TEST(Gradient, WeightsEachRoot) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 2, 0), w = graph.buffer(DType::Float64, 1, 2, 0);
  reference.bind(x, {2, 3});
  reference.bind(w, {10, 100});
  const UOp roots[] = {x * x, x}, weights[] = {w, x}, targets[] = {x};
  EXPECT_EQ(reference.evaluate(gradient(roots, weights, targets)[0]).numbers(),
            (std::vector<double>{42, 603}));
}

TEST(Gradient, EndsAtAGivenOneWhichIsATargetLikeOthers) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 2, 0);
  reference.bind(x, {2, 3});
  const std::int64_t arg[] = {0, 0};
  const UOp sources[] = {keep(Op::Detach, x * number(x, 2)), x};
  const UOp given = graph.make(Op::WithGradient, x.dtype(), sources, Arg(std::span(arg)));
  const UOp targets[] = {x, given};
  const auto gradients = gradient(all_summed(given * number(x, 5) + x), targets);
  EXPECT_EQ(reference.evaluate(gradients[0]).numbers(), (std::vector<double>{1, 1}));
  EXPECT_EQ(reference.evaluate(gradients[1]).numbers(), (std::vector<double>{5, 5}));
}

TEST(Gradient, ATargetThatIsNotReachedGetsZeros) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 3, 0), y = graph.buffer(DType::Float32, 1, 2, 0);
  const UOp targets[] = {y};
  const UOp g = gradient(all_summed(x), targets)[0];
  EXPECT_EQ(g.dtype(), DType::Float32);
  EXPECT_EQ(reference.evaluate(g).numbers(), (std::vector<double>{0, 0}));
}

TEST(Gradient, IntegersEndIt) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 2, 0);
  reference.bind(x, {1.5, 2.5});
  const UOp targets[] = {x};
  const UOp rounded = cast(cast(x, DType::Int32), DType::Float64);
  EXPECT_EQ(reference.evaluate(gradient(all_summed(rounded * x), targets)[0]).numbers(),
            (std::vector<double>{1, 2}));
}

TEST(Gradient, IntermediateValuesCanBeTargets) {
  Graph graph;
  Reference reference;
  const UOp x = graph.buffer(DType::Float64, 0, 2, 0);
  reference.bind(x, {3, 5});
  const UOp square = x * x;
  const UOp targets[] = {square, x};
  const auto gradients = gradient(all_summed(square * square), targets);
  EXPECT_EQ(reference.evaluate(gradients[0]).numbers(), (std::vector<double>{18, 50}));
  EXPECT_EQ(reference.evaluate(gradients[1]).numbers(), (std::vector<double>{108, 500}));
}

// A magnitude and a sigmoid are differentiated whole, but not past a target inside of them.
TEST(Gradient, PartsOfAFormCanBeTargets) {
  Graph graph;
  const UOp x = graph.buffer(DType::Float64, 1, 2, 0), zero = graph.constant(DType::Float64, 0.0);
  const UOp negative = less(x, zero), opposite = -x, magnitude = where(negative, opposite, x);
  const UOp e = call(Op::Exp, -magnitude), chosen = where(negative, e, number(x, 1));
  const UOp sum = e + 1, sigmoid = chosen / sum;
  Reference reference;
  reference.bind(x, {-2, 3});
  const auto expect = [&](UOp of, UOp by, std::initializer_list<double> expected) {
    const UOp g = gradient(all_summed(of), std::vector<UOp>{by})[0];
    const std::vector<double> got = reference.evaluate(g).numbers();
    std::size_t i = 0;
    for (double value : expected) EXPECT_NEAR(got[i++], value, 1e-12);
  };
  const double e0 = std::exp(-2.0), e1 = std::exp(-3.0);
  expect(magnitude, x, {-1, 1});
  expect(magnitude, opposite, {1, 0});
  expect(sigmoid, x, {e0 / ((1 + e0) * (1 + e0)), e1 / ((1 + e1) * (1 + e1))});
  expect(sigmoid, e, {1 / ((1 + e0) * (1 + e0)), -1 / ((1 + e1) * (1 + e1))});
  expect(sigmoid, magnitude, {-e0 / ((1 + e0) * (1 + e0)), e1 / ((1 + e1) * (1 + e1))});
  expect(sigmoid, chosen, {1 / (1 + e0), 1 / (1 + e1)});
  expect(sigmoid, sum, {-e0 / ((1 + e0) * (1 + e0)), -1 / ((1 + e1) * (1 + e1))});
}

// 2 + 3x - x^2 + 4x^3 by Horner's rule, the number at the second power in the shape of x.
TEST(Gradient, OfAPolynomialIsOneThatIsATermShorter) {
  Graph graph;
  const UOp x = graph.buffer(DType::Float64, 1, 2, 0);
  const auto step = [&](UOp sum, UOp c) { return graph.alu(Op::MulAdd, {sum, x, c}); };
  const UOp filled = move(Op::Expand, move(Op::Reshape, number(x, -1), {1}), {2});
  const UOp inner = step(number(x, 4), filled);
  const UOp y = step(step(inner, number(x, 3)), number(x, 2));
  Reference reference;
  reference.bind(x, {-2, 3});
  const auto values_of = [&](UOp by) {
    return reference.evaluate(gradient(all_summed(y), std::vector<UOp>{by})[0]).numbers();
  };
  EXPECT_EQ(values_of(x), (std::vector<double>{3 + 4 + 48, 3 - 6 + 108}));
  EXPECT_EQ(values_of(inner), (std::vector<double>{4, 9}));
  const UOp slope = gradient(all_summed(y), std::vector<UOp>{x})[0];
  const auto nodes = toposort(slope);
  EXPECT_EQ(std::ranges::count(nodes, Op::MulAdd, &UOp::op), 2);
}

TEST(Gradient, HalfSumsAccumulateInFloat32) {
  Graph graph;
  const UOp x = graph.buffer(DType::Float16, 0, 1, 0);
  const UOp targets[] = {x};
  const UOp wide = cast(move(Op::Expand, x, {4096}), DType::Float32);
  const UOp g = gradient(all_summed(wide), targets)[0];
  for (UOp u : toposort(g)) {
    if (!u.is(Op::Reduce)) continue;
    EXPECT_EQ(u.dtype(), DType::Float32);
  }
}

TEST(Gradient, AMillionOperationsDeep) {
  Graph graph;
  const UOp x = graph.buffer(DType::Float32, 0, 1, 0);
  UOp y = x;
  for (int i = 0; i < 1'000'000; i++) y = call(Op::Sin, y);
  const UOp targets[] = {x};
  const UOp g = gradient(all_summed(y), targets)[0];
  EXPECT_EQ(g.elements(), 1);
}

}  // namespace
}  // namespace croze
