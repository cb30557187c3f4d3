// device_suite_programs.cpp -- small programs with memory, loops, lanes and tasks, compared
// with what C++ computes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "croze/base/error.h"
#include "croze/render/renderer.h"
#include "support/device_suite.h"
#include "support/programs.h"

namespace croze::test {
namespace {

class DevicePrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device_under_test()) GTEST_SKIP() << "the machine lacks the device";
  }
  Device& device() { return *device_under_test(); }

  bool runs_tasks() { return !device().caps().has_groups; }
  bool has_lanes() { return device().caps().vector_bytes > 0 || device().name() == "INTERP"; }
};

// ---- loads and stores -------------------------------------------------------------------------

TEST_F(DevicePrograms, LoopComputesEveryElement) {
  ProgramBuilder b("axpy");
  const UOp x = b.param(DType::Float32, 100), y = b.param(DType::Float32, 100);
  const UOp i = b.begin_loop(100);
  const UOp a = b.graph().constant(DType::Float32, 2.5);
  b.store(y, i, a * b.load(x, i) + b.load(y, i));
  b.end_loop(i);

  std::vector<float> xs = consecutive(100, -20), ys = consecutive(100, 7);
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys)});
  for (int k = 0; k < 100; k++) {
    const auto n = static_cast<float>(k);
    EXPECT_EQ(ys[k], 2.5f * (n - 20) + (n + 7));
  }
}

// y[i] = x[i - 2] where that lies in x, else 0.
LinearProgram shifted_program(std::int64_t n, std::int64_t lanes) {
  ProgramBuilder b("shifted");
  const UOp x = b.param(DType::Int16, n), y = b.param(DType::Int16, n + 4);
  const UOp i = b.begin_loop((n + 4) / lanes);
  const UOp out = lanes > 1 ? i * lanes + b.lane(lanes) : i;
  const UOp in = out + -2;
  const UOp gate = less(b.integer(-1), in) & less(in, n);
  b.store(y, out, b.load(x, in, gate));
  b.end_loop(i);
  return b.finish();
}

TEST_F(DevicePrograms, GatedLoadIsZeroAndTouchesNoMemory) {
  for (std::int64_t lanes : {1, 4}) {
    if (lanes > 1 && !has_lanes()) continue;
    std::vector<std::int16_t> x(12), y(16, 99);
    std::iota(x.begin(), x.end(), std::int16_t{5});
    run_program(device(), shifted_program(12, lanes), {bytes_of(x), bytes_of(y)});
    for (int k = 0; k < 16; k++) EXPECT_EQ(y[k], k < 2 || k >= 14 ? 0 : k - 2 + 5) << k;
  }
}

// A compiler may unroll the loop, know that the last byte is zero, and forget that it is a byte.
TEST_F(DevicePrograms, AByteThatAGateClosesIsStoredAsOne) {
  ProgramBuilder b("closed");
  const UOp x = b.param(DType::Int8, 7), y = b.param(DType::Int8, 9);
  const UOp i = b.begin_loop(8);
  b.store(y, i, b.load(x, i, less(i, 7)));
  b.end_loop(i);

  std::vector<std::int8_t> from(7), to(9, 99);
  std::iota(from.begin(), from.end(), std::int8_t{5});
  run_program(device(), b.finish(), {bytes_of(from), bytes_of(to)});
  EXPECT_EQ(to, (std::vector<std::int8_t>{5, 6, 7, 8, 9, 10, 11, 0, 99}));
}

TEST_F(DevicePrograms, GatedStoreLeavesTheRestAlone) {
  for (std::int64_t lanes : {1, 8}) {
    if (lanes > 1 && !has_lanes()) continue;
    ProgramBuilder b("gated_store");
    const UOp x = b.param(DType::Float32, 13), y = b.param(DType::Float32, 13);
    const UOp i = b.begin_loop(16 / lanes);
    const UOp at = lanes > 1 ? i * lanes + b.lane(lanes) : i;
    const UOp gate = less(at, 13);
    b.store(y, at, b.load(x, at, gate), gate);
    b.end_loop(i);

    std::vector<float> xs = consecutive(13, 1), ys(13, -1);
    run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys)});
    EXPECT_EQ(ys, xs);
  }
}

