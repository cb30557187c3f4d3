// decompose_integer_test.cpp -- integer division, shifts, Bool arithmetic and random numbers.
#include <random>

#include "codegen/decompose_support.h"

namespace croze {
namespace {

using Wide = __int128;

Wide number(std::int64_t bits, DType t) {
  return t == DType::UInt64 ? static_cast<Wide>(static_cast<std::uint64_t>(bits)) : bits;
}

// The documented results, in wide arithmetic.
Wide truth(Op op, Wide x, Wide d, DType t) {
  if (op == Op::Shl || op == Op::Shr) {
    const Wide width = 8 * size_of(t);
    const bool all = d < 0 || d >= width;
    if (op == Op::Shl) return all ? 0 : x << static_cast<int>(d);
    return all ? (x < 0 ? -1 : 0) : x >> static_cast<int>(d);
  }
  if (d == 0) return op == Op::IDiv || op == Op::CDiv ? 0 : x;
  Wide q = x / d;
  if ((op == Op::IDiv || op == Op::Mod) && q * d != x && (x < 0) != (d < 0)) q--;
  return op == Op::IDiv || op == Op::CDiv ? q : x - q * d;
}

bool same_bits(std::int64_t value, Wide expected, DType t) {
  return value == bits_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(expected)), t);
}

std::string text(Op op, std::int64_t x, std::int64_t d, DType t) {
  return std::string(info(op).name) + " of " + std::to_string(x) + " and " + std::to_string(d) +
         " as " + std::string(name_of(t));
}

constexpr Op integer_ops[] = {Op::IDiv, Op::Mod, Op::CDiv, Op::CMod, Op::Shl, Op::Shr};

std::vector<std::int64_t> edges(DType t) {
  std::vector<std::int64_t> result;
  std::mt19937_64 random(3);
  for (std::int64_t v : {min_value(t), min_value(t) + 1, max_value(t), max_value(t) - 1}) {
    result.push_back(v);
  }
  for (std::int64_t v = -9; v < 70; v++) result.push_back(bits_of(v, t));
  for (int i = 0; i < 60; i++) {
    result.push_back(bits_of(static_cast<std::int64_t>(random() >> (random() % 64)), t));
    result.push_back(bits_of(-static_cast<std::int64_t>(random() >> (1 + random() % 63)), t));
  }
  return result;
}

TEST(DecomposeInteger, AllPairsOf8BitNumbers) {
  for (DType t : {DType::Int8, DType::UInt8}) {
    Graph graph;
    const UOp x = unknown(graph, t, 0), d = unknown(graph, t, 1);
    const UOp leaves[] = {x, d};
    for (Op op : integer_ops) {
      const UOp root = decompose(graph.alu(op, {x, d}), processor());
      expect_legal(root, processor());
      Evaluator evaluate(root, leaves);
      for (std::int64_t a = min_value(t); a <= max_value(t); a++) {
        for (std::int64_t b = min_value(t); b <= max_value(t); b++) {
          ASSERT_TRUE(same_bits(evaluate({a, b}), truth(op, a, b, t), t)) << text(op, a, b, t);
        }
      }
    }
  }
}

TEST(DecomposeInteger, AllConstantsWithAll8BitNumbers) {
  for (DType t : {DType::Int8, DType::UInt8}) {
    Graph graph;
    const UOp x = unknown(graph, t);
    const UOp leaves[] = {x};
    for (Op op : integer_ops) {
      for (std::int64_t b = min_value(t); b <= max_value(t); b++) {
        const UOp d = graph.constant(t, b);
        Evaluator evaluate(decompose(graph.alu(op, {x, d}), processor()), leaves);
        for (std::int64_t a = min_value(t); a <= max_value(t); a++) {
          ASSERT_TRUE(same_bits(evaluate({a}), truth(op, a, b, t), t)) << text(op, a, b, t);
        }
      }
    }
  }
}

TEST(DecomposeInteger, EdgesOfTheWiderTypes) {
  for (DType t :
       {DType::Int16, DType::UInt16, DType::Int32, DType::UInt32, DType::Int64, DType::UInt64}) {
    Graph graph;
    const UOp x = unknown(graph, t, 0), d = unknown(graph, t, 1);
    const UOp both[] = {x, d}, one[] = {x};
    const std::vector<std::int64_t> values = edges(t);
    for (Op op : integer_ops) {
      Evaluator evaluate(decompose(graph.alu(op, {x, d}), processor()), both);
      for (std::int64_t b : values) {
        const UOp constant = graph.constant_bits(t, b);
        Evaluator by_constant(decompose(graph.alu(op, {x, constant}), processor()), one);
        for (std::int64_t a : values) {
          const Wide expected = truth(op, number(a, t), number(b, t), t);
          ASSERT_TRUE(same_bits(evaluate({a, b}), expected, t)) << text(op, a, b, t);
          ASSERT_TRUE(same_bits(by_constant({a}), expected, t)) << text(op, a, b, t);
        }
      }
    }
  }
}

