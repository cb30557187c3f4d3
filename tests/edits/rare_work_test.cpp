// What is dear and seldom chosen is jumped over where nobody chooses it.
#include "croze/codegen/lower/rare_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/analysis/spec.h"
#include "croze/graph/graph.h"
#include "croze/render/llvm.h"
#include "croze/run/devices.h"
#include "edits/bind_lanes.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

constexpr DType f32 = DType::Float32;
constexpr std::int64_t rows = 6, columns = 16;

// A processor without sines of its own: they are sums that moderate arguments need, and products of
// wide integers that large ones need.
Caps caps_without_sine() {
  Caps caps = cpu_shaped_caps();
  caps.ops = LlvmRenderer::ops();
  return caps;
}

struct Loops {
  UOp row, column, x;
};

Loops loops_of(Graph& g, LoopKind kind_of_columns = LoopKind::Parallel) {
  const UOp row = g.range(0, rows, LoopKind::Parallel);
  const UOp column = g.range(1, columns, kind_of_columns);
  return {row, column, g.load(g.place(g.param(f32, 1, rows * columns), row * columns + column))};
}

UOp stored(const Loops& l, UOp value) {
  Graph& g = value.graph();
  const UOp place = g.place(g.param(f32, 0, rows * columns), l.row * columns + l.column);
  return g.sink(std::vector<UOp>{g.store(place, value, std::vector<UOp>{l.row, l.column})});
}

UOp sine(UOp x) { return x.graph().alu(Op::Sin, {x}); }

// A hundred instructions.
UOp dear(UOp x) {
  UOp result = x;
  for (int i = 0; i < 50; i++) result = result * x + x.graph().constant(f32, 1.0 + i);
  return result;
}

UOp is_negative(UOp x) { return less(x, x.graph().constant(f32, 0.0)); }
UOp is_large(UOp x) { return less(x.graph().constant(f32, 1e6), x); }

UOp row_sums(Graph& g) {
  const Loops l = loops_of(g, LoopKind::Reduce);
  const UOp sum = g.reduce(Op::Add, sine(l.x), std::vector<UOp>{l.column});
  const UOp place = g.place(g.param(f32, 0, rows), l.row);
  return g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{l.row})});
}

void by_vectors(KernelState& k) { bind_lanes(k, k.loops[1]); }
void by_numbers(KernelState&) {}

// Loops that turn as often as a value says.
std::int64_t jumps(UOp kernel, Chooser choose) {
  const LinearProgram program = make_program(kernel, caps_without_sine(), choose);
  check_program(program.instructions);
  return std::ranges::count_if(program.instructions,
                               [](UOp u) { return u.is(Op::Loop) && u.src(0).is_open(); });
}

// Rows of which none, one, some and all numbers are large, and such as are no numbers.
std::vector<float> numbers() {
  std::vector<float> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); i++) {
    const std::size_t row = i / columns, column = i % columns;
    const bool is_large = row == 1 ? column == 5 : row == 2 ? column % 3 == 0 : row == 3;
    x[i] = (is_large ? 1e6f : 0.37f) * static_cast<float>(i + 1) * (i % 2 ? -1.0f : 1.0f);
  }
  x[4 * columns + 2] = NAN;
  x[4 * columns + 7] = -INFINITY;
  x[5 * columns] = -0.0f;
  return x;
}

std::vector<float> run(Device& device, UOp kernel, std::size_t results, Chooser choose) {
  std::vector<float> out(results), in = numbers();
  std::vector<std::span<std::byte>> buffers{std::as_writable_bytes(std::span(out)),
                                            std::as_writable_bytes(std::span(in))};
  run_kernel(device, kernel, buffers, choose);
  return out;
}

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                 double most) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); i++) {
    EXPECT_EQ(std::isnan(actual[i]), std::isnan(expected[i])) << i;
    if (std::isnan(expected[i])) continue;
    EXPECT_EQ(std::signbit(actual[i]), std::signbit(expected[i])) << i;
    EXPECT_NEAR(actual[i], expected[i], most) << i;
  }
}

// On an interpreter and on the processor, by vectors and number by number.
void expect_everywhere(UOp kernel, const std::vector<double>& expected, double most) {
  const std::unique_ptr<Device> interpreter = make_interp_device(caps_without_sine());
  for (const Chooser choose : {Chooser(by_vectors), Chooser(by_numbers)}) {
    for (Device* device : {interpreter.get(), &croze::device(device_index("CPU"))}) {
      SCOPED_TRACE(device->caps().device);
      expect_near(run(*device, kernel, expected.size(), choose), expected, most);
    }
  }
}

