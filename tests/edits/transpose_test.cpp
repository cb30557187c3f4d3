// Tiles that are read along one axis and written along the other are turned in registers.
#include "croze/codegen/lower/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/bind_lanes.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

// out[c, r] = in[r, c]; r0 is r and r1 is c.
UOp transposing_kernel(Graph& g, DType dtype, std::int64_t rows, std::int64_t columns) {
  const UOp r = g.range(0, rows, LoopKind::Parallel), c = g.range(1, columns, LoopKind::Parallel);
  const std::int64_t elements = rows * columns;
  const UOp x = g.load(g.place(g.param(dtype, 1, elements), r * columns + c));
  const UOp out = g.place(g.param(dtype, 0, elements), c * rows + r);
  return g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{c, r})});
}

// Lanes along the source, copies along the result.
void turn(KernelState& k, std::int64_t size) {
  const UOp r = k.loops[1], c = k.loops[0];
  bind(k, split(k, c, size).inner, LoopKind::Lane);
  bind(k, split(k, r, size).inner, LoopKind::Unroll);
}

std::int64_t exchanges(const LinearProgram& program) {
  return std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::Exchange); });
}

std::vector<std::byte> noise(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; i++) bytes[i] = static_cast<std::byte>(i * 37 + i / 251);
  return bytes;
}

// The bytes of elements of `size` bytes, columns of which become rows.
std::vector<std::byte> turned(std::span<const std::byte> x, std::size_t rows, std::size_t columns,
                              std::size_t size) {
  std::vector<std::byte> result(x.size());
  for (std::size_t r = 0; r < rows; r++) {
    for (std::size_t c = 0; c < columns; c++) {
      std::copy_n(&x[(r * columns + c) * size], size, &result[(c * rows + r) * size]);
    }
  }
  return result;
}

class Transpose : public testing::TestWithParam<std::int64_t> {};

TEST_P(Transpose, ATileMovesEveryElementOnce) {
  const std::int64_t size = GetParam(), rows = 3 * size, columns = 2 * size;
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (DType dtype : {DType::Float32, DType::Int64, DType::UInt8}) {
    const std::int64_t element = size_of(dtype);
    Graph graph;
    const UOp kernel = transposing_kernel(graph, dtype, rows, columns);
    std::vector<std::byte> in = noise(static_cast<std::size_t>(rows * columns * element));
    const std::vector<std::byte> expected =
        turned(in, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
               static_cast<std::size_t>(element));
    for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
      if (size * std::max<std::int64_t>(element, 4) > target->caps().vector_bytes) continue;
      std::vector<std::byte> out(in.size());
      const std::vector<std::span<std::byte>> buffers{out, in};
      run_kernel(*target, kernel, buffers, [&](KernelState& k) { turn(k, size); });
      EXPECT_EQ(out, expected) << target->name() << ", " << name_of(dtype);
    }
  }
}

TEST_P(Transpose, TakesAnExchangeForEachVectorAndBit) {
  const std::int64_t size = GetParam();
  Graph graph;
  const UOp kernel = transposing_kernel(graph, DType::Float32, size, size);
  const Caps caps = cpu_shaped_caps();
  const LinearProgram program = make_program(kernel, caps, [&](KernelState& k) { turn(k, size); });
  std::int64_t bits = 0;
  while (std::int64_t{1} << bits < size) bits++;
  EXPECT_EQ(exchanges(program), size * bits);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Transpose, testing::Values(2, 4, 8, 16));