// y[i] = x[index[i]] and, scattered, z[index[i]] = x[i].
TEST_F(DevicePrograms, IndicesMayComeFromMemory) {
  for (std::int64_t lanes : {1, 4}) {
    if (lanes > 1 && !has_lanes()) continue;
    ProgramBuilder b("gather");
    const UOp x = b.param(DType::Float32, 8), index = b.param(DType::Int32, 8);
    const UOp y = b.param(DType::Float32, 8), z = b.param(DType::Float32, 8);
    const UOp i = b.begin_loop(8 / lanes);
    const UOp at = lanes > 1 ? i * lanes + b.lane(lanes) : i;
    const UOp there = b.load(index, at);
    b.store(y, at, b.load(x, there));
    b.store(z, there, b.load(x, at));
    b.end_loop(i);

    std::vector<float> xs = consecutive(8, 10), ys(8), zs(8);
    std::vector<std::int32_t> indices = {3, 0, 7, 1, 6, 5, 2, 4};
    run_program(device(), b.finish(),
                {bytes_of(xs), bytes_of(indices), bytes_of(ys), bytes_of(zs)});
    for (int k = 0; k < 8; k++) {
      EXPECT_EQ(ys[k], xs[indices[k]]);
      EXPECT_EQ(zs[indices[k]], xs[k]);
    }
  }
}

TEST_F(DevicePrograms, BoolsAreBytesInMemory) {
  if (!has_lanes()) GTEST_SKIP() << "the device has no vectors";
  ProgramBuilder b("bools");
  const UOp x = b.param(DType::Float32, 8), mask = b.param(DType::Bool, 8);
  const UOp y = b.param(DType::Bool, 8);
  const UOp loop = b.begin_loop(2);
  const UOp i = loop * 4 + b.lane(4);
  b.store(
      y, i,
      less(b.load(x, i), b.graph().constant(DType::Float32, 3.5)) & logical_not(b.load(mask, i)));
  b.end_loop(loop);

  std::vector<float> xs = consecutive(8);
  std::vector<std::uint8_t> masks = {0, 1, 0, 1, 0, 1, 0, 1}, ys(8, 77);
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(masks), bytes_of(ys)});
  EXPECT_EQ(ys, (std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 0}));
}

// Of masks, too, which are no vectors of bytes everywhere: z takes every other lane of each.
TEST_F(DevicePrograms, LanesAreExchanged) {
  if (!device().caps().exchanges_lanes) GTEST_SKIP() << "the device exchanges no lanes";
  constexpr std::int64_t lanes = 16;
  ProgramBuilder b("exchanged");
  const UOp x = b.param(DType::Float32, lanes), y = b.param(DType::Float32, lanes);
  const UOp z = b.param(DType::Float32, lanes), high = b.param(DType::Bool, lanes);
  const UOp k = b.lane(lanes);
  const UOp from_x = b.load(x, k), from_y = b.load(y, k);
  const UOp bound = b.graph().constant(DType::Float32, 8.5);
  b.store(z, k, b.exchange(from_x, from_y, 1));
  b.store(high, k, b.exchange(less(bound, from_x), less(bound, from_y), -2));

  std::vector<float> xs = consecutive(lanes), ys = consecutive(lanes, -100), zs(lanes);
  ys[14] = 9;
  std::vector<std::uint8_t> highs(lanes, 77);
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys), bytes_of(zs), bytes_of(highs)});
  for (std::size_t l = 0; l < lanes; l++) {
    EXPECT_EQ(zs[l], l & 1 ? ys[l - 1] : xs[l]) << l;
    EXPECT_EQ(highs[l], (l & 2 ? ys[l] : xs[l + 2]) > 8.5f) << l;
  }
}

