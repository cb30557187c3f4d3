// block_gradients_test.cpp -- gradients of attention in blocks of rows and of keys.
#include <cmath>
#include <limits>
#include <vector>

#include "schedule/scheduled.h"

namespace croze::test {
namespace {

constexpr std::int64_t heads = 4, width = 6;
constexpr double none = -std::numeric_limits<double>::infinity();
constexpr double rounding = 2e-3;

// What caches hold is less than the scores, and half of the nearest some of their rows.
Caps few_rows_caps() {
  Caps caps = cpu_shaped_caps();
  caps.l2_bytes = 12 << 10;
  caps.last_cache_bytes = 0;
  return caps;
}

// Attention of so many rows and keys, and its gradients as the softmax's rule has them.
struct Attention {
  Scheduled& s;
  std::int64_t rows, keys;
  UOp mask = UOp();  // over rows and keys; null: none

  std::vector<std::int64_t> terms() const { return {heads, rows, keys, width}; }
  std::vector<std::int64_t> scores() const { return {heads, rows, keys, 1}; }

  UOp input(std::int64_t count, std::vector<std::int64_t> shape, int seed, double more = 0) const {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < heads * count * width; i++) {
      numbers.push_back(static_cast<double>((i * 37 + seed * 101) % 29) / 32 - 0.4375 + more);
    }
    return s.buffer(numbers, std::move(shape), DType::Float32);
  }
  UOp of_rows(int seed, double more = 0) const {
    return input(rows, {heads, rows, 1, width}, seed, more);
  }
  UOp of_keys(int seed) const { return input(keys, {heads, 1, keys, width}, seed); }

  UOp where_open(UOp x, double otherwise) const {
    if (!mask) return x;
    const std::vector<std::int64_t> shape(x.shape().begin(), x.shape().end());
    const UOp number = x.graph().constant(x.dtype(), otherwise);
    const UOp nothing = s.expand(s.reshape(number, {1, 1, 1, 1}), shape);
    return where(s.expand(mask, shape), x, nothing);
  }
  // The sum along an axis of products behind the mask.
  UOp sum(UOp x, UOp y, std::int64_t axis) const {
    return s.reduce(Op::Add, where_open(s.expand(x, terms()) * s.expand(y, terms()), 0), {axis});
  }
  UOp over_keys(UOp x) const { return s.expand(x, scores()); }

  // The result, and the gradients by queries, keys and values.
  std::vector<UOp> all() const {
    const UOp q = of_rows(1), k = of_keys(2), v = of_keys(3);
    const UOp u = of_rows(4, 1);  // whose multiples do not cancel
    const UOp plain = s.reduce(Op::Add, s.expand(q, terms()) * s.expand(k, terms()), {3});
    const UOp x = where_open(plain, none);
    const UOp e = s.graph.alu(Op::Exp, {x - over_keys(s.reduce(Op::Max, x, {2}))});
    const UOp r = s.graph.alu(Op::Reciprocal, {s.reduce(Op::Add, e, {2})});
    const UOp p = e * over_keys(r);
    const UOp by_weights = sum(u, v, 3);
    const UOp c = s.reduce(Op::Add, e * by_weights, {2}) * r * r;
    const UOp by_scores = e * (by_weights * over_keys(r) - over_keys(c)) * 2;
    return {s.contiguous(sum(p, v, 2)), s.contiguous(sum(by_scores, k, 2)),
            s.contiguous(sum(by_scores, q, 1)), s.contiguous(sum(p, u, 1))};
  }

  UOp row() const { return numbered(rows, {1, rows, 1, 1}); }
  UOp key() const { return numbered(keys, {1, 1, keys, 1}); }
  UOp numbered(std::int64_t count, std::vector<std::int64_t> shape) const {
    return s.expand(s.reshape(s.graph.iota(count), std::move(shape)), {1, rows, keys, 1});
  }
};

Schedule expect_right(Scheduled& s, const std::vector<UOp>& all) {
  return s.expect_right({all[0], all[1], all[2], all[3]}, rounding);
}

// One sequence has the result, another one the gradients, in blocks that have no whole rows.
void expect_blocks(const Schedule& schedule, const Attention& a) {
  ASSERT_EQ(schedule.sequences.size(), 2u);
  for (const ScheduleSequence& sequence : schedule.sequences) {
    ASSERT_EQ(sequence.blocks.size(), 3u);
    EXPECT_GT(sequence.blocks[2], 1);
  }
  for (const ArenaPlan& arena : schedule.arenas) EXPECT_LT(arena.bytes, heads * a.rows * a.keys);
}

TEST(BlockGradients, AreAlongRowsAndKeys) {
  Scheduled s(few_rows_caps());
  const Attention a{s, 128, 128};
  expect_blocks(expect_right(s, a.all()), a);
}

TEST(BlockGradients, OfMoreKeysThanRows) {
  Scheduled s(few_rows_caps());
  const Attention a{s, 96, 160};
  expect_blocks(expect_right(s, a.all()), a);
}

TEST(BlockGradients, OfSizesWithoutDivisors) {
  Scheduled s(few_rows_caps());
  const Attention a{s, 113, 127};
  expect_right(s, a.all());
}

TEST(BlockGradients, AreAddedUpInMemoryThatIsKept) {
  Scheduled s(few_rows_caps());
  const Attention a{s, 128, 128};
  std::vector<UOp> kept;
  for (UOp u : a.all()) {
    const std::vector<std::int64_t> shape(u.shape().begin(), u.shape().end());
    const UOp memory = s.buffer(shape);
    kept.push_back(s.assign(memory, memory, u));
  }
  expect_blocks(expect_right(s, kept), a);
}

TEST(BlockGradients, EndWhereAMaskDoes) {
  Scheduled s(few_rows_caps());
  Attention a{s, 128, 128};
  a.mask = less(a.key(), a.row() + 1);
  expect_blocks(expect_right(s, a.all()), a);
}

// The first rows have few keys, and the last keys no row: the gradient of those is 0.
TEST(BlockGradients, AreZeroForKeysThatNoRowHas) {
  Scheduled s(few_rows_caps());
  Attention a{s, 96, 160};
  a.mask = less(a.key(), a.row() + 1);
  expect_blocks(expect_right(s, a.all()), a);
}

TEST(BlockGradients, BeginWhereAMaskDoes) {
  Scheduled s(few_rows_caps());
  Attention a{s, 128, 128};
  a.mask = less(a.row(), a.key() + 1);
  expect_blocks(expect_right(s, a.all()), a);
}

TEST(BlockGradients, AreAlongABand) {
  Scheduled s(few_rows_caps());
  Attention a{s, 128, 128};
  a.mask = less(a.key(), a.row() + 1) & less(a.row(), a.key() + 40);
  expect_blocks(expect_right(s, a.all()), a);
}

// Behind the mask of such rows nothing flows.
TEST(BlockGradients, OfRowsWithoutKeys) {
  Scheduled s(few_rows_caps());
  Attention a{s, 128, 128};
  a.mask = less(a.key() + 32, a.row() + 1);
  expect_blocks(expect_right(s, a.all()), a);
}

}  // namespace
}  // namespace croze::test
