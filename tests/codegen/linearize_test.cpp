// linearize_test.cpp -- the order of instructions around the loop of a product.
#include "croze/codegen/linearize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/render/program.h"

namespace croze {
namespace {

constexpr std::int64_t rows = 8, columns = 16, depth = 64;

// out[i, j] = sum over k of a[i, k] * b[k, j], plus r[i, j].
UOp product_and_residual(Graph& g) {
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp k = g.range(2, depth, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Float32, 1, rows * depth), i * depth + k));
  const UOp b = g.load(g.place(g.param(DType::Float32, 2, depth * columns), k * columns + j));
  const UOp r = g.load(g.place(g.param(DType::Float32, 3, rows * columns), i * columns + j));
  const UOp out = g.place(g.param(DType::Float32, 0, rows * columns), i * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{k});
  return g.sink(std::vector<UOp>{g.store(out, sum + r, std::vector<UOp>{i, j})});
}

Caps test_caps() {
  Caps caps;
  caps.device = "TEST";
  caps.ops.set();
  caps.dtypes = caps.storage = ~std::uint32_t{0};
  caps.vector_bytes = 64;
  return caps;
}

// In tiles of four rows, of vectors.
LinearProgram tiled(bool prefetches) {
  Caps caps = test_caps();
  caps.prefetches = prefetches;
  Graph graph;
  return make_program(product_and_residual(graph), caps, [](KernelState& k) {
    const UOp i = k.loops[0], j = k.loops[1];
    bind(k, j, LoopKind::Lane);
    bind(k, split(k, i, 4).inner, LoopKind::Unroll);
  });
}

bool touches(UOp u, Op op, std::int64_t slot) {
  if (!u.is(op)) return false;
  const UOp buffer = buffer_of(u.src(0));
  return buffer.is(Op::Param) && buffer.slot() == slot;
}

TEST(Linearize, WhatFollowsASumIsDoneRowByRow) {
  std::vector<Op> order;
  const LinearProgram program = tiled(false);
  for (UOp u : program.instructions) {
    if (touches(u, Op::Load, 3) || touches(u, Op::Store, 0)) order.push_back(u.op());
  }
  const std::vector<Op> expected{Op::Load, Op::Store, Op::Load, Op::Store,
                                 Op::Load, Op::Store, Op::Load, Op::Store};
  EXPECT_EQ(order, expected);
}

// Of a tile of four rows and two columns: the columns stay in registers while rows come and go.
TEST(Linearize, UpdatesThatReadOneRowFollowEachOther) {
  Caps caps = test_caps();
  Graph graph;
  const LinearProgram program = make_program(product_and_residual(graph), caps, [](KernelState& k) {
    const UOp i = k.loops[0], j = k.loops[1];
    const SplitRange halves = split(k, j, columns / 2);
    bind(k, halves.outer, LoopKind::Unroll);
    bind(k, halves.inner, LoopKind::Lane);
    bind(k, split(k, i, 4).inner, LoopKind::Unroll);
  });
  std::vector<UOp> rows_read;
  for (UOp u : program.instructions) {
    if (!u.is(Op::MulAdd)) continue;
    const UOp row = touches(u.src(0), Op::Load, 1) ? u.src(0) : u.src(1);
    if (rows_read.empty() || rows_read.back() != row) rows_read.push_back(row);
  }
  EXPECT_EQ(rows_read.size(), 4u);
}

// The greater of two numbers is there when the lesser is, though nobody asks for it before the end.
TEST(Linearize, TwoValuesOfTheSameOperandsFollowEachOther) {
  Graph g;
  const UOp i = g.range(0, 64, LoopKind::Parallel);
  const auto in = [&](int slot) { return g.load(g.place(g.param(DType::Float32, slot, 64), i)); };
  const UOp a = in(2), b = in(3), c = in(4);
  const auto stored = [&](int slot, UOp value) {
    return g.store(g.place(g.param(DType::Float32, slot, 64), i), value, std::vector<UOp>{i});
  };
  const UOp least = g.alu(Op::Min, {a, b}), greatest = g.alu(Op::Max, {a, b});
  const UOp sink = g.sink(std::vector<UOp>{stored(0, least * c), stored(1, greatest * c)});
  const LinearProgram program = make_program(sink, test_caps(), [](KernelState&) {});
  std::vector<Op> order;
  for (UOp u : program.instructions) {
    if (u.is(Op::Min) || u.is(Op::Max) || u.is(Op::Mul)) order.push_back(u.op());
  }
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[2], Op::Mul);
  EXPECT_EQ(order[3], Op::Mul);
}

// How many places of a parameter are fetched inside of so many loops.
std::int64_t fetched(const LinearProgram& program, std::int64_t slot, std::int64_t loops) {
  std::int64_t count = 0, nesting = 0;
  for (UOp u : program.instructions) {
    nesting += u.is(Op::Loop) - u.is(Op::EndLoop);
    count += nesting == loops && touches(u, Op::Prefetch, slot);
  }
  return count;
}

TEST(Linearize, WhatIsReadAfterALoopIsFetchedBeforeIt) {
  const LinearProgram program = tiled(true);
  EXPECT_EQ(fetched(program, 3, 1), 4) << "in the loop over tiles, before that of the sum";
  EXPECT_EQ(fetched(program, 3, 2), 0);
}

TEST(Linearize, RowsOfTheNextTileAreFetchedOneATurn) {
  const LinearProgram program = tiled(true);
  EXPECT_EQ(fetched(program, 1, 2), 1);
  EXPECT_EQ(fetched(program, 1, 1), 0);
  EXPECT_EQ(fetched(program, 2, 1) + fetched(program, 2, 2), 0) << "it stays for all tiles";
}

// out[n l + i] = sum over k and m of a[4 k + m] * b[n l + i], i below n, with 16 lanes over l.
LinearProgram scattered(Graph& g, std::int64_t n) {
  Caps caps = test_caps();
  caps.prefetches = true;
  const UOp i = g.range(0, n, LoopKind::Parallel), l = g.range(1, 16, LoopKind::Parallel);
  const UOp k = g.range(2, 4, LoopKind::Reduce), m = g.range(3, 4, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Float32, 1, 16), k * 4 + m));
  const UOp b = g.load(g.place(g.param(DType::Float32, 2, 16 * n), l * n + i));
  const UOp out = g.place(g.param(DType::Float32, 0, 16 * n), l * n + i);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{k, m});
  const UOp sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, l})});
  return make_program(sink, caps,
                      [](KernelState& state) { bind(state, state.loops[1], LoopKind::Lane); });
}

TEST(Linearize, WhereLanesAreStoredOneByOneIsFetchedBeforeLoopsInLoops) {
  Graph g;
  const LinearProgram program = scattered(g, 1 << 10);
  EXPECT_EQ(fetched(program, 0, 1), 16) << "a line of each lane";
  EXPECT_EQ(fetched(program, 0, 2) + fetched(program, 0, 3), 0);
  EXPECT_EQ(fetched(scattered(g, 8), 0, 1), 0) << "it is in the cache";
}

TEST(Linearize, NothingIsFetchedWhereTheDeviceCannot) {
  const LinearProgram program = tiled(false);
  EXPECT_TRUE(std::ranges::none_of(program.instructions, [](UOp u) { return u.is(Op::Prefetch); }));
}

}  // namespace
}  // namespace croze
