// structure_test.cpp -- how many kernels a graph becomes, and that none repeats work.
#include <algorithm>

#include "croze/graph/rewrite/rewrite.h"
#include "schedule/products.h"
#include "schedule/scheduled.h"

namespace croze::test {
namespace {

TEST(Structure, ANormalisedRowIsOneKernel) {
  Scheduled s;
  const UOp x = s.buffer({64, 100});
  const UOp sum = s.expand(s.reduce(Op::Add, x, {1}), {64, 100});
  EXPECT_EQ(s.expect_right({s.graph.alu(Op::Max, {x, sum})}).steps.size(), 1u);
}

// Threads share the parts, whose sums are stored; those of rows are shared as they are.
TEST(Structure, ALongSumToOneNumberGoesInParts) {
  Scheduled s;
  std::vector<double> numbers;
  for (int i = 0; i < 1 << 18; i++) numbers.push_back(i % 7);
  const UOp x = s.buffer(numbers, {512, 512}, DType::Float32);
  EXPECT_EQ(s.expect_right({s.reduce(Op::Add, x, {0, 1})}).steps.size(), 2u);
  EXPECT_EQ(s.expect_right({s.reduce(Op::Max, x, {0, 1})}).steps.size(), 2u);
  EXPECT_EQ(s.expect_right({s.reduce(Op::Add, x, {1})}).steps.size(), 1u);
  EXPECT_EQ(s.expect_right({s.reduce(Op::Add, s.buffer({999}), {0})}).steps.size(), 1u);
}

TEST(Structure, AViewOfABufferIsNoKernel) {
  Scheduled s;
  const UOp x = s.buffer({6, 4});
  EXPECT_TRUE(s.schedule({s.reshape(x, {24})}).steps.empty());
}

TEST(Structure, AGatherReadsOnlyTheRowsItNames) {
  Scheduled s;
  const UOp table = s.buffer({1000, 8});
  const UOp rows = s.buffer({3, 1, 999, 500, 3}, {5, 1}, DType::Int32);
  const UOp row = s.expand(rows, {5, 8});
  const UOp column = s.expand(s.reshape(s.graph.iota(8), {1, 8}), {5, 8});
  const Schedule schedule =
      s.expect_right({s.graph.make(Op::Gather, DType::Float32, {table, row, column})});
  EXPECT_EQ(schedule.steps.size(), 1u);
  EXPECT_EQ(work_of(schedule), 5 * 8);
}

// A product whose rows are looked up element by element: they are stored in order first, if many
// columns want them.
TEST(Structure, WhatAProductLooksUpIsStoredIfManyReadIt) {
  const auto steps = [](std::int64_t columns) {
    Scheduled s;
    const UOp table = s.buffer({1000});
    std::vector<double> order;
    for (int i = 0; i < 64; i++) order.push_back(i * 37 % 1000);
    const UOp src[] = {table, s.buffer(order, {64}, DType::Int32)};
    const UOp values = s.graph.make(Op::Gather, DType::Float32, src);
    return s.expect_right({product(s, s.reshape(values, {1, 64}), s.buffer({64, columns}))})
        .steps.size();
  };
  EXPECT_EQ(steps(4), 1u);
  EXPECT_EQ(steps(100), 2u);
}

// The gradient of an embedding: work for the table and for the rows, not for their product.
TEST(Structure, AScatterWritesOnlyTheRowsItNames) {
  Scheduled s;
  const UOp zero = s.expand(s.reshape(s.graph.constant(DType::Float32, 0.0), {1, 1}), {1000, 8});
  const UOp gradient = s.buffer({5, 8});
  const UOp row = s.expand(s.buffer({3, 1, 999, 500, 3}, {5, 1}, DType::Int32), {5, 8});
  const UOp column = s.expand(s.reshape(s.graph.iota(8), {1, 8}), {5, 8});
  const UOp src[] = {zero, gradient, row, column};
  const UOp sum =
      s.graph.make(Op::Scatter, DType::Float32, src, Arg(static_cast<std::int64_t>(Op::Add)));
  const Schedule schedule = s.expect_right({sum});
  EXPECT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(work_of(schedule), 1000 * 8 + 5 * 8);
}

// The sum varies over columns only: a loop over columns outside of the one over rows would save
// work, and let row 0 write after row 12.
TEST(Structure, OfTheWritersOfAPlaceTheLastInRowMajorOrderWins) {
  Scheduled s;
  std::vector<double> to(13 * 8, -1);  // nowhere, but for column 7 of row 0 and column 0 of row 12
  to[7] = to[12 * 8] = 0;
  const UOp sum = s.expand(s.reduce(Op::Add, s.buffer({6, 8}), {0}), {13, 8});
  const UOp src[] = {s.buffer({3}), sum, s.buffer(to, {13, 8}, DType::Int32)};
  s.expect_right({s.graph.make(Op::Scatter, DType::Float32, src, Arg(std::int64_t{0}))});
}

TEST(Structure, AReductionWithTwoUsersIsComputedOnce) {
  Scheduled s;
  const UOp x = s.buffer({40, 50});
  const UOp sum = s.reduce(Op::Add, x, {0});
  const Schedule schedule = s.expect_right({s.contiguous(sum + 1), s.contiguous(sum * 3)});
  EXPECT_LE(work_of(schedule), 40 * 50 + 2 * 50);
}

TEST(Structure, AReductionOfABroadcastReductionIsNotRepeated) {
  Scheduled s;
  const UOp x = s.buffer({30, 40});
  const UOp row = s.expand(s.reduce(Op::Max, x, {0}), {30, 40});
  const Schedule schedule = s.expect_right({s.reduce(Op::Add, row, {0, 1})});
  EXPECT_LE(work_of(schedule), 2 * 30 * 40);
}

TEST(Structure, WhatIsStoredForOneKernelIsNotComputedAgainByAnother) {
  // The kernel of the result is made first and adds h; that h is stored is found for its rows.
  Scheduled s;
  const UOp h = s.buffer({16, 16}) + product(s, s.buffer({16, 16}), s.buffer({16, 16}));
  const UOp result = h + product(s, normalised(s, h), s.buffer({16, 16}));
  const Schedule schedule = s.expect_right({result});
  EXPECT_LE(work_of(schedule), 3 * 16 * 16 * 16);
}

// What a product is scaled, shifted and clamped to is stored for the next one, which loads it; what
// is one number for each column is nothing beside the sums, and has no buffer.
TEST(Structure, AnActivationBelongsToTheProductBelowIt) {
  Scheduled s;
  const auto matrix = [&s](std::vector<std::int64_t> shape) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < shape[0] * shape[1]; i++)
      numbers.push_back(static_cast<double>(i % 7 - 3));
    return s.buffer(numbers, std::move(shape), DType::Float32);
  };
  const auto columns = [&](UOp row) { return s.expand(row, {64, 128}); };
  const UOp scale = matrix({1, 128}) * 2 + 1;
  const UOp h =
      product(s, matrix({64, 32}), matrix({32, 128})) * columns(scale) + columns(matrix({1, 128}));
  const UOp zero = constant_like(h, 0), clamped = where(less(zero, h), h, zero);
  const Schedule schedule = s.expect_right({product(s, clamped, matrix({128, 96}))});
  ASSERT_EQ(schedule.steps.size(), 2u);
  const auto chooses = [&](std::size_t step) {
    const std::vector<UOp> all = toposort(schedule.steps[step].kernel->sink);
    return std::ranges::any_of(all, [](UOp u) { return u.is(Op::Where); });
  };
  EXPECT_TRUE(chooses(0));
  EXPECT_FALSE(chooses(1));
}