TEST_F(DevicePrograms, VariablesComeWithTheLaunch) {
  if (!device().caps().has_dtype(DType::Int64)) GTEST_SKIP() << "the device has no int64";
  ProgramBuilder b("variables");
  const UOp y = b.param(DType::Int64, 10);
  const UOp n = b.variable(0, 10), step = b.variable(-1'000'000'000'000, 1'000'000'000'000);
  const UOp i = b.begin_loop(10);
  const UOp wide = cast(i, DType::Int64);
  b.store(y, i, wide * step, less(wide, n));
  b.end_loop(i);

  std::vector<std::int64_t> ys(10, 1);
  run_program(device(), b.finish(), {bytes_of(ys)}, {6, -123'456'789'012});
  for (int k = 0; k < 10; k++) EXPECT_EQ(ys[k], k < 6 ? k * -123'456'789'012 : 1);
}

TEST_F(DevicePrograms, VectorReadsAllLanesBeforeItWritesAny) {
  if (!has_lanes()) GTEST_SKIP() << "the device has no vectors";
  ProgramBuilder b("rotate");
  const UOp x = b.param(DType::Int32, 8);
  const UOp k = b.lane(8);
  const UOp next = b.graph().alu(Op::And, {k + 1, b.integer(7)});
  b.store(x, k, b.load(x, next));

  std::vector<std::int32_t> xs = {0, 1, 2, 3, 4, 5, 6, 7};
  run_program(device(), b.finish(), {bytes_of(xs)});
  EXPECT_EQ(xs, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 0}));
}

TEST_F(DevicePrograms, LoadAfterStoreSeesWhatWasStored) {
  for (std::int64_t lanes : {1, 4}) {
    if (lanes > 1 && !has_lanes()) continue;
    ProgramBuilder b("after");
    const UOp x = b.param(DType::Int32, 4), y = b.param(DType::Int32, 4);
    const UOp i = b.begin_loop(4 / lanes);
    const UOp at = lanes > 1 ? i * lanes + b.lane(lanes) : i;
    const UOp before = b.load(x, at);
    const UOp stored = b.store(x, at, before * 10);
    const UOp after = b.load(x, at, {}, {stored});
    b.store(y, at, before + after);
    b.end_loop(i);

    std::vector<std::int32_t> xs = {1, 2, 3, 4}, ys(4);
    run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys)});
    EXPECT_EQ(xs, (std::vector<std::int32_t>{10, 20, 30, 40}));
    EXPECT_EQ(ys, (std::vector<std::int32_t>{11, 22, 33, 44}));
  }
}

// ---- loops and registers ----------------------------------------------------------------------

TEST_F(DevicePrograms, RegisterCarriesASumThroughNestedLoops) {
  if (!device().caps().has_dtype(DType::Float64)) GTEST_SKIP() << "the device has no float64";
  const int rows = 5, columns = 6, depth = 7;
  ProgramBuilder b("matmul");
  const UOp x = b.param(DType::Float64, rows * depth), y = b.param(DType::Float64, depth * columns);
  const UOp z = b.param(DType::Float64, rows * columns);
  const UOp sum = b.mutable_register(DType::Float64);
  const UOp i = b.begin_loop(rows);
  const UOp j = b.begin_loop(columns);
  b.write(sum, b.graph().constant(DType::Float64, 0.0));
  const UOp k = b.begin_loop(depth);
  const UOp product = b.load(x, i * depth + k) * b.load(y, k * columns + j);
  b.write(sum, b.read(sum) + product);
  const UOp end = b.end_loop(k);
  b.store(z, i * columns + j, b.read(sum, {end}));
  b.end_loop(j);
  b.end_loop(i);

  std::vector<double> xs(rows * depth), ys(depth * columns), zs(rows * columns);
  for (std::size_t n = 0; n < xs.size(); n++) xs[n] = 0.5 * static_cast<double>(n) - 3;
  for (std::size_t n = 0; n < ys.size(); n++) ys[n] = static_cast<double>(n % 5) - 2;
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys), bytes_of(zs)});
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < columns; c++) {
      double expected = 0;
      for (int d = 0; d < depth; d++) expected += xs[r * depth + d] * ys[d * columns + c];
      EXPECT_EQ(zs[r * columns + c], expected);
    }
  }
}

// Odd numbers are doubled, in a loop that turns once for them and else never.
TEST_F(DevicePrograms, AJumpIsTakenWhereItIsWanted) {
  ProgramBuilder b("jump");
  const UOp x = b.param(DType::Int32, 4);
  const UOp i = b.begin_loop(4);
  const UOp value = b.load(x, i);
  const UOp jump = b.begin_loop(b.emit(b.graph().alu(Op::And, {value, b.integer(1)})));
  b.store(x, i, value * 2 + jump);
  b.end_loop(jump);
  b.end_loop(i);

  std::vector<std::int32_t> xs = {-3, 0, 5, 8};
  run_program(device(), b.finish(), {bytes_of(xs)});
  EXPECT_EQ(xs, (std::vector<std::int32_t>{-6, 0, 10, 8}));
}

