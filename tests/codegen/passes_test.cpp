// passes_test.cpp -- what the passes make of one small kernel each, as text.
//
// The texts are to be read: a change of them is a change of what is generated, and wants a look.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "croze/codegen/edits/transform.h"
#include "croze/codegen/lower/expand.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/render/program.h"

namespace croze {
namespace {

// A machine that has everything, one value at a time.
Caps scalar_caps() {
  Caps caps;
  caps.device = "TEST";
  caps.ops.set();
  caps.dtypes = caps.storage = ~std::uint32_t{0};
  return caps;
}

// out[i] = 2 * a[i] for i < 8
UOp doubled(Graph& g, UOp& i) {
  i = g.range(0, 8, LoopKind::Parallel);
  const UOp a = g.load(g.place(g.param(DType::Float32, 1, 8), i));
  const UOp value = a * g.constant(DType::Float32, 2.0);
  const UOp store = g.store(g.place(g.param(DType::Float32, 0, 8), i), value, std::vector<UOp>{i});
  return g.sink(std::vector<UOp>{store});
}

// out[i] = sum of row i of a (4, columns)
UOp row_sums(Graph& g, std::int64_t columns, UOp& i, UOp& k) {
  i = g.range(0, 4, LoopKind::Parallel);
  k = g.range(1, columns, LoopKind::Reduce);
  const UOp in = g.param(DType::Float32, 1, 4 * columns);
  const UOp a = g.load(g.place(in, i * columns + k));
  const UOp sum = g.reduce(Op::Add, a, std::vector<UOp>{k});
  const UOp store = g.store(g.place(g.param(DType::Float32, 0, 4), i), sum, std::vector<UOp>{i});
  return g.sink(std::vector<UOp>{store});
}

TEST(Expand, AnUnrolledLoopBecomesCopies) {
  Graph graph;
  UOp i;
  const Caps caps = scalar_caps();
  KernelState state(doubled(graph, i), caps);
  bind(state, split(state, i, 2).inner, LoopKind::Unroll);
  EXPECT_EQ(print_graph(expand(state.sink, caps).sink), R"(%0 = param float32 [0, 8]
%1 = range index [1, 4, 0]
%2 = const index 2
%3 = mul index %1 %2
%4 = index float32 %0 %3
%5 = param float32 [1, 8]
%6 = index float32 %5 %3
%7 = load float32 %6
%8 = const float32 2
%9 = mul float32 %7 %8
%10 = store void %4 %9 %1
%11 = const index 1
%12 = add index %3 %11
%13 = index float32 %0 %12
%14 = index float32 %5 %12
%15 = load float32 %14
%16 = mul float32 %15 %8
%17 = store void %13 %16 %1
%18 = sink void %10 %17
)");
}

TEST(Expand, AReductionBecomesARegister) {
  Graph graph;
  UOp i, k;
  const UOp sink = row_sums(graph, 3, i, k);
  const Expanded expanded = expand(sink, scalar_caps());
  EXPECT_EQ(print_graph(expanded.sink), R"(%0 = param float32 [0, 4]
%1 = range index [0, 4, 0]
%2 = index float32 %0 %1
%3 = register float32 (0)
%4 = param float32 [1, 12]
%5 = range index [1, 3, 1]
%6 = const index 3
%7 = mul index %1 %6
%8 = add index %5 %7
%9 = index float32 %4 %8
%10 = load float32 %9
%11 = const float32 0
%12 = store void %3 %11
%13 = after float32 %3 %12
%14 = load float32 %13
%15 = add float32 %10 %14
%16 = store void %3 %15 %5
%17 = after float32 %3 %16
%18 = load float32 %17
%19 = store void %2 %18 %1
%20 = sink void %19
)");
  ASSERT_EQ(expanded.registers.size(), 1u);
  EXPECT_EQ(expanded.registers[0].outer, i.ranges());
}

// out[i] = sum over the lanes k of what so many copies of the turn add
Expanded sums(Graph& g, std::int64_t copies, const std::function<UOp(UOp, UOp)>& term) {
  const UOp i = g.range(0, copies, LoopKind::Unroll), turn = g.range(1, 4, LoopKind::Reduce),
            lane = g.range(2, 4, LoopKind::Lane);
  const UOp sum = g.reduce(Op::Add, term(i, turn * 4 + lane), std::vector<UOp>{turn, lane});
  const UOp place = g.place(g.param(DType::Float32, 0, copies), i);
  const UOp store = g.store(place, sum, std::vector<UOp>{i});
  return expand(g.sink(std::vector<UOp>{store}), scalar_caps());
}

UOp number_of(int slot, UOp at) {
  Graph& g = at.graph();
  return g.load(g.place(g.param(DType::Float32, slot, 128), at));
}

std::ptrdiff_t count(const Expanded& expanded, Op op) {
  return std::ranges::count_if(toposort(expanded.sink),
                               [&](UOp u) { return u.is(op) && u.dtype() == DType::Float32; });
}

// Of eight copies three wait for each other, and a fourth for what the turns before came to.
TEST(Expand, ExtremesOfCopiesAreThoseOfNeighbours) {
  constexpr std::int64_t copies = 8, turns = 4;
  Graph g;
  const UOp k = g.range(0, turns, LoopKind::Reduce), c = g.range(1, copies, LoopKind::Unroll);
  const UOp a = g.load(g.place(g.param(DType::Float32, 1, turns * copies), k * copies + c));
  const UOp most = g.reduce(Op::Max, a, std::vector<UOp>{k, c});
  const UOp store = g.store(g.place(g.param(DType::Float32, 0, 1), g.index(0)), most);
  const Expanded expanded = expand(g.sink(std::vector<UOp>{store}), scalar_caps());
  EXPECT_EQ(count(expanded, Op::Max), copies);
  std::map<const Node*, int> waits;  // for so many others
  int most_waits = 0;
  for (UOp u : toposort(expanded.sink)) {
    if (!u.is(Op::Max)) continue;
    const auto of = [&](UOp s) { return waits.contains(s.node()) ? waits.at(s.node()) : 0; };
    most_waits = std::max(most_waits, waits[u.node()] = 1 + std::max(of(u.src(0)), of(u.src(1))));
  }
  EXPECT_EQ(most_waits, 4);
}

TEST(Expand, ASumOfProductsIsMadeOfMultiplyAdds) {
  Graph graph;
  const Expanded expanded = sums(graph, 8, [](UOp i, UOp k) {
    const UOp row = i * 16 + k;
    return number_of(1, k) * number_of(2, row) + number_of(3, k) * number_of(4, row) +
           number_of(5, row);
  });
  EXPECT_EQ(count(expanded, Op::MulAdd), 16);
  EXPECT_EQ(count(expanded, Op::Mul), 0);
  EXPECT_EQ(count(expanded, Op::Add), 8) << "what is no product";
}

// 1e30 - 1e30 is 0, and takes nothing from the sum.
TEST(Expand, WhatMayCancelInATurnStaysTogether) {
  Graph graph;
  const Expanded expanded = sums(graph, 8, [](UOp i, UOp k) {
    const UOp row = i * 16 + k;
    return number_of(1, k) * number_of(2, row) + (number_of(3, row) + number_of(4, row));
  });
  EXPECT_EQ(count(expanded, Op::MulAdd), 8);
  EXPECT_EQ(count(expanded, Op::Add), 16) << "the two that stay together, and what they add";
}

// Multiply-adds wait for each other, and four sums do not hide that, unless making what they
// multiply takes as long.
TEST(Expand, AFewSumsAreMadeOfMultiplyAddsWhereTheirFactorsTakeLong) {
  for (const int doublings : {0, 3}) {
    Graph graph;
    const Expanded expanded = sums(graph, 4, [&](UOp i, UOp k) {
      const UOp row = i * 16 + k;
      UOp a = number_of(1, row), b = number_of(2, row);
      for (int n = 0; n < doublings; n++) {
        a = a + a;
        b = b + b;
      }
      return number_of(3, k) * a + number_of(4, k) * b;
    });
    EXPECT_EQ(count(expanded, Op::MulAdd), doublings == 0 ? 0 : 8);
  }
}

// The lanes, of 32 bits, are constants; a scalar tells how many are left of the row.
TEST(IndexType, LanesAtTheEndOfARowAreMaskedByAScalar) {
  Graph graph;
  UOp i, k;
  const UOp sums = row_sums(graph, 100, i, k);
  Caps caps = scalar_caps();
  caps.vector_bytes = 64;
  caps.masked_vectors = true;
  const auto in_vectors = [](KernelState& state) {
    const UOp row = pad(state, closed_ranges(reduces(state.sink)[0])[0], 16);
    bind(state, split_reduction(state, row, 16).inner, LoopKind::Lane);
  };
  EXPECT_EQ(print_program(make_program(sums, caps, in_vectors)), R"(%0 = param float32
%1 = range int64 [16 lane]
%2 = register float32 %1
%3 = const float32 0
%4 = param float32
%5 = const int64 100
%6 = const int64 16
%7 = const int64 -16
%8 = cast int32 %1
loop r0
  %9 = range int64 [4 parallel]
  store %2 %3
  %10 = mul int64 %9 %5
  loop r3
    %11 = range int64 [7 reduce]
    %12 = load float32 %2
    %13 = mul int64 %11 %7
    %14 = add int64 %13 %5
    %15 = cast int32 %14
    %16 = lt bool %8 %15
    %17 = mul int64 %11 %6
    %18 = add int64 %10 %17
    %19 = add int64 %1 %18
    %20 = load float32 %4[%19 if %16]
    %21 = add float32 %12 %20
    store %2 %21
  end_loop %11
  %22 = load float32 %2
  %23 = reduce float32 %22 %1 (add)
  store %0[%9] %23
end_loop %9
)");
}

TEST(Linearize, InvariantsStandOutsideOfLoops) {
  Graph graph;
  UOp i, k;
  EXPECT_EQ(print_program(make_program(row_sums(graph, 100, i, k), scalar_caps())),
            R"(%0 = param float32
%1 = register float32
%2 = const float32 0
%3 = param float32
%4 = const int64 100
loop r0
  %5 = range int64 [4 parallel]
  store %1 %2
  %6 = mul int64 %5 %4
  loop r1
    %7 = range int64 [100 reduce]
    %8 = load float32 %1
    %9 = add int64 %6 %7
    %10 = load float32 %3[%9]
    %11 = add float32 %8 %10
    store %1 %11
  end_loop %7
  %12 = load float32 %1
  store %0[%5] %12
end_loop %5
)");
}

TEST(Linearize, LanesNeedNoLoop) {
  Graph graph;
  UOp i;
  Caps caps = scalar_caps();
  caps.vector_bytes = 32;
  EXPECT_EQ(print_program(make_program(doubled(graph, i), caps)), R"(%0 = param float32
%1 = range int64 [8 lane]
%2 = param float32
%3 = const float32 2
%4 = load float32 %2[%1]
%5 = mul float32 %4 %3
store %0[%1] %5
)");
}

}  // namespace
}  // namespace croze
