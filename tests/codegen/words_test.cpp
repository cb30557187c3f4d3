// words_test.cpp -- 64-bit integers as pairs of words.  tests/ops runs every op and cast on devices
// without 64-bit integers; here stand the numbers that need care.
#include "croze/codegen/decompose/words.h"

#include <optional>
#include <random>

#include "codegen/decompose_support.h"
#include "croze/base/error.h"
#include "croze/codegen/lower/expand.h"
#include "croze/codegen/pipeline.h"

namespace croze {
namespace {

using u64 = std::uint64_t;

// A device with 32-bit integers.
Caps narrow_processor() {
  return without_dtype(without_dtype(processor(), DType::Int64), DType::UInt64);
}

// The value of f(x, y), which is not a 64-bit integer, for 64-bit x and y.
class WordEvaluator {
 public:
  template <typename F>
  WordEvaluator(DType t, F f) {
    const UOp root = f(unknown(graph_, t, 0), unknown(graph_, t, 1));
    std::vector<RegisterScope> registers;
    const UOp words = split_words(decompose(root, with_wide_integers(narrow_processor())),
                                  registers, narrow_processor());
    expect_legal(words, narrow_processor());
    for (std::int64_t slot : {0, 1}) {
      for (std::int64_t i : {0, 1}) {
        const UOp buffer = graph_.param(DType::UInt32, slot, 2);
        leaves_.push_back(graph_.load(graph_.place(buffer, graph_.index(i))));
      }
    }
    evaluator_.emplace(words, leaves_);
  }

  std::int64_t operator()(u64 x, u64 y = 0) {
    auto low = [](u64 v) { return static_cast<std::int64_t>(v & 0xffffffff); };
    return (*evaluator_)({low(x), low(x >> 32), low(y), low(y >> 32)});
  }

 private:
  Graph graph_;
  std::vector<UOp> leaves_;
  std::optional<Evaluator> evaluator_;
};

// Both words of op(x, y).
class BinaryOp {
 public:
  BinaryOp(DType t, Op op)
      : low_(t,
             [=](UOp x, UOp y) {
               return cast(x.graph().alu(op, {x, y}), DType::UInt32);
             }),
        high_(t, [=](UOp x, UOp y) {
          const UOp result = x.graph().alu(op, {x, y});
          return cast(result.graph().alu(Op::Shr, {result, constant_like(result, 32)}),
                      DType::UInt32);
        }) {}

  u64 operator()(u64 x, u64 y) {
    return static_cast<u64>(low_(x, y)) | static_cast<u64>(high_(x, y)) << 32;
  }