// The sum (or another reduction) of x, with one partial result per lane.
LinearProgram reduction_program(Op op, DType t, std::int64_t n, std::int64_t lanes,
                                double neutral) {
  ProgramBuilder b("reduction");
  const UOp x = b.param(t, n), y = b.param(t, 1);
  const UOp k = b.lane(lanes);
  const UOp partial = b.mutable_register(t, k);
  b.write(partial, b.graph().constant(t, neutral));
  const UOp i = b.begin_loop(n / lanes);
  const UOp value = b.load(x, i * lanes + k);
  b.write(partial, b.graph().alu(op, {b.read(partial), value}));
  const UOp end = b.end_loop(i);
  b.store(y, b.integer(0), b.reduce(op, b.read(partial, {end}), k));
  return b.finish();
}

TEST_F(DevicePrograms, LanesReduceToAScalar) {
  if (!has_lanes()) GTEST_SKIP() << "the device has no vectors";
  for (std::int64_t lanes : {2, 3, 4, 5, 8, 16}) {
    const std::int64_t n = lanes * 6;
    std::vector<float> xs = consecutive(n, -3), sum(1), greatest(1);
    run_program(device(), reduction_program(Op::Add, DType::Float32, n, lanes, 0),
                {bytes_of(xs), bytes_of(sum)});
    EXPECT_EQ(sum[0], std::accumulate(xs.begin(), xs.end(), 0.0f));
    run_program(device(), reduction_program(Op::Max, DType::Float32, n, lanes, -1e30),
                {bytes_of(xs), bytes_of(greatest)});
    EXPECT_EQ(greatest[0], xs.back());
  }
}

TEST_F(DevicePrograms, LanesOfFractionsAndNaNReduce) {
  if (!has_lanes()) GTEST_SKIP() << "the device has no vectors";
  std::vector<float> xs(16, 0.25f), result(1);
  const LinearProgram sum = reduction_program(Op::Add, DType::Float32, 16, 8, 0);
  const LinearProgram least = reduction_program(Op::Min, DType::Float32, 16, 8, 1e30);
  run_program(device(), sum, {bytes_of(xs), bytes_of(result)});
  EXPECT_EQ(result[0], 4.0f);
  xs[11] = -0.5f;
  run_program(device(), least, {bytes_of(xs), bytes_of(result)});
  EXPECT_EQ(result[0], -0.5f);
  xs[5] = std::nanf("");
  run_program(device(), least, {bytes_of(xs), bytes_of(result)});
  EXPECT_TRUE(std::isnan(result[0]));
}