// Rows that are fewer than lanes come to lie side by side, lane by lane.
TEST(TransposedTile, FewRowsOfManyLanesAreInterleaved) {
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (const auto& [rows, lanes] : {std::pair{2, 4}, {2, 8}, {4, 8}, {2, 16}, {4, 16}, {8, 16}}) {
    for (DType dtype : {DType::Float32, DType::BFloat16, DType::Int8}) {
      const std::int64_t columns = 3 * lanes, element = size_of(dtype);
      Graph graph;
      const UOp kernel = transposing_kernel(graph, dtype, rows, columns);
      const auto edit = [&, l = lanes](KernelState& k) {
        const UOp c = k.loops[0];
        bind(k, k.loops[1], LoopKind::Unroll);
        bind(k, split(k, c, l).inner, LoopKind::Lane);
      };
      std::vector<std::byte> in = noise(static_cast<std::size_t>(rows * columns * element));
      for (std::byte& b : in) b &= std::byte{0x3f};  // no NaN, of which there are several
      const std::vector<std::byte> expected =
          turned(in, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                 static_cast<std::size_t>(element));
      for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
        if (lanes * 4 > target->caps().vector_bytes) continue;
        std::vector<std::byte> out(in.size());
        const std::vector<std::span<std::byte>> buffers{out, in};
        run_kernel(*target, kernel, buffers, edit);
        EXPECT_EQ(out, expected) << target->name() << ", " << name_of(dtype) << ", " << rows;
      }
      EXPECT_EQ(exchanges(make_program(kernel, cpu_shaped_caps(), edit)),
                rows * (std::bit_width(static_cast<unsigned>(lanes)) - 1));
    }
  }
}

// The fields of bytes: two tiles of what is turned once.
TEST(TransposedTile, FieldsOfWhatIsTurnedAreTakenApartAfterwards) {
  Graph g;
  const UOp pairs = g.param(DType::UInt8, 1, 64), lane = g.range(0, 4, LoopKind::Lane);
  const auto number = [&](std::int64_t value) { return g.constant(DType::UInt8, value); };
  std::vector<UOp> low, high;
  for (std::int64_t i = 0; i < 4; i++) {
    const UOp pair = g.load(g.place(pairs, lane + 4 * i));
    low.push_back(g.alu(Op::And, {pair, number(15)}));
    high.push_back(g.alu(Op::Shr, {pair, number(4)}));
  }
  const std::vector<UOp> lows = transposed(low, 4, 1), highs = transposed(high, 4, 1);
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_TRUE(lows[i].is(Op::And));
    EXPECT_TRUE(highs[i].is(Op::Shr));
    EXPECT_EQ(lows[i].src(0), highs[i].src(0));
  }
  // Numbers that differ, or a wider result, are as they were.
  high[0] = g.alu(Op::Shr, {low[0].src(0), number(3)});
  EXPECT_TRUE(transposed(high, 4, 1)[0].is(Op::Exchange));
}

TEST(TransposedTile, IsNoneWhereTheDeviceCannotExchangeLanes) {
  Graph graph;
  const UOp kernel = transposing_kernel(graph, DType::Float32, 8, 8);
  Caps caps = cpu_shaped_caps();
  caps.exchanges_lanes = false;
  const LinearProgram program = make_program(kernel, caps, [&](KernelState& k) { turn(k, 4); });
  EXPECT_EQ(exchanges(program), 0);
}

// Then it is what is loaded that is turned.
TEST(TransposedTile, IsNoneWhereTheResultIsContiguousAlongTheLanes) {
  Graph graph;
  const UOp kernel = transposing_kernel(graph, DType::Float32, 8, 8);
  const LinearProgram program = make_program(kernel, cpu_shaped_caps(), [&](KernelState& k) {
    const UOp r = k.loops[1], c = k.loops[0];
    bind(k, split(k, r, 4).inner, LoopKind::Lane);
    bind(k, split(k, c, 4).inner, LoopKind::Unroll);
  });
  EXPECT_EQ(exchanges(program), 4 * 2);
  for (UOp u : program.instructions) {
    if (u.is(Op::Exchange)) {
      EXPECT_TRUE(u.src(0).is(Op::Load) || u.src(0).is(Op::Exchange));
    }
  }
}

// Squares that the sizes are no multiple of overlap.
TEST(TransposedTile, IsChosenForWhatIsReadDownAndWrittenAcross) {
  const Caps caps = cpu_shaped_caps();
  const std::unique_ptr<Device> interpreter = make_interp_device(caps);
  for (const auto& [rows, columns] : {std::pair{160, 96}, {37, 50}, {16, 17}}) {
    Graph graph;
    const UOp kernel = transposing_kernel(graph, DType::Float32, rows, columns);
    EXPECT_GT(exchanges(make_program(kernel, caps)), 0) << rows << " x " << columns;
    const auto count = static_cast<std::size_t>(rows * columns);
    std::vector<std::byte> in = noise(count * 4), out(in.size());
    const std::vector<std::byte> expected =
        turned(in, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), 4);
    const std::vector<std::span<std::byte>> buffers{out, in};
    run_kernel(*interpreter, kernel, buffers, choose_edits);
    EXPECT_EQ(out, expected) << rows << " x " << columns;
  }
}