TEST(RareWork, TheSineOfLargeNumbersIsJumpedOver) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp kernel = stored(l, sine(l.x));
  EXPECT_EQ(jumps(kernel, by_vectors), 1);
  EXPECT_EQ(jumps(kernel, by_numbers), 1);
  std::vector<double> expected;
  for (float x : numbers()) expected.push_back(std::sin(static_cast<double>(x)));
  expect_everywhere(kernel, expected, 0x1p-24);
}

// What is jumped over the second time waits for what was the first time.
TEST(RareWork, JumpsFollowEachOther) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp kernel = stored(l, sine(sine(l.x) * g.constant(f32, 8192.0)));
  EXPECT_EQ(jumps(kernel, by_vectors), 2);
  std::vector<double> expected;
  for (float x : numbers()) {
    const auto inner = static_cast<float>(std::sin(static_cast<double>(x)));
    expected.push_back(std::sin(static_cast<double>(inner * 8192.0f)));
  }
  // The inner one may be rounded to its other neighbour.
  expect_everywhere(kernel, expected, 8192 * 0x1p-24);
}

TEST(RareWork, JumpsStandInTheLoopsOfReductions) {
  Graph g;
  const UOp kernel = row_sums(g);
  EXPECT_EQ(jumps(kernel, by_numbers), 1);
  std::vector<double> expected(rows);
  const std::vector<float> x = numbers();
  for (std::size_t i = 0; i < x.size(); i++)
    expected[i / columns] += std::sin(static_cast<double>(x[i]));
  const std::unique_ptr<Device> interpreter = make_interp_device(caps_without_sine());
  for (Device* device : {interpreter.get(), &croze::device(device_index("CPU"))}) {
    expect_near(run(*device, kernel, rows, by_numbers), expected, columns * 0x1p-22);
  }
}

// A sum of three numbers is had for less than a jump.
TEST(RareWork, WhatIsCheapIsComputedAnyway) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp other = l.x * l.x + l.x;
  EXPECT_EQ(jumps(stored(l, where(is_negative(l.x), other, l.x)), by_vectors), 0);
}

// Another use wants it in all lanes.
TEST(RareWork, WhatIsUsedElsewhereIsComputedAnyway) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp chosen = where(is_negative(l.x), dear(l.x), l.x);
  EXPECT_EQ(jumps(stored(l, chosen), by_vectors), 1);
  EXPECT_EQ(jumps(stored(l, chosen + dear(l.x)), by_vectors), 0);
}

// In one loop one of them would need what the other has come to after it.
TEST(RareWork, ChoicesByOneConditionThatFollowEachOtherHaveTwoJumps) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp chosen = where(is_negative(l.x), dear(l.x), l.x);
  EXPECT_EQ(jumps(stored(l, chosen + where(is_negative(l.x), dear(chosen), l.x)), by_vectors), 2);
}

TEST(RareWork, AChoiceInsideOfOneByTheSameConditionStaysThere) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp inside = where(is_negative(l.x), dear(l.x), l.x);
  EXPECT_EQ(jumps(stored(l, where(is_negative(l.x), dear(inside), l.x)), by_vectors), 1);
}

// The first choice by each condition is what the second one by the other is made of: two loops
// would wait for each other.
TEST(RareWork, ChoicesByTwoConditionsThatCrossHaveFourJumps) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp a1 = where(is_negative(l.x), dear(l.x), l.x);
  const UOp b1 = where(is_large(l.x), dear(-l.x), l.x);
  const UOp a2 = where(is_negative(l.x), dear(b1), b1);
  const UOp b2 = where(is_large(l.x), dear(a1), a1);
  EXPECT_EQ(jumps(stored(l, a2 + b2), by_vectors), 4);
}

// Both sums are there after the loop: what is made of one of them waits for what the other is made
// of.
TEST(RareWork, AChoiceBehindALoopDoesNotJumpWithOneThatTheLoopNeeds) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp k = g.range(2, rows, LoopKind::Reduce);
  const UOp y = g.load(g.place(g.param(f32, 1, rows * columns), k * columns + l.column));
  const UOp larger = g.alu(Op::Max, {y, l.x});
  const UOp before = where(is_negative(l.x), dear(l.x), l.x);
  const UOp first = g.reduce(Op::Max, g.alu(Op::Max, {y, before}), std::vector<UOp>{k});
  const UOp second = g.reduce(Op::Max, larger, std::vector<UOp>{k});
  const UOp after = where(is_negative(l.x), dear(l.x + second), second);
  EXPECT_EQ(jumps(stored(l, first + after), by_numbers), 2);
}