TEST(Structure, CheapArithmeticWithTwoUsersIsNotStored) {
  Scheduled s;
  const UOp x = s.buffer({50}) + 1;
  const Schedule schedule = s.expect_right({s.contiguous(x * 2), s.contiguous(x * 3)});
  EXPECT_EQ(schedule.steps.size(), 2u);
  EXPECT_TRUE(schedule.arenas.empty());
}

TEST(Structure, AMaskOfPositionsIsNotStored) {
  // Two products want it, each a mask of another of its operands.
  Scheduled s;
  const UOp row = s.expand(s.reshape(s.graph.iota(16), {16, 1}), {16, 16});
  const UOp column = s.expand(s.reshape(s.graph.iota(16), {1, 16}), {16, 16});
  const UOp mask = less(column, row + 1), x = s.buffer({16, 16});
  const UOp masked = where(mask, x, constant_like(x, 0));
  const Schedule schedule = s.expect_right(
      {product(s, masked, s.buffer({16, 16})), product(s, s.buffer({16, 16}), masked)});
  EXPECT_TRUE(schedule.arenas.empty());
}

TEST(Structure, EqualKernelsAreOneKernel) {
  Scheduled s;
  const UOp a = s.buffer({50}), b = s.buffer({50}), c = s.buffer({50});
  const Schedule schedule = s.expect_right({a * b + 1, b * c + 1});
  ASSERT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.steps[0].kernel, schedule.steps[1].kernel);
}

