// led_blocks_test.cpp -- attention in blocks of rows and of keys, whose sums move with the maximum.
#include <cmath>
#include <limits>
#include <vector>

#include "schedule/products.h"

namespace croze::test {
namespace {

constexpr std::int64_t heads = 2, rows = 64, keys = 256, width = 24;
constexpr double none = -std::numeric_limits<double>::infinity();

// Half of the cache holds two rows of scores, or more of fewer keys.
Caps few_rows_caps() {
  Caps caps = cpu_shaped_caps();
  caps.l2_bytes = 2 * 2 * keys * 4;
  return caps;
}

std::vector<double> some_numbers(std::int64_t count, int seed) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; i++) {
    numbers.push_back(static_cast<double>((i * 37 + seed * 101) % 29) / 16 - 0.875);
  }
  return numbers;
}

UOp input(Scheduled& s, std::vector<std::int64_t> shape, int seed) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  return s.buffer(some_numbers(count, seed), std::move(shape), DType::Float32);
}

UOp scores(Scheduled& s) {
  return product(s, input(s, {heads, rows, width}, 1), input(s, {heads, width, keys}, 2)) * 3;
}

UOp softmax(Scheduled& s, UOp x) {
  const std::vector<std::int64_t> shape(x.shape().begin(), x.shape().end());
  const UOp e = s.graph.alu(Op::Exp, {x - s.expand(s.reduce(Op::Max, x, {2}), shape)});
  const UOp sum = s.graph.alu(Op::Reciprocal, {s.reduce(Op::Add, e, {2})});
  return e * s.expand(sum, shape);
}

// Of values that do not cancel.
UOp attention(Scheduled& s, UOp p) {
  std::vector<double> values = some_numbers(heads * keys * width, 3);
  for (double& v : values) v += 1.5;
  return s.contiguous(product(s, p, s.buffer(values, {heads, keys, width}, DType::Float32)));
}

// What is left of the scores behind a mask over rows and keys.
UOp behind(Scheduled& s, UOp mask, UOp x) {
  const std::vector<std::int64_t> shape(x.shape().begin(), x.shape().end());
  const UOp nothing = s.expand(s.reshape(x.graph().constant(x.dtype(), none), {1, 1, 1}), shape);
  return where(s.expand(mask, shape), x, nothing);
}

UOp numbered(Scheduled& s, std::int64_t count, std::vector<std::int64_t> shape) {
  const UOp numbers = s.reshape(s.graph.iota(count), std::move(shape));
  return s.expand(numbers, {1, rows, keys});
}

void expect_blocks_of_keys(const Schedule& schedule) {
  ASSERT_EQ(schedule.sequences.size(), 1u);
  EXPECT_GT(schedule.sequences[0].in_order, 1);
  for (const ScheduleBuffer& b : schedule.buffers) {
    EXPECT_TRUE(b.kind != ScheduleBuffer::Kind::Block || b.elements < rows * keys);
  }
}

TEST(LedBlocks, AreAlongKeysAsWell) {
  Scheduled s(few_rows_caps());
  expect_blocks_of_keys(s.expect_right({attention(s, softmax(s, scores(s)))}, 1e-5));
}

TEST(LedBlocks, AddUpIntoMemoryThatIsKept) {
  Scheduled s(few_rows_caps());
  const UOp kept = input(s, {heads, rows, width}, 7);
  expect_blocks_of_keys(
      s.expect_right({s.assign(kept, kept, attention(s, softmax(s, scores(s))))}, 1e-5));
}

// Behind a causal mask later blocks have nothing to add, and the last that has is no longer the
// same for all rows.
TEST(LedBlocks, EndWhereAMaskDoes) {
  Scheduled s(few_rows_caps());
  const UOp row = numbered(s, rows, {1, rows, 1}), key = numbered(s, keys, {1, 1, keys});
  const UOp x = behind(s, less(key, row * 4 + 1), scores(s));
  expect_blocks_of_keys(s.expect_right({attention(s, softmax(s, x))}, 1e-5));
}

// A row may begin with blocks of which a mask leaves nothing.
TEST(LedBlocks, BeginWithNothing) {
  Scheduled s(few_rows_caps());
  const UOp row = numbered(s, rows, {1, rows, 1}), key = numbered(s, keys, {1, 1, keys});
  const UOp x = behind(s, less(row * 4 - 1, key), scores(s));
  expect_blocks_of_keys(s.expect_right({attention(s, softmax(s, x))}, 1e-5));
}

// Infinities and NaNs come out as of whole rows.
TEST(LedBlocks, KeepSpecialValues) {
  Scheduled s(few_rows_caps());
  std::vector<double> numbers = some_numbers(heads * rows * width, 1);
  std::size_t row = 5;
  for (const double special : {std::nan(""), -none, none}) {
    numbers[row * width] = special;
    row += 9;
  }
  const UOp q = s.buffer(numbers, {heads, rows, width}, DType::Float32);
  const UOp x = product(s, q, input(s, {heads, width, keys}, 2));
  expect_blocks_of_keys(s.expect_right({attention(s, softmax(s, x))}, 1e-5));
}

// Who wants the weights themselves wants them whole.
TEST(LedBlocks, AreOfWholeRowsWhereOthersWantTheWeights) {
  Scheduled s(few_rows_caps());
  const UOp p = softmax(s, scores(s));
  const Schedule schedule = s.expect_right({attention(s, p), s.contiguous(p)}, 1e-5);
  for (const ScheduleSequence& sequence : schedule.sequences) EXPECT_EQ(sequence.in_order, 1);
}

}  // namespace
}  // namespace croze::test
