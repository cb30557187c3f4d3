// decompose_dtypes_test.cpp -- float types that a device has no arithmetic for.
#include <cmath>
#include <limits>
#include <random>

#include "codegen/decompose_support.h"
#include "croze/base/error.h"
#include "croze/base/half.h"

namespace croze {
namespace {

class SmallFloats : public testing::TestWithParam<DType> {
 protected:
  DType type = GetParam();
  DType bits_type = size_of(type) == 1 ? DType::UInt8 : DType::UInt16;
  std::int64_t patterns = std::int64_t{1} << (8 * size_of(type));
  Caps caps = without_dtype(processor(), type);
  Graph graph;

  UOp small(UOp bits) { return graph.bitcast(bits, type); }

  Evaluator evaluator(UOp root, std::initializer_list<UOp> leaves) {
    root = decompose(root, caps);
    expect_legal(root, caps);
    return Evaluator(root, std::span(leaves.begin(), leaves.size()));
  }

  double value_of(std::int64_t bits) const {
    const std::uint64_t raw = static_cast<std::uint64_t>(bits);
    return std::bit_cast<double>(load_bits(&raw, type));
  }
};

// NaNs are alike, zeros are not.
bool same(std::int64_t a, std::int64_t b) {
  const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
  return a == b || (std::isnan(x) && std::isnan(y));
}
std::int64_t bits(double v) { return std::bit_cast<std::int64_t>(v); }

TEST_P(SmallFloats, EveryPatternIsDecoded) {
  const UOp raw = unknown(graph, bits_type);
  Evaluator evaluate = evaluator(cast(small(raw), DType::Float32), {raw});
  for (std::int64_t i = 0; i < patterns; i++) {
    ASSERT_TRUE(same(evaluate({i}), bits(value_of(i)))) << i;
  }
}

// Every value of the type, every point half-way between two of them, and the floats beside those.
TEST_P(SmallFloats, FloatsAreRoundedToTheNearest) {
  const UOp x = unknown(graph, DType::Float32);
  Evaluator evaluate = evaluator(graph.bitcast(cast(x, type), bits_type), {x});
  auto compare = [&](float v) {
    std::uint64_t expected = 0;
    store_bits(bits_of(static_cast<double>(v), type), type, &expected);
    const std::int64_t value = evaluate({bits(static_cast<double>(v))});
    if (std::isnan(v)) {
      ASSERT_TRUE(std::isnan(value_of(value)));
    } else {
      ASSERT_EQ(value, static_cast<std::int64_t>(expected)) << v;
    }
  };
  for (std::int64_t i = 0; i < patterns; i++) {
    const float v = static_cast<float>(value_of(i)), next = static_cast<float>(value_of(i + 1));
    const float middle = v + (next - v) / 2;
    for (float center : {v, middle}) {
      compare(center);
      compare(std::nextafter(center, std::numeric_limits<float>::infinity()));
      compare(std::nextafter(center, -std::numeric_limits<float>::infinity()));
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; i++)
    compare(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

TEST_P(SmallFloats, WiderNumbersAreRoundedOnce) {
  std::mt19937_64 random(9);
  for (DType from : {DType::Float64, DType::Int64, DType::UInt64, DType::Int32, DType::UInt32,
                     DType::Int8, DType::Bool}) {
    const UOp x = unknown(graph, from);
    Evaluator evaluate = evaluator(cast(cast(x, type), DType::Float32), {x});
    auto compare = [&](std::int64_t v) {
      ASSERT_TRUE(same(evaluate({v}), convert(v, from, type))) << name_of(from) << " " << v;
    };
    for (int i = 0; i < 3000; i++) {
      // Just beside the middle of two neighbours, where rounding twice goes wrong.
      const double middle = (value_of(static_cast<std::int64_t>(random() % 65536) % patterns) +
                             value_of(static_cast<std::int64_t>(random() % 65536) % patterns)) /
                            2;
      const std::int64_t whole = static_cast<std::int64_t>(random() >> (random() % 64));
      if (is_float(from)) {
        for (double v : {middle, middle * (1 + 0x1p-50), middle * (1 - 0x1p-50)}) compare(bits(v));
        compare(static_cast<std::int64_t>(random()));
      } else {
        const auto mixed = static_cast<std::int64_t>(static_cast<std::uint64_t>(whole) * 4097 + 1);
        for (std::int64_t v : {whole, -whole, mixed}) compare(bits_of(v, from));
        const std::int64_t near = bits_of(middle, from);
        for (std::int64_t step : {-1, 0, 1}) {
          compare(bits_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(near) +
                                                    static_cast<std::uint64_t>(step)),
                          from));
        }
      }
    }
  }
}

TEST_P(SmallFloats, NumbersAreConvertedToEveryOtherType) {
  const UOp raw = unknown(graph, bits_type);
  for (DType to : {DType::Bool, DType::Int8, DType::UInt8, DType::Int32, DType::UInt64,
                   DType::Float64, DType::Float16, DType::BFloat16}) {
    if (to == type) continue;
    Evaluator evaluate = evaluator(cast(small(raw), to), {raw});
    for (std::int64_t i = 0; i < patterns; i += patterns == 256 ? 1 : 17) {
      ASSERT_TRUE(same(evaluate({i}), convert(bits(value_of(i)), type, to))) << i << name_of(to);
    }
  }
}

TEST_P(SmallFloats, EachOpIsRounded) {
  const UOp raw[] = {unknown(graph, bits_type, 0), unknown(graph, bits_type, 1),
                     unknown(graph, bits_type, 2)};
  std::mt19937 random(2);
  for (Op op : {Op::Neg, Op::Sqrt, Op::Reciprocal, Op::Trunc, Op::Add, Op::Mul, Op::Div, Op::Max,
                Op::Min, Op::Lt, Op::Eq, Op::MulAdd}) {
    SmallVector<UOp, 3> src;
    for (int i = 0; i < info(op).arity; i++) src.push_back(small(raw[i]));
    const UOp u = graph.alu(op, std::span<const UOp>(src));
    Evaluator evaluate = evaluator(u, {raw[0], raw[1], raw[2]});
    for (int i = 0; i < 20000; i++) {
      std::int64_t patterns_of[3], values[3];
      for (int k = 0; k < 3; k++) {
        patterns_of[k] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(patterns));
        values[k] = bits(value_of(patterns_of[k]));
      }
      const std::size_t arity = static_cast<std::size_t>(info(op).arity);
      const std::int64_t expected = eval(op, u.dtype(), type, std::span(values, arity));
      ASSERT_TRUE(same(evaluate(patterns_of), expected))
          << info(op).name << " of " << std::bit_cast<double>(values[0]) << ", "
          << std::bit_cast<double>(values[1]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloats,
                         testing::Values(DType::Float16, DType::BFloat16, DType::Float8E4M3,
                                         DType::Float8E5M2, DType::Float8E4M3FNUZ,
                                         DType::Float8E5M2FNUZ),
                         [](const auto& param) { return std::string(name_of(param.param)); });

// out[i] = f(in[i]) over small floats, in the form that codegen has at this point.
struct Kernel {
  Graph graph;
  UOp range = graph.range(0, 64, LoopKind::Loop);
  UOp index = cast(range, DType::Int32);

  UOp in(DType t) { return graph.load(graph.place(graph.param(t, 1, 64), index)); }
  UOp out(DType t, UOp value) {
    const UOp ranges[] = {range};
    const UOp store = graph.store(graph.place(graph.param(t, 0, 64), index), value, ranges);
    return graph.sink(std::span(&store, 1));
  }
};

TEST(DecomposeMemory, ACopyMovesTheBits) {
  Kernel k;
  const UOp sink = decompose(k.out(DType::BFloat16, k.in(DType::BFloat16)),
                             without_dtype(processor(), DType::BFloat16));
  EXPECT_EQ(sink, k.out(DType::UInt16, k.in(DType::UInt16)));
}

TEST(DecomposeMemory, TheDeviceConvertsWhatItCanLoad) {
  Kernel k;
  const Caps caps = without_arithmetic(processor(), DType::Float16);
  const UOp x = k.in(DType::Float16);
  const UOp sink = decompose(k.out(DType::Float16, x + x), caps);
  const UOp wide = cast(x, DType::Float32);
  EXPECT_EQ(sink, k.out(DType::Float16, cast(wide + wide, DType::Float16)));
}

TEST(DecomposeMemory, ReductionsAccumulateInFloat32) {
  Kernel k;
  const UOp ranges[] = {k.graph.range(1, 4, LoopKind::Reduce)};
  const UOp sum = k.graph.reduce(Op::Add, k.in(DType::Float16), ranges);
  const Caps caps = without_dtype(processor(), DType::Float16);
  const UOp sink = decompose(k.out(DType::Float16, sum), caps);
  expect_legal(sink, caps);
  int reductions = 0;
  for (UOp u : toposort(sink)) {
    if (!u.is(Op::Reduce)) continue;
    reductions++;
    EXPECT_EQ(u.dtype(), DType::Float32);
    EXPECT_EQ(u.src(1), ranges[0]);
  }
  EXPECT_EQ(reductions, 1);
}

TEST(DecomposeMemory, ScratchHoldsTheFormInMemory) {
  Kernel k;
  const UOp local = k.graph.local(DType::Float16, 0, 64, Space::Thread);
  const UOp place = k.graph.place(local, k.index);
  const UOp written = k.graph.store(place, k.in(DType::Float16));
  const UOp read =
      k.graph.load(k.graph.place(k.graph.after(local, std::span(&written, 1)), k.index));
  const Caps caps = without_dtype(processor(), DType::Float16);
  const UOp sink = decompose(k.out(DType::Float32, cast(read, DType::Float32)), caps);
  expect_legal(sink, caps);
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Local) || u.is(Op::After)) {
      EXPECT_EQ(u.dtype(), DType::UInt16);
    }
  }
}

TEST(DecomposeMemory, RegistersHoldFloat32) {
  Kernel k;
  const UOp reg = k.graph.make(Op::Register, DType::BFloat16, {}, Arg(0));
  const UOp first = k.graph.store(reg, k.in(DType::BFloat16));
  const UOp before = k.graph.load(k.graph.after(reg, std::span(&first, 1)));
  const UOp second = k.graph.store(reg, before + k.in(DType::BFloat16));
  const UOp result = k.graph.load(k.graph.after(reg, std::span(&second, 1)));
  const Caps caps = without_dtype(processor(), DType::BFloat16);
  const UOp sink = decompose(k.out(DType::BFloat16, result), caps);
  expect_legal(sink, caps);
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Register) || u.is(Op::After)) {
      EXPECT_EQ(u.dtype(), DType::Float32);
    }
  }
}

TEST(DecomposeMemory, AKernelThatNeedsNothingStaysTheSame) {
  Kernel k;
  const UOp x = k.in(DType::Float32);
  const UOp sink = k.out(DType::Float32, where(less(x, 0), x * x + 1, x));
  EXPECT_EQ(decompose(sink, processor()), sink);
}

TEST(DecomposeMemory, ADtypeThatCannotBeReplacedIsTheUsersError) {
  Kernel k;
  const UOp x = k.in(DType::Int64);
  const Caps caps = without_dtype(processor(), DType::Int64);
  try {
    static_cast<void>(decompose(k.out(DType::Int64, x * x), caps));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("TEST"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("int64"), std::string::npos);
  }
}

}  // namespace
}  // namespace croze