TEST(TransposedTile, IsNotChosenForWhatIsReadAsItIsWritten) {
  Graph g;
  const UOp r = g.range(0, 64, LoopKind::Parallel), c = g.range(1, 64, LoopKind::Parallel);
  const UOp x = g.load(g.place(g.param(DType::Float32, 1, 64 * 64), r * 64 + c));
  const UOp out = g.place(g.param(DType::Float32, 0, 64 * 64), r * 64 + c);
  const UOp kernel = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{r, c})});
  EXPECT_EQ(exchanges(make_program(kernel, cpu_shaped_caps())), 0);
}

// A product with a transposed matrix, as of a linear layer: its panels are turned.
TEST(TransposedTile, PanelsOfATransposedOperandAreTurned) {
  Graph g;
  constexpr std::int64_t n = 64;
  const UOp i = g.range(0, n, LoopKind::Parallel), j = g.range(1, n, LoopKind::Parallel);
  const UOp k = g.range(2, n, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, n * n), i * n + k));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, n * n), j * n + k));
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{k});
  const UOp out = g.place(g.param(DType::Int32, 0, n * n), i * n + j);
  const UOp kernel = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, j})});
  EXPECT_GT(exchanges(make_program(kernel, cpu_shaped_caps())), 0);

  std::vector<std::int32_t> x(n * n), y(n * n), result(n * n);
  std::iota(x.begin(), x.end(), -700);
  std::iota(y.begin(), y.end(), -900);
  const std::vector<std::span<std::byte>> buffers{std::as_writable_bytes(std::span(result)),
                                                  std::as_writable_bytes(std::span(x)),
                                                  std::as_writable_bytes(std::span(y))};
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
    std::ranges::fill(result, 0);
    run_kernel(*target, kernel, buffers);
    for (std::size_t r = 0; r < n; r++) {
      for (std::size_t c = 0; c < n; c++) {
        std::int32_t expected = 0;
        for (std::size_t d = 0; d < n; d++) expected += x[r * n + d] * y[c * n + d];
        ASSERT_EQ(result[r * n + c], expected) << r << ", " << c;
      }
    }
  }
}

// Runs of bytes of many columns, which change places with those of other columns: rows of several
// tiles are one vector.
TEST(TransposedTile, SeveralTilesOfRunsFillARegister) {
  constexpr std::int64_t columns = 4, runs = 6, terms = 4, row = 50;  // bytes from column to column
  Graph g;
  const UOp run = g.range(0, runs / 2, LoopKind::Parallel),
            copy = g.range(1, 2, LoopKind::Parallel), lane = g.range(2, 16, LoopKind::Parallel);
  const UOp column = lane / 8 * 2 + copy, at_run = run * 2 + lane % 8 / terms;
  const UOp x =
      g.load(g.place(g.param(DType::UInt8, 1, columns * row), column * row + (run * 8 + lane % 8)));
  const UOp out = g.place(g.param(DType::UInt8, 0, runs * columns * terms),
                          (at_run * columns + column) * terms + lane % terms);
  const UOp kernel = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{run, copy, lane})});
  const auto edit = [](KernelState& k) {
    bind(k, k.loops[1], LoopKind::Unroll);
    bind_lanes(k, k.loops[2]);
  };
  EXPECT_EQ(exchanges(make_program(kernel, cpu_shaped_caps(), edit)), 2);
  std::vector<std::byte> in = noise(columns * row), expected(runs * columns * terms);
  for (std::size_t c = 0; c < columns; c++) {
    for (std::size_t k = 0; k < runs * terms; k++)
      expected[(k / terms * columns + c) * terms + k % terms] = in[c * row + k];
  }
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
    std::vector<std::byte> result(expected.size());
    const std::vector<std::span<std::byte>> buffers{result, in};
    run_kernel(*target, kernel, buffers, edit);
    EXPECT_EQ(result, expected) << target->name();
  }
}