TEST(Structure, ALongExpressionIsCutIntoKernels) {
  Scheduled s;
  UOp x = s.buffer({50});
  for (int i = 0; i < 2000; i++) x = x * 3 % 7 + i;
  const std::size_t steps = s.schedule({x}).steps.size();
  EXPECT_GE(steps, 5u);
  EXPECT_LE(steps, 100u);
}

TEST(Canonical, TheFormOfAGraphDoesNotDependOnItsBuffers) {
  Scheduled s;
  const UOp a = s.buffer({9}), b = s.buffer({9}), c = s.buffer({9});
  auto key = [](UOp root) { return canonical_graph(std::span(&root, 1)).key; };
  EXPECT_EQ(key(s.graph.make(Op::Add, a.dtype(), {a, b})),
            key(s.graph.make(Op::Add, a.dtype(), {b, c})));
  EXPECT_NE(key(s.graph.make(Op::Add, a.dtype(), {a, a})),
            key(s.graph.make(Op::Add, a.dtype(), {a, b})));
  EXPECT_NE(key(a * 2), key(a * 3));
  EXPECT_NE(key(a * 2), key(s.buffer({10}) * 2));
}

TEST(Canonical, OfAGivenGradientTheValueIsLeft) {
  Scheduled s;
  const UOp a = s.buffer({9}), b = s.buffer({9});
  const auto given = [&](UOp value) {
    const UOp sources[] = {value, b * 3};
    const std::int64_t arg[] = {0, 0};
    return s.graph.make(Op::WithGradient, a.dtype(), sources, Arg(std::span(arg)));
  };
  auto form = [](UOp root) { return canonical_graph(std::span(&root, 1)); };
  EXPECT_EQ(form(given(a * 2)).key, form(a * 2).key);
  EXPECT_EQ(form(given(given(a * 2)) * 5).key, form(a * 2 * 5).key);
  EXPECT_EQ(form(given(a * 2)).inputs.size(), 1u);
  EXPECT_EQ(form(given(a)).roots[0].op(), Op::Contiguous) << "memory is copied";
}

// Under the gate of the window its index is one of the output row alone, and the loop over the
// other axis is padded to whole vectors.
TEST(Structure, WindowsPutBackReadNoFurtherThanTheirBuffer) {
  Scheduled s;
  const UOp last = s.move(Op::Shrink, s.buffer({2, 10}), {1, 2, 0, 10});
  s.expect_right({s.move(Op::Unwindow, last, {0, 12, 1, 1})});
}

TEST(Structure, OfALargeStackItsDearPartsAreStored) {
  Scheduled s;
  UOp stack;
  for (std::int64_t i = 0; i < 12; i++) {
    UOp part = s.buffer({1, 64});
    for (int n = 0; n < 40; n++) part = s.graph.alu(Op::Max, {part * 3, part + n});
    const UOp row = s.move(Op::Pad, part, {i, 11 - i, 0, 0});
    stack = stack ? stack + row : row;
  }
  const Schedule schedule = s.expect_right({stack});
  for (const ScheduleBuffer& b : schedule.buffers) {
    EXPECT_TRUE(b.elements <= 64 || b.reason.cause == BufferCause::Requested) << b.elements;
  }
}

}  // namespace
}  // namespace croze::test
