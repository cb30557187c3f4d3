// decompose_float_test.cpp -- transcendental functions against the C library in long double.
#include <cmath>
#include <limits>
#include <random>

#include "codegen/decompose_support.h"

namespace croze {
namespace {

using Real = long double;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Format {
  int precision, min_exponent;
  Real greatest, least;  // finite and positive
};
Format format_of(DType t) {
  if (t == DType::Float32) return {24, -125, 0x1.fffffep127L, 0x1p-149L};
  return {53, -1021, 0x1.fffffffffffffp1023L, 0x1p-1074L};
}

// The distance of `value` from the truth in units of the last place that the truth has as a normal
// number of type t (of the least denormal, where it is none).
Real ulps(double value, Real truth, DType t) {
  const Format f = format_of(t);
  int exponent;
  std::frexp(truth, &exponent);
  return std::fabs(value - truth) /
         std::ldexp(Real{1}, std::max(exponent, f.min_exponent) - f.precision);
}

// Whether `value` is right to `most` ulps; results that are no numbers, zeros and infinities are
// right only as they are.
bool is_right(double value, Real truth, DType t, Real most) {
  const Format f = format_of(t);
  if (std::isnan(truth)) return std::isnan(value);
  if (std::isinf(truth) || truth == 0) {
    return static_cast<Real>(value) == truth && std::signbit(value) == std::signbit(truth);
  }
  if (std::signbit(value) != std::signbit(truth)) return false;
  if (std::isinf(value)) return std::fabs(truth) > f.greatest;
  return ulps(value, truth, t) <= most;
}

std::vector<double> edges(DType t) {
  const Format f = format_of(t);
  const double least_normal = static_cast<double>(std::ldexp(Real{1}, f.min_exponent - 1));
  std::vector<double> result = {0,
                                0.5,
                                1,
                                2,
                                3,
                                0.75,
                                0.785398163397448,
                                1.5707963267948966,
                                100,
                                127,
                                128,
                                149,
                                150,
                                151,
                                88.72283,
                                103.97,
                                104,
                                709,
                                1022,
                                1024,
                                745.2,
                                1074.5,
                                1e10,
                                33554431,
                                16777216,
                                1e22,
                                infinity,
                                nan,
                                least_normal,
                                0x1p-24,
                                0x1p-53,
                                static_cast<double>(f.greatest),
                                static_cast<double>(f.least)};
  for (double v : std::vector<double>(result)) {
    for (double beside : {v * (1 + 0x1p-23), v * (1 - 0x1p-24), v * (1 + 0x1p-52)}) {
      result.push_back(beside);
    }
  }
  for (double v : std::vector<double>(result)) result.push_back(-v);
  for (double& v : result) v = std::bit_cast<double>(bits_of(v, t));
  return result;
}

// Edge values, all exponents and signs evenly, and the range where most work is done.
std::vector<double> samples(DType t, int count) {
  std::vector<double> result = edges(t);
  std::mt19937_64 random(42);
  for (int i = 0; i < count; i++) {
    const std::uint64_t raw = random();
    result.push_back(std::bit_cast<double>(load_bits(&raw, t)));
    const double small = std::ldexp(static_cast<double>(random()), -64);
    result.push_back(std::bit_cast<double>(bits_of((small - 0.5) * 300, t)));
    result.push_back(std::bit_cast<double>(bits_of(small * 2, t)));
  }
  return result;
}

struct Function {
  Op op;
  Real (*truth)(Real);
};

class Transcendental : public testing::TestWithParam<Function> {};

void compare_unary(const Function& f, DType t, const Caps& caps, int count, Real most) {
  Graph graph;
  const UOp x = unknown(graph, t);
  const UOp expression = decompose(graph.alu(f.op, {x}), caps);
  expect_legal(expression, caps);
  const UOp leaves[] = {x};
  Evaluator evaluate(expression, leaves);
  for (double v : samples(t, count)) {
    const double value = std::bit_cast<double>(evaluate({std::bit_cast<std::int64_t>(v)}));
    ASSERT_TRUE(is_right(value, f.truth(static_cast<Real>(v)), t, most))
        << info(f.op).name << " of " << v << " is " << value;
  }
}

TEST_P(Transcendental, IsWithinOneUlpInFloat32) {
  compare_unary(GetParam(), DType::Float32, processor(), 30000, 1);
}

TEST_P(Transcendental, IsWithinOneUlpInFloat64) {
  compare_unary(GetParam(), DType::Float64, processor(), 5000, 1);
}

TEST_P(Transcendental, StaysCloseWithoutMulAdd) {
  compare_unary(GetParam(), DType::Float32, without_op(processor(), Op::MulAdd), 3000, 2);
}

TEST_P(Transcendental, OfFloat16IsRoundedFromFloat32) {
  const Function f = GetParam();
  const Caps caps = without_dtype(processor(), DType::Float16);
  Graph graph;
  const UOp h = unknown(graph, DType::Float16);
  const UOp root = decompose(graph.alu(f.op, {h}), caps);
  expect_legal(root, caps);
  const UOp leaves[] = {unknown(graph, DType::UInt16)};
  Evaluator evaluate(root, leaves);
  for (std::int64_t bits = 0; bits < 65536; bits += 7) {
    const std::uint16_t raw = static_cast<std::uint16_t>(bits);
    const double v = std::bit_cast<double>(load_bits(&raw, DType::Float16));
    const double value = std::bit_cast<double>(evaluate({bits}));
    const double truth = static_cast<double>(f.truth(static_cast<Real>(v)));
    const double rounded = std::bit_cast<double>(bits_of(truth, DType::Float16));
    if (std::isnan(rounded)) {
      ASSERT_TRUE(std::isnan(value)) << v;
    } else if (std::fabs(rounded) < 65504 && value != rounded) {  // may be rounded twice
      ASSERT_LE(std::fabs(value - truth), 0.501 * std::fabs(rounded - value)) << v;
    }
  }
}

const Function functions[] = {{Op::Exp, std::exp},   {Op::Exp2, std::exp2}, {Op::Log, std::log},
                              {Op::Log2, std::log2}, {Op::Sin, std::sin},   {Op::Cos, std::cos}};
INSTANTIATE_TEST_SUITE_P(All, Transcendental, testing::ValuesIn(functions), [](const auto& param) {
  return std::string(croze::info(param.param.op).name);
});

TEST(Decompose, ExponentialsAreScaledInOneStepWhereTheDeviceHasIt) {
  Caps scaling = processor();
  scaling.ops |= set_of({Op::Scale});
  const Function exponentials[] = {{Op::Exp, std::exp}, {Op::Exp2, std::exp2}};
  for (DType t : {DType::Float32, DType::Float64}) {
    for (const Function& f : exponentials) {
      Graph graph;
      const UOp x = unknown(graph, t), leaves[] = {x}, function = graph.alu(f.op, {x});
      const UOp expanded = decompose(function, scaling);
      expect_legal(expanded, scaling);
      EXPECT_LT(std::ssize(toposort(expanded)),
                std::ssize(toposort(decompose(function, processor()))));
      Evaluator evaluate(expanded, leaves);
      for (double v : samples(t, 2000)) {
        const double value = std::bit_cast<double>(evaluate({std::bit_cast<std::int64_t>(v)}));
        ASSERT_TRUE(is_right(value, f.truth(static_cast<Real>(v)), t, 1))
            << v << " gives " << value;
      }
    }
  }
}

// exp(-|y|) as sigmoids have it: there is no need to look at its sign again.
UOp exp_of_opposite_magnitude(UOp y, UOp opposite) {
  const UOp negative = less(y, y.graph().constant(y.dtype(), 0.0));
  return y.graph().alu(Op::Exp, {-where(negative, opposite, y)});
}

TEST(Decompose, ExponentialsOfOppositeMagnitudesAreWithinOneUlp) {
  for (DType t : {DType::Float32, DType::Float64}) {
    Graph graph;
    const UOp x = unknown(graph, t), half = graph.constant(t, 0.5);
    const UOp leaves[] = {x};
    const UOp expressions[] = {exp_of_opposite_magnitude(x, -x),
                               exp_of_opposite_magnitude(x * half, x * -half)};
    const UOp any = decompose(graph.alu(Op::Exp, {x}), processor());
    const double scales[] = {1, 0.5};
    for (int i = 0; i < 2; i++) {
      const UOp expanded = decompose(expressions[i], processor());
      expect_legal(expanded, processor());
      EXPECT_LT(std::ssize(toposort(expanded)), std::ssize(toposort(any)) + i);
      Evaluator evaluate(expanded, leaves);
      for (double v : samples(t, 2000)) {
        const double value = std::bit_cast<double>(evaluate({std::bit_cast<std::int64_t>(v)}));
        const Real scaled = static_cast<Real>(std::bit_cast<double>(bits_of(v * scales[i], t)));
        ASSERT_TRUE(is_right(value, std::exp(-std::fabs(scaled)), t, 1)) << v << " gives " << value;
      }
    }
  }
}

// Of an integer of 24 bits: no infinity, no NaN, no denormal, and no argument that is large.
TEST(Decompose, FunctionsOfBoundedNumbersChooseNothingAndAreWithinOneUlp) {
  for (DType t : {DType::Float32, DType::Float64}) {
    Graph graph;
    const UOp word = unknown(graph, DType::UInt32), leaves[] = {word};
    const UOp u =
        cast(graph.alu(Op::Shr, {word, graph.constant(DType::UInt32, std::int64_t{8})}), t) *
        graph.constant(t, 0x1p-24);
    const UOp rest = graph.constant(t, 1.0) + -u, angle = u * graph.constant(t, 6.25);
    const Function of_rest{Op::Log, std::log},
        of_angle[] = {{Op::Sin, std::sin}, {Op::Cos, std::cos}};
    const auto compare = [&](const Function& f, UOp x, auto argument) {
      const UOp expanded = decompose(graph.alu(f.op, {x}), processor());
      expect_legal(expanded, processor());
      EXPECT_LE(std::ranges::count_if(toposort(expanded), [](UOp n) { return n.is(Op::Where); }),
                f.op == Op::Log ? 0 : 1);
      Evaluator evaluate(expanded, leaves);
      for (std::int64_t w = 0; w < std::int64_t{1} << 32; w += 1299721) {
        const double value = std::bit_cast<double>(evaluate({w}));
        const Real x_there = argument(std::ldexp(static_cast<double>(w >> 8), -24));
        ASSERT_TRUE(is_right(value, f.truth(x_there), t, 1)) << info(f.op).name << " of word " << w;
      }
    };
    compare(of_rest, rest, [](double v) { return static_cast<Real>(1 - v); });
    for (const Function& f : of_angle) {
      compare(f, angle, [&](double v) {
        return static_cast<Real>(std::bit_cast<double>(bits_of(v * 6.25, t)));
      });
    }
  }
}

// Arguments whose bounds are seen need not be held against those of the exponential.
std::vector<UOp> bounded_arguments(UOp x) {
  Graph& g = x.graph();
  const auto number = [&](double v) { return g.constant(x.dtype(), v); };
  const auto at_least = [&](UOp y, double lo) { return where(less(y, number(lo)), number(lo), y); };
  const auto at_most = [&](UOp y, double hi) { return where(less(number(hi), y), number(hi), y); };
  const UOp size = at_most(where(less(x, number(0)), -x, x), 6);
  UOp sum = number(0.0008);
  for (double c : {-0.0067, 0.038, -0.16, -0.91, -1.63, 0.0004}) {
    sum = g.alu(Op::MulAdd, {sum, size, number(c)});
  }
  return {-(x * x),
          x * x * number(-0.5),
          x * x * number(3),
          at_most(x, 0),
          at_most(at_least(x, -80), 80),
          at_least(x, -3),
          size,
          sum};
}

TEST(Decompose, ExponentialsOfBoundedArgumentsAreShorterAndWithinOneUlp) {
  for (DType t : {DType::Float32, DType::Float64}) {
    Graph graph;
    const UOp x = unknown(graph, t);
    const UOp leaves[] = {x};
    for (Op op : {Op::Exp, Op::Exp2}) {
      const auto length = [&](UOp u) { return std::ssize(toposort(decompose(u, processor()))); };
      const std::ptrdiff_t any = length(graph.alu(op, {x})) - length(x);
      for (UOp argument : bounded_arguments(x)) {
        const UOp expanded = decompose(graph.alu(op, {argument}), processor());
        EXPECT_LT(std::ssize(toposort(expanded)) - length(argument), any);
        Evaluator evaluate(expanded, leaves);
        Evaluator evaluate_argument(decompose(argument, processor()), leaves);
        for (double v : samples(t, 2000)) {
          const auto of = [&](Evaluator& e) {
            return std::bit_cast<double>(e({std::bit_cast<std::int64_t>(v)}));
          };
          const Real at = static_cast<Real>(of(evaluate_argument));
          const Real truth = op == Op::Exp ? std::exp(at) : std::exp2(at);
          ASSERT_TRUE(is_right(of(evaluate), truth, t, 1)) << info(op).name << " of " << v;
        }
      }
    }
  }
}

void compare_pow(DType t, int count) {
  Graph graph;
  const UOp x = unknown(graph, t, 0), y = unknown(graph, t, 1);
  const UOp root = decompose(graph.alu(Op::Pow, {x, y}), processor());
  expect_legal(root, processor());
  const UOp leaves[] = {x, y};
  Evaluator evaluate(root, leaves);
  auto compare = [&](double a, double b) {
    const double value = std::bit_cast<double>(
        evaluate({std::bit_cast<std::int64_t>(a), std::bit_cast<std::int64_t>(b)}));
    ASSERT_TRUE(is_right(value, std::pow(static_cast<Real>(a), static_cast<Real>(b)), t, 1))
        << a << " to the power " << b << " is " << value;
  };
  const std::vector<double> special = edges(t);
  for (double a : special) {
    for (double b : special) compare(a, b);
  }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  const double log_range = t == DType::Float32 ? 103 : 744;
  auto round = [&](double v) { return std::bit_cast<double>(bits_of(v, t)); };
  for (int i = 0; i < count; i++) {
    compare(round(unit(random) * 4), round(unit(random) * 200 - 100));
    compare(round(-unit(random) * 4), std::floor(unit(random) * 200 - 100));
    const double near_one =
        round(1 + std::ldexp(unit(random) - 0.5, -static_cast<int>(random() % 20)));
    compare(near_one, round((2 * unit(random) - 1) * log_range / std::log(near_one)));
  }
}

TEST(Pow, IsWithinOneUlpInFloat32) { compare_pow(DType::Float32, 5000); }
TEST(Pow, IsWithinOneUlpInFloat64) { compare_pow(DType::Float64, 2000); }

TEST(Decompose, RootsAreExactOnADeviceWithoutThem) {
  const Function root{Op::Sqrt, std::sqrt}, trunc{Op::Trunc, std::trunc};
  for (DType t : {DType::Float32, DType::Float64}) {
    compare_unary(root, t, without_op(processor(), Op::Sqrt), 3000, 0.5);
    compare_unary(trunc, t, without_op(processor(), Op::Trunc), 3000, 0);
  }
}

// Scaling by powers of 4 is exact, so these stand for all normal numbers.
TEST(DecomposeLong, RootsOfAllMantissasAreExact) {
  Graph graph;
  const UOp x = unknown(graph, DType::Float32);
  const UOp leaves[] = {x};
  Evaluator evaluate(decompose(graph.alu(Op::Sqrt, {x}), without_op(processor(), Op::Sqrt)),
                     leaves);
  for (std::uint32_t bits = std::bit_cast<std::uint32_t>(1.0f);
       bits < std::bit_cast<std::uint32_t>(4.0f); bits++) {
    const float v = std::bit_cast<float>(bits);
    const double value =
        std::bit_cast<double>(evaluate({std::bit_cast<std::int64_t>(static_cast<double>(v))}));
    ASSERT_EQ(value, static_cast<double>(std::sqrt(v))) << v;
  }
}

TEST(DecomposeLong, PowersOfManyNumbersAreWithinOneUlp) {
  compare_pow(DType::Float32, 500'000);
  compare_pow(DType::Float64, 200'000);
}

TEST(Decompose, ExponentialsAndLogarithmsAreShort) {
  for (Op op : {Op::Exp, Op::Exp2, Op::Log, Op::Log2}) {
    Graph graph;
    const UOp x = unknown(graph, DType::Float32);
    const UOp leaves[] = {x};
    EXPECT_LE(Evaluator(decompose(graph.alu(op, {x}), processor()), leaves).size(), 32u)
        << info(op).name;
  }
}

TEST(Decompose, MaximumIsThatOfTheInterpreterOnADeviceWithoutIt) {
  for (Op op : {Op::Max, Op::Min}) {
    Graph graph;
    const UOp x = unknown(graph, DType::Float32, 0), y = unknown(graph, DType::Float32, 1);
    const UOp leaves[] = {x, y};
    Evaluator evaluate(decompose(graph.alu(op, {x, y}), without_op(processor(), op)), leaves);
    auto of = [&](double a, double b) {
      return std::bit_cast<double>(
          evaluate({std::bit_cast<std::int64_t>(a), std::bit_cast<std::int64_t>(b)}));
    };
    EXPECT_TRUE(std::isnan(of(nan, 1)));
    EXPECT_TRUE(std::isnan(of(1, nan)));
    EXPECT_EQ(of(-3, infinity), op == Op::Max ? infinity : -3);
    EXPECT_EQ(of(2, -3), op == Op::Max ? 2 : -3);
    EXPECT_EQ(of(3, 3), 3);
    EXPECT_EQ(std::signbit(of(0.0, -0.0)), op == Op::Min);
    EXPECT_EQ(std::signbit(of(-0.0, 0.0)), op == Op::Min);
    EXPECT_TRUE(std::signbit(of(-0.0, -0.0)));
  }
}

}  // namespace
}  // namespace croze