// The loop of a jump is none of those that became copies of the code, of which a register may know.
TEST(RareWork, AJumpStandsBesideUnrolledLoops) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp k = g.range(2, 4, LoopKind::Reduce), copy = g.range(3, 4, LoopKind::Unroll);
  const UOp y = g.load(g.place(g.param(f32, 1, rows * columns), k * 4 + copy));
  const UOp greatest = g.reduce(Op::Max, y, std::vector<UOp>{k});
  const UOp sum = g.reduce(Op::Add, greatest, std::vector<UOp>{copy});
  EXPECT_EQ(jumps(stored(l, sine(l.x + sum)), by_numbers), 1);
}

// Elements of a row that is not wanted differ in what is chosen instead.
TEST(RareWork, ConditionsThatVaryLessThanTheirChoicesAreNotJumpedBy) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp y = g.load(g.place(g.param(f32, 1, rows * columns), l.row));
  EXPECT_EQ(jumps(stored(l, where(is_negative(y), dear(y), l.x)), by_numbers), 0);
}

// It is loaded again for each element, which may have changed it.
TEST(RareWork, WhatTheKernelStoresToIsNotJumpedByBeforeAllLoops) {
  Graph g;
  const Loops l = loops_of(g);
  const UOp y = g.load(g.place(g.param(f32, 0, rows * columns), l.row));
  EXPECT_EQ(jumps(stored(l, where(is_negative(y), dear(y), y) + l.x), by_numbers), 0);
}

// out[row] = a sum over 16 numbers of four places each where one in memory is negative, and else 1.
UOp sums_of_some_rows(Graph& g, std::int64_t slot = 1) {
  const UOp row = g.range(0, rows, LoopKind::Parallel), k = g.range(1, 16, LoopKind::Reduce);
  const auto at = [&](UOp index) {
    return g.load(g.place(g.param(f32, slot, rows * columns), index));
  };
  const auto near = [&](std::int64_t more) { return at(row * 4 + k + more); };
  const UOp sum = g.reduce(Op::Add, near(0) * near(8) + near(16) * near(28), std::vector<UOp>{k});
  const UOp place = g.place(g.param(f32, 0, rows * columns), row);
  const UOp value = where(is_negative(at(row)), sum, g.constant(f32, 1.0));
  return g.sink(std::vector<UOp>{g.store(place, value, std::vector<UOp>{row})});
}

// As keys of attention that a query does not see.
TEST(RareWork, WhatIsLoadedForAllLanesIsNotReadWhereItIsNotWanted) {
  const auto in_lanes = [](KernelState& k) {
    bind(k, closed_ranges(reduces(k.sink)[0])[0], LoopKind::Lane);
  };
  Graph g;
  const UOp kernel = sums_of_some_rows(g);
  EXPECT_EQ(jumps(kernel, in_lanes), 1);
  const LinearProgram program = make_program(kernel, caps_without_sine(), in_lanes);
  std::int64_t loops = 0, loads = 0;
  for (UOp u : program.instructions) {
    loops += u.is(Op::Loop) - u.is(Op::EndLoop);
    loads += loops == 2 && u.is(Op::Load) && buffer_of(u.src(0)).is(Op::Param);
  }
  EXPECT_EQ(loads, 4);
  // They may be others before the store.
  EXPECT_EQ(jumps(sums_of_some_rows(g, 0), in_lanes), 0);

  const std::vector<float> x = numbers();
  std::vector<double> expected;
  for (std::size_t row = 0; row < rows; row++) {
    double sum = 0;
    for (std::size_t i = row * 4; i < row * 4 + 16; i++)
      sum += double{x[i]} * x[i + 8] + double{x[i + 16]} * x[i + 28];
    expected.push_back(x[row] < 0 ? sum : 1);
  }
  const std::unique_ptr<Device> interpreter = make_interp_device(caps_without_sine());
  for (Device* device : {interpreter.get(), &croze::device(device_index("CPU"))}) {
    const std::vector<float> out = run(*device, kernel, rows, in_lanes);
    for (std::size_t i = 0; i < rows; i++)
      EXPECT_NEAR(out[i], expected[i], 1e-5 * std::abs(expected[i])) << i;
  }
}

// Which places are wanted is no matter of chance.
TEST(RareWork, WhatIndicesChooseIsComputedAnyway) {
  Graph g;
  const Loops l = loops_of(g);
  EXPECT_EQ(jumps(stored(l, where(less(l.column, g.index(3)), dear(l.x), l.x)), by_vectors), 0);
}

}  // namespace
}  // namespace croze