// The same of numbers: those of a column, one behind the other, come to stand below each other.
TEST(TransposedTile, SeveralTilesOfNumbersFillARegister) {
  constexpr std::int64_t columns = 8, numbers = 4, row = 6;
  Graph g;
  const UOp copy = g.range(0, 4, LoopKind::Parallel), lane = g.range(1, 8, LoopKind::Parallel);
  const UOp column = lane / 4 * 4 + copy, number = lane % 4;
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, columns * row), column * row + number));
  const UOp out = g.place(g.param(DType::Int32, 0, columns * numbers), number * columns + column);
  const UOp kernel = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{copy, lane})});
  const auto edit = [](KernelState& k) {
    bind(k, k.loops[0], LoopKind::Unroll);
    bind_lanes(k, k.loops[1]);
  };
  EXPECT_EQ(exchanges(make_program(kernel, cpu_shaped_caps(), edit)), 8);
  const std::vector<std::byte> in = noise(columns * row * 4);
  std::vector<std::byte> expected(columns * numbers * 4);
  for (std::size_t c = 0; c < columns; c++) {
    for (std::size_t n = 0; n < numbers; n++)
      std::memcpy(&expected[(n * columns + c) * 4], &in[(c * row + n) * 4], 4);
  }
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
    std::vector<std::byte> result(expected.size()), input = in;
    const std::vector<std::span<std::byte>> buffers{result, input};
    run_kernel(*target, kernel, buffers, edit);
    EXPECT_EQ(result, expected) << target->name();
  }
}

// ---- squares of several loops -------------------------------------------------------------------

constexpr std::int64_t length = 8;

// out[8 j + 4 a + b] = in[8 j + 4 a + b] + in[8 j], of which only so many b are looked at.
UOp blocks_kernel(Graph& g, std::int64_t blocks, std::int64_t last = 4) {
  const UOp j = g.range(0, blocks, LoopKind::Parallel), a = g.range(1, 2, LoopKind::Parallel),
            b = g.range(2, last, LoopKind::Parallel);
  const UOp in = g.param(DType::Float32, 1, blocks * length);
  const UOp at = j * length + a * 4 + b;
  const UOp value = g.load(g.place(in, at)) + g.load(g.place(in, j * length));
  const UOp out = g.place(g.param(DType::Float32, 0, blocks * length), at);
  return g.sink(std::vector<UOp>{g.store(out, value, std::vector<UOp>{j, a, b})});
}

// A lane for each block, a copy for each of its elements.
void copy_elements(KernelState& k) {
  const UOp j = k.loops[0], a = k.loops[1], b = k.loops[2];
  bind(k, a, LoopKind::Unroll);
  bind(k, b, LoopKind::Unroll);
  bind(k, split(k, j, length).inner, LoopKind::Lane);
}

TEST(Squares, BlocksOfCopiesAreReadAndWrittenByVectors) {
  constexpr std::int64_t blocks = 3 * length;
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  std::vector<float> in(blocks * length), expected(in.size());
  std::iota(in.begin(), in.end(), 1.0f);
  for (std::size_t i = 0; i < in.size(); i++) expected[i] = in[i] + in[i - i % length];
  Graph graph;
  const UOp kernel = blocks_kernel(graph, blocks);
  for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
    if (length * 4 > target->caps().vector_bytes) continue;
    std::vector<float> out(in.size());
    const std::vector<std::span<std::byte>> buffers{std::as_writable_bytes(std::span(out)),
                                                    std::as_writable_bytes(std::span(in))};
    run_kernel(*target, kernel, buffers, copy_elements);
    EXPECT_EQ(out, expected) << target->name();
  }
  const LinearProgram program = make_program(kernel, cpu_shaped_caps(), copy_elements);
  EXPECT_EQ(exchanges(program), 2 * length * 3);  // a bit of the lane each
  EXPECT_EQ(std::ranges::count_if(program.instructions, [](UOp u) { return u.is(Op::Load); }),
            length);
}

TEST(Squares, BlocksOfWhichSomeIsLeftOutAreNotTurned) {
  Graph graph;
  const UOp kernel = blocks_kernel(graph, length, 3);
  EXPECT_EQ(exchanges(make_program(kernel, cpu_shaped_caps(), copy_elements)), 0);
}

}  // namespace
}  // namespace croze
