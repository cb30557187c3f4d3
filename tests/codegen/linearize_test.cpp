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

// In tiles of four rows, of vectors.
LinearProgram tiled(bool prefetches) {
  Caps caps;
  caps.device = "TEST";
  caps.ops = ~std::uint64_t{0};
  caps.dtypes = caps.storage = ~std::uint32_t{0};
  caps.vector_bytes = 64;
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

TEST(Linearize, WhatIsReadAfterALoopIsFetchedBeforeIt) {
  const LinearProgram program = tiled(true);
  std::int64_t fetched = 0, loops = 0;
  for (UOp u : program.instructions) {
    loops += u.is(Op::Loop);
    if (!u.is(Op::Prefetch)) continue;
    EXPECT_TRUE(touches(u, Op::Prefetch, 3)) << "operands of the loop are streams";
    EXPECT_EQ(loops, 1) << "inside of the loop over tiles, before that of the sum";
    fetched++;
  }
  EXPECT_EQ(fetched, 4);
}

TEST(Linearize, NothingIsFetchedWhereTheDeviceCannot) {
  const LinearProgram program = tiled(false);
  EXPECT_TRUE(std::ranges::none_of(program.instructions, [](UOp u) { return u.is(Op::Prefetch); }));
}

}  // namespace
}  // namespace croze
