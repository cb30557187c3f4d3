// Sums over lanes that are stored side by side become one vector.
#include "croze/codegen/lower/sums_in_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/run/devices.h"
#include "edits/run_edited.h"

namespace croze {
namespace {

using namespace test;

// out[i, j] = (sum over k of a[i, k] * b[j, k]) * x[i, j] + y[j]; r0, r1, r2 are i, j, k.
SmallKernel product_by_rows(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  SmallKernel k{"product by rows", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(rows * depth, 2), numbers(columns * depth, 3),
               numbers(rows * columns, 4), numbers(columns, 5)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const auto load = [&](int slot, std::int64_t size, UOp at) {
    return g.load(g.place(g.param(DType::Int32, slot, size), at));
  };
  const UOp product =
      load(1, rows * depth, i * depth + d) * load(2, columns * depth, j * depth + d);
  const UOp sum = g.reduce(Op::Add, product, std::vector<UOp>{d});
  const UOp value = sum * load(3, rows * columns, i * columns + j) + load(4, columns, j);
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  k.sink = g.sink(std::vector<UOp>{g.store(out, value, std::vector<UOp>{i, j})});
  for (std::int64_t n = 0; n < rows * columns; n++) {
    const std::int64_t row = n / columns, column = n % columns;
    std::int32_t total = 0;
    for (std::int64_t z = 0; z < depth; z++) {
      total += k.buffers[1][static_cast<std::size_t>(row * depth + z)] *
               k.buffers[2][static_cast<std::size_t>(column * depth + z)];
    }
    k.expected.push_back(total * k.buffers[3][static_cast<std::size_t>(n)] +
                         k.buffers[4][static_cast<std::size_t>(column)]);
  }
  return k;
}

// A tile of so many rows and columns, and lanes along the reduction.
void tile(KernelState& k, std::int64_t rows, std::int64_t columns, std::int64_t lanes) {
  const UOp i = k.loops[0], j = k.loops[1];
  const UOp d = closed_ranges(reduces(k.sink)[0])[0];
  bind(k, split_reduction(k, d, lanes).inner, LoopKind::Lane);
  if (rows > 1) bind(k, split(k, i, rows).inner, LoopKind::Unroll);
  if (columns > 1) bind(k, split(k, j, columns).inner, LoopKind::Unroll);
}

std::int64_t count(const LinearProgram& program, Op op) {
  return std::ranges::count_if(program.instructions, [&](UOp u) { return u.is(op); });
}

struct Tile {
  std::int64_t rows, columns;
};

TEST(SumsInLanes, AsManyAsThereAreLanesAreOneVectorThatIsStoredInRuns) {
  constexpr std::int64_t lanes = 8;
  const SmallKernel kernel = product_by_rows(8, 16, 32);
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (const Tile t : {Tile{2, 4}, Tile{4, 2}, Tile{1, 8}, Tile{2, 8}}) {
    const auto edit = [&](KernelState& k) { tile(k, t.rows, t.columns, lanes); };
    const LinearProgram program = make_program(kernel.sink, interpreter->caps(), edit);
    EXPECT_EQ(count(program, Op::Reduce), 0) << t.rows << " x " << t.columns;
    EXPECT_EQ(count(program, Op::Exchange), 2 * (lanes - 1) * (t.rows * t.columns / lanes));
    for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
      EXPECT_EQ(run_edited(*target, kernel, edit).result, kernel.expected)
          << t.rows << " x " << t.columns << " on " << target->caps().architecture;
    }
  }
}

// out[i] = (sum over n of x[i, n] below the largest of row i) * 3 + that largest; r0, r1, r2 are i
// and the loops of both reductions.
SmallKernel sums_below_maximum(std::int64_t rows, std::int64_t columns) {
  SmallKernel k{"sums below the maximum", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows, 1), numbers(rows * columns, 2)};
  const UOp in = g.param(DType::Int32, 1, rows * columns);
  const UOp i = g.range(0, rows, LoopKind::Parallel);
  const UOp m = g.range(1, columns, LoopKind::Reduce), n = g.range(2, columns, LoopKind::Reduce);
  const auto x = [&](UOp column) { return g.load(g.place(in, i * columns + column)); };
  const UOp most = g.reduce(Op::Max, x(m), std::vector<UOp>{m});
  const UOp sum = g.reduce(Op::Add, x(n) - most, std::vector<UOp>{n});
  const UOp value = sum * g.constant(DType::Int32, std::int64_t{3}) + most;
  const UOp out = g.place(g.param(DType::Int32, 0, rows), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, value, std::vector<UOp>{i})});
  for (std::int64_t r = 0; r < rows; r++) {
    const auto first = k.buffers[1].begin() + r * columns;
    const std::int32_t largest = *std::max_element(first, first + columns);
    const std::int32_t total = std::accumulate(first, first + columns, 0);
    k.expected.push_back((total - static_cast<std::int32_t>(columns) * largest) * 3 + largest);
  }
  return k;
}

// The terms of one need what the other comes to, in each row by itself; what follows needs both.
TEST(SumsInLanes, ReductionsThatFollowEachOtherShareTheirLanes) {
  constexpr std::int64_t lanes = 8;
  const SmallKernel kernel = sums_below_maximum(16, 32);
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  const auto edit = [&](KernelState& k) {
    bind(k, split(k, k.loops[0], lanes).inner, LoopKind::Unroll);
    for (int i = 0; i < 2; i++) {
      const std::vector<UOp> all = reduces(k.sink);
      const auto whole = std::ranges::find_if(
          all, [](UOp reduce) { return closed_ranges(reduce)[0].range_size() == 32; });
      bind(k, split_reduction(k, closed_ranges(*whole)[0], lanes).inner, LoopKind::Lane);
    }
  };
  const LinearProgram program = make_program(kernel.sink, interpreter->caps(), edit);
  EXPECT_EQ(count(program, Op::Reduce), lanes);  // the maxima that the terms need
  EXPECT_EQ(count(program, Op::Exchange), 2 * 2 * (lanes - 1));
  for (Device* target : {interpreter.get(), &device(device_index("CPU"))}) {
    EXPECT_EQ(run_edited(*target, kernel, edit).result, kernel.expected);
  }
}

// Too few sums for the lanes, none side by side, and runs that the lanes are no multiple of.
TEST(SumsInLanes, OthersAreAddedUpOneByOne) {
  constexpr std::int64_t lanes = 8;
  const SmallKernel kernel = product_by_rows(8, 18, 32);
  const std::unique_ptr<Device> interpreter = make_interp_device(cpu_shaped_caps());
  for (const Tile t : {Tile{2, 2}, Tile{8, 1}, Tile{4, 3}}) {
    const auto edit = [&](KernelState& k) { tile(k, t.rows, t.columns, lanes); };
    const LinearProgram program = make_program(kernel.sink, interpreter->caps(), edit);
    EXPECT_EQ(count(program, Op::Reduce), t.rows * t.columns);
    EXPECT_EQ(count(program, Op::Exchange), 0);
    EXPECT_EQ(run_edited(*interpreter, kernel, edit).result, kernel.expected);
  }
}

}  // namespace
}  // namespace croze
