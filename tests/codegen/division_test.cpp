// division_test.cpp -- division by constants: the plans by enumeration and at the places where a
// quotient changes, and the expressions made of them.
#include <random>

#include "codegen/decompose_support.h"
#include "croze/codegen/decompose/expand.h"

namespace croze {
namespace {

using u64 = std::uint64_t;
using Wide = __int128;
using expand::DivisionPlan;

bool is_power_of_two(u64 d) { return (d & (d - 1)) == 0; }

// What the plan says, in `width` bits.
u64 quotient_by(const DivisionPlan& plan, u64 x, int width) {
  const u64 mask = width == 64 ? ~u64{0} : (u64{1} << width) - 1;
  const u64 y = x >> plan.before;
  const u64 high = static_cast<u64>(static_cast<unsigned __int128>(y) * plan.factor >> width);
  const u64 sum = plan.carries ? ((high + (((y - high) & mask) >> 1)) & mask) : high;
  return sum >> plan.after;
}

TEST(Division, PlansOf8BitNumbersAreRightForAllPairsAndBounds) {
  for (u64 most = 6; most < 256; most++) {
    for (u64 d = 3; d <= most / 2; d++) {
      if (is_power_of_two(d)) continue;
      const DivisionPlan plan = expand::plan_division(d, most, 8);
      ASSERT_LT(plan.factor, 256u);
      for (u64 x = 0; x <= most; x++) ASSERT_EQ(quotient_by(plan, x, 8), x / d) << x << "/" << d;
    }
  }
}

// 4.3e9 divisions.
TEST(DivisionLong, PlansOf16BitNumbersAreRightForAllPairs) {
  for (u64 d = 3; d <= 32767; d++) {
    if (is_power_of_two(d)) continue;
    const DivisionPlan plan = expand::plan_division(d, 65535, 16);
    u64 wrong = 0;
    for (std::uint32_t x = 0; x < 65536; x++) {
      const std::uint32_t y = x >> plan.before;
      const std::uint32_t high = y * static_cast<std::uint32_t>(plan.factor) >> 16;
      const std::uint32_t sum = plan.carries ? high + ((y - high) >> 1) : high;
      wrong += sum >> plan.after != x / static_cast<std::uint32_t>(d);
    }
    ASSERT_EQ(wrong, 0u) << d;
  }
}

// Where a quotient changes is where a wrong one shows first, since what the plan computes grows
// with x.
TEST(Division, PlansOf16BitNumbersAreRightWhereverAQuotientChanges) {
  for (u64 d = 3; d <= 32767; d++) {
    if (is_power_of_two(d)) continue;
    const DivisionPlan plan = expand::plan_division(d, 65535, 16);
    ASSERT_LT(plan.factor, 65536u);
    for (u64 x = d; x < 65536; x += d) {
      ASSERT_EQ(quotient_by(plan, x, 16), x / d) << x << "/" << d;
      ASSERT_EQ(quotient_by(plan, x - 1, 16), (x - 1) / d) << x - 1 << "/" << d;
    }
  }
}

std::vector<u64> divisors(int width, int count) {
  std::mt19937_64 random(21);
  const u64 greatest = ~u64{0} >> (64 - width);
  std::vector<u64> result = {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 25, 28, 100, 125, 625, 641, 1000};
  for (int bit = 2; bit < width; bit++) {
    for (int step : {-1, 1}) result.push_back((u64{1} << bit) + static_cast<u64>(step));
  }
  for (u64 part : {2, 3, 5, 7}) result.push_back(greatest / part);
  result.push_back(greatest);
  for (int i = 0; i < count; i++) result.push_back(random() >> (64 - width) >> (random() % 62));
  std::erase_if(result, [&](u64 d) { return d < 3 || d > greatest; });
  return result;
}

// Multiples of d and their neighbours, the extremes, and any numbers.
std::vector<u64> dividends(u64 d, u64 most, std::mt19937_64& random) {
  std::vector<u64> result = {0, 1, most, most - 1, most / 2, most / 2 + 1};
  auto around = [&](u64 x) {
    for (u64 near : {x - 1, x, x + 1}) {
      if (near <= most) result.push_back(near);
    }
  };
  around(d);
  around(most / d * d);
  for (int i = 0; i < 30; i++) {
    around(random() % (most / d + 1) * d);
    result.push_back((random() >> (random() % 63)) % most);
  }
  return result;
}

TEST(Division, PlansOfWideNumbersAreRightAtMultiplesAndTheirNeighbours) {
  std::mt19937_64 random(8);
  for (int width : {32, 64}) {
    for (u64 d : divisors(width, 3000)) {
      for (u64 most : {~u64{0} >> (64 - width), ~u64{0} >> (65 - width), u64{1} << (width - 1)}) {
        if (is_power_of_two(d) || d > most / 2) continue;
        const DivisionPlan plan = expand::plan_division(d, most, width);
        for (u64 x : dividends(d, most, random)) {
          ASSERT_EQ(quotient_by(plan, x, width), x / d) << x << "/" << d << " up to " << most;
        }
      }
    }
  }
}

// ---- expressions ------------------------------------------------------------------------------

Wide truth(Op op, Wide x, Wide d) {
  Wide q = x / d;
  if ((op == Op::IDiv || op == Op::Mod) && q * d != x && (x < 0) != (d < 0)) q--;
  return op == Op::IDiv || op == Op::CDiv ? q : x - q * d;
}

bool has_division(UOp root) {
  for (UOp u : toposort(root)) {
    if (u.is(Op::CDiv) || u.is(Op::CMod)) return true;
  }
  return false;
}

void expect_quotients(Graph& graph, UOp x, u64 magnitude, bool negative, std::mt19937_64& random) {
  const DType t = x.dtype();
  const bool is_signed = !is_unsigned(t);
  const u64 most = ~u64{0} >> (64 - 8 * size_of(t));
  const UOp leaves[] = {x};
  const auto bits = static_cast<std::int64_t>(negative ? u64{0} - magnitude : magnitude);
  const Wide d = negative ? -static_cast<Wide>(magnitude) : static_cast<Wide>(magnitude);
  for (Op op : {Op::IDiv, Op::Mod, Op::CDiv, Op::CMod}) {
    const UOp root = decompose(graph.alu(op, {x, graph.constant_bits(t, bits)}), processor());
    expect_legal(root, processor());
    EXPECT_FALSE(has_division(root)) << info(op).name << " by " << bits << " as " << name_of(t);
    Evaluator evaluate(root, leaves);
    for (u64 raw : dividends(magnitude, is_signed ? most / 2 : most, random)) {
      for (const Wide v : {static_cast<Wide>(raw), -static_cast<Wide>(raw), -1 - Wide{raw}}) {
        if (v < 0 && !is_signed) continue;
        const auto input = static_cast<std::int64_t>(static_cast<u64>(v));
        const auto expected = static_cast<std::int64_t>(static_cast<u64>(truth(op, v, d)));
        ASSERT_EQ(evaluate({input}), bits_of(expected, t))
            << info(op).name << " of " << input << " by " << bits << " as " << name_of(t);
      }
    }
  }
}

void expect_all_quotients(DType t, int random_divisors) {
  std::mt19937_64 random(4);
  Graph graph;
  const UOp x = unknown(graph, t);
  const int width = static_cast<int>(8 * size_of(t));
  for (u64 d : divisors(is_unsigned(t) ? width : width - 1, random_divisors)) {
    expect_quotients(graph, x, d, false, random);
    if (!is_unsigned(t)) expect_quotients(graph, x, d, true, random);
  }
}

TEST(Division, QuotientsAndRemaindersOfEveryTypeNeedNoDivision) {
  for (DType t : {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32,
                  DType::UInt32, DType::Int64, DType::UInt64}) {
    expect_all_quotients(t, 10);
  }
}

TEST(DivisionLong, QuotientsAndRemaindersByManyConstants) {
  for (DType t :
       {DType::Int16, DType::UInt16, DType::Int32, DType::UInt32, DType::Int64, DType::UInt64}) {
    expect_all_quotients(t, 3000);
  }
}

// Every 16-bit constant, at the edges of the dividends.
TEST(DivisionLong, QuotientsOf16BitNumbersByAllConstants) {
  std::mt19937_64 random(17);
  for (u64 d = 3; d <= 32767; d++) {
    Graph graph;
    expect_quotients(graph, unknown(graph, DType::Int16), d, d % 2 == 0, random);
  }
  for (u64 d = 3; d <= 65535; d++) {
    Graph graph;
    expect_quotients(graph, unknown(graph, DType::UInt16), d, false, random);
  }
}

TEST(Division, TheLeastIntegerIsADivisorLikeOthers) {
  std::mt19937_64 random(2);
  for (DType t : {DType::Int8, DType::Int16, DType::Int32, DType::Int64}) {
    Graph graph;
    expect_quotients(graph, unknown(graph, t), u64{1} << (8 * size_of(t) - 1), true, random);
  }
}

}  // namespace
}  // namespace croze