// A variable is index arithmetic: its bounds are known.
TEST(DecomposeInteger, QuotientsOfBoundedNumbersByConstantsNeedNoDivision) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 400; i++) {
    Graph graph;
    const std::int64_t hi = static_cast<std::int64_t>(random() % (1 << 20)) + 1;
    const std::int64_t lo = i % 2 ? 0 : -static_cast<std::int64_t>(random() % (1 << 20));
    const std::int64_t d = static_cast<std::int64_t>(random() % 1000) + 1;
    const UOp v = graph.variable(0, lo, hi), x = cast(v, i % 4 < 2 ? DType::Int32 : DType::Int64);
    const UOp leaves[] = {v};
    for (Op op : {Op::IDiv, Op::Mod}) {
      const UOp root = decompose(graph.alu(op, {x, graph.constant(x.dtype(), d)}), processor());
      for (UOp u : toposort(root)) EXPECT_FALSE(u.is(Op::CDiv) || u.is(Op::CMod));
      Evaluator evaluate(root, leaves);
      for (std::int64_t near : {lo, std::int64_t{0}, hi / d * d, hi / 2 / d * d, lo / d * d, hi}) {
        for (std::int64_t a = std::max(lo, near - 2); a <= std::min(hi, near + 2); a++) {
          ASSERT_EQ(evaluate({a}), static_cast<std::int64_t>(truth(op, a, d, x.dtype())))
              << text(op, a, d, x.dtype()) << " in " << lo << ".." << hi;
        }
      }
    }
  }
}

TEST(DecomposeInteger, PowersOfTwoAreShiftsAndMasks) {
  Graph graph;
  const UOp x = unknown(graph, DType::Int32), eight = graph.constant(DType::Int32, 8l);
  EXPECT_EQ(decompose(x / eight, processor()),
            graph.alu(Op::Shr, {x, graph.constant(DType::Int32, 3l)}));
  EXPECT_EQ(decompose(x % eight, processor()), x & graph.constant(DType::Int32, 7l));
}

TEST(DecomposeInteger, NaturalOperandsAreDividedAsTheyAre) {
  Graph graph;
  const UOp x = cast(graph.variable(0, 0, 100), DType::Int32);
  const UOp d = cast(graph.variable(1, 1, 9), DType::Int32);
  EXPECT_EQ(decompose(x / d, processor()), graph.alu(Op::CDiv, {x, d}));
  EXPECT_EQ(decompose(x % d, processor()), graph.alu(Op::CMod, {x, d}));
}

TEST(DecomposeInteger, IndexArithmeticIsLeftAlone) {
  Graph graph;
  const UOp i = graph.variable(0, 0, 100) / 7;
  EXPECT_EQ(decompose(i, processor()), i);
}

TEST(DecomposeInteger, ArithmeticOnBoolsIsLogic) {
  Graph graph;
  const UOp x = unknown(graph, DType::Bool, 0), y = unknown(graph, DType::Bool, 1);
  const UOp leaves[] = {x, y};
  for (Op op : {Op::Add, Op::Mul, Op::Max, Op::Min, Op::Lt, Op::Le, Op::Eq, Op::Ne, Op::Xor}) {
    const UOp root = decompose(graph.alu(op, {x, y}), processor());
    EXPECT_FALSE(root.is(Op::Add) || root.is(Op::Mul) || root.is(Op::Lt) || root.is(Op::Le));
    Evaluator evaluate(root, leaves);
    for (std::int64_t a : {0, 1}) {
      for (std::int64_t b : {0, 1}) {
        const std::int64_t operands[] = {a, b};
        EXPECT_EQ(evaluate({a, b}), eval(op, DType::Bool, DType::Bool, operands)) << info(op).name;
      }
    }
  }
}

// The last three are the known answers published with the Random123 library.
TEST(DecomposeInteger, ThreefryIsThreefry) {
  Graph graph;
  const UOp counter = unknown(graph, DType::UInt64, 0), key = unknown(graph, DType::UInt64, 1);
  const UOp root = decompose(graph.alu(Op::Threefry, {counter, key}), processor());
  expect_legal(root, processor());
  const UOp leaves[] = {counter, key};
  Evaluator evaluate(root, leaves);
  auto of = [&](std::uint64_t c, std::uint64_t k) {
    return static_cast<std::uint64_t>(
        evaluate({static_cast<std::int64_t>(c), static_cast<std::int64_t>(k)}));
  };
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; i++) {
    const std::uint64_t c = random(), k = random();
    ASSERT_EQ(of(c, k), threefry2x32(c, k));
  }
  EXPECT_EQ(of(0, 0), 0x99ba4efe6b200159u);
  EXPECT_EQ(of(~std::uint64_t{0}, ~std::uint64_t{0}), 0xbb002be71cb996fcu);
  EXPECT_EQ(of(0x85a308d3243f6a88u, 0x0370734413198a2eu), 0x483df7a0c4923a9cu);
}

TEST(DecomposeInteger, ThreefryOfACountOfOneWordIsShorter) {
  Graph graph;
  const UOp word = unknown(graph, DType::UInt32, 0), key = unknown(graph, DType::UInt64, 1);
  const UOp any = unknown(graph, DType::UInt64, 2);
  const UOp count = cast(word, DType::UInt64);
  const UOp root = decompose(graph.alu(Op::Threefry, {count, key}), processor());
  const UOp longer = decompose(graph.alu(Op::Threefry, {any, key}), processor());
  EXPECT_LT(toposort(root).size(), toposort(longer).size());
  const UOp leaves[] = {word, key};
  Evaluator evaluate(root, leaves);
  std::mt19937_64 random(6);
  for (int i = 0; i < 1000; i++) {
    const std::uint64_t c = random() >> 32, k = random();
    ASSERT_EQ(static_cast<std::uint64_t>(
                  evaluate({static_cast<std::int64_t>(c), static_cast<std::int64_t>(k)})),
              threefry2x32(c, k));
  }
}

}  // namespace
}  // namespace croze