 private:
  WordEvaluator low_, high_;
};

// Numbers of every width, with long runs of ones and zeros.
std::vector<u64> numbers(int count) {
  std::mt19937_64 random(12);
  std::vector<u64> result = {0, 1, 2, ~u64{0}, ~u64{0} - 1};
  for (int bit = 0; bit < 64; bit += 3) {
    for (u64 v : {u64{1} << bit, (u64{1} << bit) - 1, ~u64{0} << bit}) result.push_back(v);
  }
  for (int i = 0; i < count; i++) result.push_back(random() >> (random() % 64));
  return result;
}

TEST(Words, ArithmeticCarriesAndBorrows) {
  const std::vector<u64> values = numbers(20);
  for (DType t : {DType::Int64, DType::UInt64}) {
    for (Op op : {Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr}) {
      BinaryOp compute(t, op);
      for (u64 x : values) {
        for (u64 y : values) {
          const std::int64_t operands[] = {static_cast<std::int64_t>(x),
                                           static_cast<std::int64_t>(y)};
          ASSERT_EQ(compute(x, y), static_cast<u64>(eval(op, t, t, operands)))
              << info(op).name << " of " << x << " and " << y << " as " << name_of(t);
        }
      }
    }
  }
}

TEST(Words, QuotientsAreExactForDivisorsOfEveryWidth) {
  const std::vector<u64> values = numbers(6);
  for (DType t : {DType::Int64, DType::UInt64}) {
    for (Op op : {Op::IDiv, Op::CMod}) {
      BinaryOp compute(t, op);
      for (u64 x : values) {
        for (u64 y : values) {
          const std::int64_t operands[] = {static_cast<std::int64_t>(x),
                                           static_cast<std::int64_t>(y)};
          ASSERT_EQ(compute(x, y), static_cast<u64>(eval(op, t, t, operands)))
              << info(op).name << " of " << x << " and " << y << " as " << name_of(t);
        }
      }
    }
  }
}

// Beside whole multiples of the divisor, where a digit that was guessed is corrected.
TEST(Words, QuotientsAreExactBesideWholeMultiples) {
  std::mt19937_64 random(7);
  BinaryOp quotient(DType::UInt64, Op::CDiv), remainder(DType::UInt64, Op::CMod);
  for (int i = 0; i < 20'000; i++) {
    const int width = 1 + static_cast<int>(random() % 64);
    u64 d = (random() >> (64 - width)) | u64{1} << (width - 1);
    if (i % 3 == 0) d |= 0xffff'ffff'ffff >> (random() % 48);
    const u64 most = ~u64{0} / d, q = most - (i % 2 ? random() % most : random() % 3 % most);
    for (u64 x : {q * d - 1, q * d, q * d + 1, q * d + (d - 1)}) {
      ASSERT_EQ(quotient(x, d), x / d) << x << " / " << d;
      ASSERT_EQ(remainder(x, d), x % d) << x << " % " << d;
    }
  }
}

// Half-way between two floats and beside it, at every place that the leading bit can have.
TEST(Words, AreRoundedOnceToEveryFloatType) {
  std::mt19937_64 random(31);
  for (DType to : {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16}) {
    const int precision = to == DType::Float64   ? 53
                          : to == DType::Float32 ? 24
                          : to == DType::Float16 ? 11
                                                 : 8;
    for (DType from : {DType::Int64, DType::UInt64}) {
      WordEvaluator convert_words(from, [=](UOp x, UOp) { return cast(x, to); });
      for (int width = 1; width <= 64; width++) {
        for (int i = 0; i < 40; i++) {
          const u64 top = random() | u64{1} << 63;
          const u64 middle = (top >> (64 - precision) << 1 | 1) << (63 - precision);
          for (u64 v : {middle, middle - 1, middle + 1, top}) {
            const u64 x = v >> (64 - width);
            for (u64 either : {x, u64{0} - x}) {
              const std::int64_t expected = convert(static_cast<std::int64_t>(either), from, to);
              ASSERT_EQ(convert_words(either), expected) << either << " to " << name_of(to);
            }
          }
        }
      }
    }
  }
}

TEST(Words, SumsOfLanesArePutTogetherFromHalfWords) {
  Graph graph;
  const UOp r = graph.range(0, 256, LoopKind::Reduce);
  const UOp x = graph.load(graph.place(graph.param(DType::Int64, 1, 256), r));
  const UOp sum = graph.reduce(Op::Add, x, std::span(&r, 1));
  const UOp store = graph.store(graph.place(graph.param(DType::Int64, 0, 1), graph.index(0)), sum);
  Caps caps = narrow_processor();
  caps.vector_bytes = 64;
  caps.masked_vectors = true;
  const LinearProgram program = make_program(graph.sink(std::span(&store, 1)), caps);
  int reductions = 0;
  for (UOp u : program.instructions) {
    EXPECT_FALSE(u.dtype() == DType::Int64 || u.dtype() == DType::UInt64);
    reductions += u.is(Op::Reduce);
  }
  EXPECT_EQ(reductions, 4);
}

TEST(Words, TheBitsOfAFloat64AreAnErrorThatNamesTheDevice) {
  Graph graph;
  const UOp root = graph.bitcast(unknown(graph, DType::Int64), DType::Float64);
  std::vector<RegisterScope> registers;
  try {
    static_cast<void>(split_words(root, registers, narrow_processor()));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("TEST"), std::string::npos);
  }
}

}  // namespace
}  // namespace croze