TEST_F(DevicePrograms, IntegerSumsWrap) {
  if (!has_lanes()) GTEST_SKIP() << "the device has no vectors";
  std::vector<std::int32_t> xs(16, 2'000'000'000), sum(1);
  run_program(device(), reduction_program(Op::Add, DType::Int32, 16, 4, 0),
              {bytes_of(xs), bytes_of(sum)});
  EXPECT_EQ(sum[0], static_cast<std::int32_t>(16 * 2'000'000'000LL));
}

TEST_F(DevicePrograms, TwoLaneRangesKeepApart) {
  if (!has_lanes()) GTEST_SKIP() << "the device has no vectors";
  ProgramBuilder b("two_lanes");
  const UOp x = b.param(DType::Float32, 12), y = b.param(DType::Float32, 12);
  const UOp four = b.lane(4), eight = b.lane(8);
  const UOp first = b.load(x, four);
  const UOp second = b.load(x, eight + 4);
  const UOp total = b.reduce(Op::Add, second, eight);  // a scalar, broadcast to four lanes
  b.store(y, four, first * total);
  b.store(y, eight + 4, second * second);

  std::vector<float> xs = consecutive(12), ys(12);
  run_program(device(), b.finish(), {bytes_of(xs), bytes_of(ys)});
  for (int k = 0; k < 12; k++) {
    EXPECT_EQ(ys[k], k < 4 ? static_cast<float>(k * 60) : static_cast<float>(k * k));
  }
}

// Each step chooses by and among what the step before has chosen: a compiler that looks into both
// arms of a choice, and from there into the values that they name, would never end.
TEST_F(DevicePrograms, ALongChainOfChoicesIsCompiled) {
  constexpr int steps = 100;
  ProgramBuilder b("choices");
  const UOp x = b.param(DType::Int32, 1), y = b.param(DType::Int32, 1), zero = b.integer(0);
  const UOp first = b.load(x, zero), limit = constant_like(first, 1000);
  UOp a = first, c = first + constant_like(first, 1);
  for (int k = 0; k < steps; k++) {
    const UOp is_less = less(a, limit);
    const UOp sum = a + c;
    a = where(is_less, c, a);
    c = where(is_less, sum, c);
  }
  b.store(y, zero, a);

  std::vector<std::int32_t> in{1}, out{0};
  run_program(device(), b.finish(), {bytes_of(in), bytes_of(out)});
  std::int32_t p = 1, q = 2;
  while (p < 1000) p = std::exchange(q, p + q);
  EXPECT_EQ(out[0], p);
}

TEST_F(DevicePrograms, EmptyLoopsDoNothing) {
  ProgramBuilder b("empty");
  const UOp y = b.param(DType::Float32, 1);
  const UOp i = b.begin_loop(0);
  b.store(y, i, b.graph().constant(DType::Float32, 1.0));
  b.end_loop(i);

  std::vector<float> ys = {5};
  run_program(device(), b.finish(), {bytes_of(ys)});
  EXPECT_EQ(ys[0], 5);
}

// ---- tasks ------------------------------------------------------------------------------------

// Each task copies its part of x to scratch, forwards, and from there to y, backwards.
LinearProgram scratch_program(std::int64_t tasks, std::int64_t n) {
  ProgramBuilder b("scratch");
  const UOp x = b.param(DType::Float32, tasks * n), y = b.param(DType::Float32, tasks * n);
  const UOp padding = b.local(DType::Int8, 3, Space::Thread);
  const UOp tile = b.local(DType::Float32, n, Space::Thread);
  const UOp first = b.emit(b.special(0, tasks, LoopKind::Thread) * n);
  b.store(padding, b.integer(2), b.graph().constant(DType::Int8, 1.0));
  const UOp i = b.begin_loop(n);
  b.store(tile, i, b.load(x, first + i));
  const UOp filled = b.end_loop(i);
  const UOp j = b.begin_loop(n);
  b.store(y, first + j, b.load(tile, -j + (n - 1), {}, {filled}));
  b.end_loop(j);
  return b.finish();
}

TEST_F(DevicePrograms, TasksHaveScratchOfTheirOwn) {
  if (!runs_tasks()) GTEST_SKIP() << "the device runs groups";
  const std::int64_t tasks = 37, n = 50;
  std::vector<float> xs = consecutive(tasks * n), ys(tasks * n);
  run_program(device(), scratch_program(tasks, n), {bytes_of(xs), bytes_of(ys)});
  for (std::int64_t k = 0; k < tasks * n; k++) {
    EXPECT_EQ(ys[k], xs[k / n * n + (n - 1 - k % n)]) << k;
  }
}

// ---- the device itself ------------------------------------------------------------------------

LinearProgram increment_program() {
  ProgramBuilder b("increment");
  const UOp x = b.param(DType::Int32, 4);
  const UOp i = b.begin_loop(4);
  b.store(x, i, b.load(x, i) + 1);
  b.end_loop(i);
  return b.finish();
}

TEST_F(DevicePrograms, LaunchesAndCopiesKeepTheirOrder) {
  const LinearProgram increment = increment_program();
  const std::unique_ptr<Program> program = compile_program(device(), increment);
  const MemoryView view{device().allocate(16), 0, 16};
  std::vector<std::int32_t> values = {0, 10, 20, 30};
  device().copy_in(view, bytes_of(values));
  for (int i = 0; i < 100; i++) program->launch(std::span(&view, 1), {});
  device().copy_out(bytes_of(values), view);
  EXPECT_EQ(values, (std::vector<std::int32_t>{100, 110, 120, 130}));
  device().release(view.memory);
}

// ---- sequences of programs, block by block ----

// inner[k] = 10 * i + j + k, in memory of the block; out[i, j, k] = 2 * inner[k].
struct BlockedPrograms {
  static constexpr std::int64_t rows = 3, columns = 5, width = 4;

  LinearProgram fill, twice;

  BlockedPrograms() {
    ProgramBuilder f("fill");
    const UOp inner = f.param(DType::Int32, width);
    const UOp i = f.variable(0, rows - 1), j = f.variable(0, columns - 1);
    const UOp k = f.begin_loop(width);
    f.store(inner, k, f.graph().cast(i * 10 + j, DType::Int32) + k);
    f.end_loop(k);
    fill = f.finish();
    ProgramBuilder t("twice");
    const UOp out = t.param(DType::Int32, rows * columns * width);
    const UOp from = t.param(DType::Int32, width);
    const UOp row = t.variable(0, rows - 1), column = t.variable(0, columns - 1);
    const UOp n = t.begin_loop(width);
    const UOp at = t.graph().cast((row * columns + column) * width, DType::Int32) + n;
    const UOp value = t.load(from, n);
    t.store(out, at, value + value);
    t.end_loop(n);
    twice = t.finish();
  }
};

TEST_F(DevicePrograms, BlocksHaveTheirOwnMemoryAndKnowTheirPlace) {
  if (!device().caps().joins_nests) GTEST_SKIP() << "a launch of the device is one program";
  const BlockedPrograms programs;
  const std::unique_ptr<Program> fill = compile_program(device(), programs.fill);
  const std::unique_ptr<Program> twice = compile_program(device(), programs.twice);
  const std::unique_ptr<Program> increment = compile_program(device(), increment_program());
  constexpr std::int64_t count =
      BlockedPrograms::rows * BlockedPrograms::columns * BlockedPrograms::width;
  const MemoryView inner{{}, 64, 16, true};
  const MemoryView out{device().allocate(count * 4), 0, count * 4};
  const MemoryView beside{device().allocate(16), 0, 16};
  std::vector<std::int32_t> values(count), others = {0, 1, 2, 3};
  const MemoryView both[] = {out, inner};
  const Nest blocked[] = {{fill.get(), std::span(&inner, 1)}, {twice.get(), both}};
  const Nest plain[] = {{increment.get(), std::span(&beside, 1)}};
  const std::int64_t blocks[] = {BlockedPrograms::rows, BlockedPrograms::columns};
  // The second time with more memory than a thread keeps.
  for (const std::int64_t bytes : {std::int64_t{80}, std::int64_t{40} << 20}) {
    device().copy_in(beside, bytes_of(others));
    const Sequence sequences[] = {{plain}, {blocked, blocks, bytes}};
    device().launch(sequences);
    std::vector<std::int32_t> result(4);
    device().copy_out(bytes_of(values), out);
    device().copy_out(bytes_of(result), beside);
    for (std::int32_t i = 0; i < count; i++) {
      EXPECT_EQ(values[static_cast<std::size_t>(i)], 2 * (i / 20 * 10 + i / 4 % 5 + i % 4)) << i;
    }
    EXPECT_EQ(result, (std::vector<std::int32_t>{1, 2, 3, 4}));
  }
  device().release(out.memory);
  device().release(beside.memory);
}

// Of each row its columns, in order: what the columns before have come to, times three, and one
// more than the number of the column.
LinearProgram ordered_program() {
  ProgramBuilder f("ordered");
  const UOp out = f.param(DType::Int32, BlockedPrograms::rows);
  const UOp row = f.variable(0, BlockedPrograms::rows - 1);
  const UOp column = f.graph().cast(f.variable(0, BlockedPrograms::columns - 1), DType::Int32);
  const UOp at = f.graph().cast(row, DType::Int32);
  const UOp before = where(less(column, f.integer(1)), f.integer(0), f.load(out, at));
  f.store(out, at, before * 3 + 1 + column);
  return f.finish();
}

TEST_F(DevicePrograms, BlocksThatAddUpAreRunInOrder) {
  if (!device().caps().joins_nests) GTEST_SKIP() << "a launch of the device is one program";
  const std::unique_ptr<Program> ordered = compile_program(device(), ordered_program());
  const MemoryView out{device().allocate(BlockedPrograms::rows * 4), 0, BlockedPrograms::rows * 4};
  const Nest nests[] = {{ordered.get(), std::span(&out, 1)}};
  const std::int64_t blocks[] = {BlockedPrograms::rows, BlockedPrograms::columns};
  const Sequence sequence{.nests = nests, .blocks = blocks, .in_order = BlockedPrograms::columns};
  std::int32_t expected = 0;
  for (std::int32_t c = 0; c < BlockedPrograms::columns; c++) expected = 3 * expected + 1 + c;
  for (int round = 0; round < 20; round++) {
    device().launch(std::span(&sequence, 1));
    std::vector<std::int32_t> values(BlockedPrograms::rows);
    device().copy_out(bytes_of(values), out);
    EXPECT_EQ(values, std::vector<std::int32_t>(BlockedPrograms::rows, expected));
  }
  device().release(out.memory);
}

// Stores a number into the memory of a block, whatever its place.
LinearProgram prelude_program(std::int32_t number) {
  ProgramBuilder f(fmt::format("prelude_{}", number));
  const UOp inner = f.param(DType::Int32, BlockedPrograms::width);
  const UOp k = f.begin_loop(BlockedPrograms::width);
  f.store(inner, k, f.graph().cast(k, DType::Int32) + number);
  f.end_loop(k);
  return f.finish();
}

// Two sequences take turns on the memory of each thread.
TEST_F(DevicePrograms, APreludeIsThereForEachBlockOfItsSequence) {
  if (!device().caps().joins_nests) GTEST_SKIP() << "a launch of the device is one program";
  const BlockedPrograms programs;
  const std::unique_ptr<Program> twice = compile_program(device(), programs.twice);
  const std::unique_ptr<Program> preludes[] = {compile_program(device(), prelude_program(100)),
                                               compile_program(device(), prelude_program(700))};
  constexpr std::int64_t count =
      BlockedPrograms::rows * BlockedPrograms::columns * BlockedPrograms::width;
  const MemoryView inner{{}, 64, 16, true};
  const std::int64_t blocks[] = {BlockedPrograms::rows, BlockedPrograms::columns};
  std::vector<MemoryView> outs;
  std::vector<std::vector<MemoryView>> both;
  std::vector<std::vector<Nest>> nests;
  std::vector<Sequence> sequences;
  for (int i = 0; i < 2; i++) outs.push_back({device().allocate(count * 4), 0, count * 4});
  for (const MemoryView& out : outs) both.push_back({out, inner});
  for (std::size_t i = 0; i < 2; i++) {
    nests.push_back({{preludes[i].get(), std::span(&inner, 1)}, {twice.get(), both[i]}});
  }
  for (const auto& of_one : nests) sequences.push_back({of_one, blocks, 80, 1});
  for (int round = 0; round < 20; round++) {
    device().launch(sequences);
    for (std::size_t i = 0; i < 2; i++) {
      std::vector<std::int32_t> values(count);
      device().copy_out(bytes_of(values), outs[i]);
      for (std::int32_t n = 0; n < count; n++) {
        ASSERT_EQ(values[static_cast<std::size_t>(n)], 2 * (n % 4 + (i == 0 ? 100 : 700))) << n;
      }
    }
  }
  for (const MemoryView& out : outs) device().release(out.memory);
}

TEST_F(DevicePrograms, PartsOfMemoryAreCopied) {
  const Memory memory = device().allocate(4096);
  std::vector<std::int32_t> all(1024), part = {7, 8, 9}, back(1024);
  std::iota(all.begin(), all.end(), 0);
  device().copy_in({memory, 0, 4096}, bytes_of(all));
  device().copy_in({memory, 400, 12}, bytes_of(part));
  device().copy_out(bytes_of(back), {memory, 0, 4096});
  std::copy(part.begin(), part.end(), all.begin() + 100);
  EXPECT_EQ(back, all);
  device().release(memory);
}

TEST_F(DevicePrograms, EmptyMemoryIsAllowed) {
  const Memory memory = device().allocate(0);
  device().copy_in({memory, 0, 0}, {});
  device().copy_out({}, {memory, 0, 0});
  device().release(memory);
}

TEST_F(DevicePrograms, ImpossibleAllocationIsAnError) {
  EXPECT_THROW(device().allocate(std::int64_t{1} << 60), Error);
}

TEST_F(DevicePrograms, DamagedCodeIsAnError) {
  const LinearProgram program = increment_program();
  const std::string code = device().compile(program.info.name, device().renderer().render(program));
  EXPECT_THROW(device().load(program.info, ""), Error);
  EXPECT_THROW(device().load(program.info, "no code at all, and long enough for a header"), Error);
  EXPECT_THROW(device().load(program.info, std::string_view(code).substr(0, code.size() / 2)),
               Error);
  for (std::size_t at = 0; at < code.size(); at += 1 + code.size() / 23) {
    std::string damaged = code;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_THROW(device().load(program.info, damaged), Error) << "byte " << at;
  }
}

}  // namespace
}  // namespace croze::test
