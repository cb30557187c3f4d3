// kernels.h -- small kernels of different forms, and what they compute by plain loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/uop.h"

namespace croze::test {

// A kernel over Int32 buffers, so that results are equal to the last bit in every order.
// Parameter 0 is the result.
struct SmallKernel {
  std::string name;
  std::shared_ptr<Graph> graph;
  UOp sink;
  std::vector<std::vector<std::int32_t>> buffers;  // before the run
  std::vector<std::int32_t> expected;              // of buffers[0] after it
};

inline std::vector<std::int32_t> numbers(std::int64_t n, std::int32_t seed) {
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < n; i++) {
    result.push_back(static_cast<std::int32_t>((i * 7 + seed * 5) % 11) - 5);
  }
  return result;
}

// out[i, j] = sum over k of a[i, k] * b[k, j]; r0, r1, r2 are i, j, k.
inline SmallKernel product_kernel(std::int64_t rows = 4, std::int64_t depth = 4,
                                  std::int64_t columns = 6) {
  SmallKernel k{"product", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(rows * depth, 2), numbers(depth * columns, 3)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp d = g.range(2, depth, LoopKind::Reduce);
  const UOp a = g.load(g.place(g.param(DType::Int32, 1, rows * depth), i * depth + d));
  const UOp b = g.load(g.place(g.param(DType::Int32, 2, depth * columns), d * columns + j));
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i, j})});
  k.expected.assign(static_cast<std::size_t>(rows * columns), 0);
  for (std::int64_t n = 0; n < rows * columns * depth; n++) {
    const std::int64_t x = n / depth / columns, y = n / depth % columns, z = n % depth;
    k.expected[static_cast<std::size_t>(x * columns + y)] +=
        k.buffers[1][static_cast<std::size_t>(x * depth + z)] *
        k.buffers[2][static_cast<std::size_t>(z * columns + y)];
  }
  return k;
}

// out[i] = sum over w of x[i + w - 1] * f[w], with zeros beyond the ends: gated loads; r0 is i, r1
// is w.
inline SmallKernel window_kernel() {
  constexpr std::int64_t length = 8, width = 3;
  SmallKernel k{"window", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(length, 1), numbers(length, 4), numbers(width, 6)};
  const UOp i = g.range(0, length, LoopKind::Parallel), w = g.range(1, width, LoopKind::Reduce);
  const UOp at = i + w - 1;
  const UOp inside = less(at, length) & less(g.index(-1), at);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, length), at, inside));
  const UOp f = g.load(g.place(g.param(DType::Int32, 2, width), w));
  const UOp sum = g.reduce(Op::Add, x * f, std::vector<UOp>{w});
  const UOp out = g.place(g.param(DType::Int32, 0, length), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i})});
  k.expected.assign(length, 0);
  for (std::int64_t n = 0; n < length * width; n++) {
    const std::int64_t from = n / width + n % width - 1;
    if (from < 0 || from >= length) continue;
    k.expected[static_cast<std::size_t>(n / width)] +=
        k.buffers[1][static_cast<std::size_t>(from)] *
        k.buffers[2][static_cast<std::size_t>(n % width)];
  }
  return k;
}

// out[i, j] = x[i, j] - max over k of x[i, k] + sum over l of x[i, l]: two reductions beside each
// other that no column needs again; r0 and r1 are i and j, r2 and r3 the loops of the reductions.
inline SmallKernel rows_kernel(std::int64_t rows = 3, std::int64_t columns = 8) {
  SmallKernel k{"rows", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(rows * columns, 9)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp m = g.range(2, columns, LoopKind::Reduce), l = g.range(3, columns, LoopKind::Reduce);
  const UOp memory = g.param(DType::Int32, 1, rows * columns);
  const auto x = [&](UOp column) { return g.load(g.place(memory, i * columns + column)); };
  const UOp most = g.reduce(Op::Max, x(m), std::vector<UOp>{m});
  const UOp sum = g.reduce(Op::Add, x(l), std::vector<UOp>{l});
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  k.sink = g.sink(std::vector<UOp>{g.store(out, x(j) - most + sum, std::vector<UOp>{i, j})});
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); r++) {
    const auto row = std::span(k.buffers[1]).subspan(r * width, width);
    const std::int32_t greatest = *std::max_element(row.begin(), row.end());
    std::int32_t total = 0;
    for (std::int32_t value : row) total += value;
    for (std::int32_t value : row) k.expected.push_back(value - greatest + total);
  }
  return k;
}

// out[i] = 2 if one of x[i, ..] is greater than 3, and one more if all are greater than -5; r0 is
// i, r1 and r2 the loops of the reductions.
inline SmallKernel votes_kernel(std::int64_t rows = 6, std::int64_t columns = 8) {
  SmallKernel k{"votes", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows, 1), numbers(rows * columns, 4)};
  const UOp i = g.range(0, rows, LoopKind::Parallel);
  const UOp memory = g.param(DType::Int32, 1, rows * columns);
  const auto is_greater = [&](UOp column, std::int64_t than) {
    const UOp x = g.load(g.place(memory, i * columns + column));
    return g.alu(Op::Lt, {g.constant(DType::Int32, than), x});
  };
  const UOp m = g.range(1, columns, LoopKind::Reduce), l = g.range(2, columns, LoopKind::Reduce);
  const UOp any = g.reduce(Op::Max, is_greater(m, 3), std::vector<UOp>{m});
  const UOp all = g.reduce(Op::Min, is_greater(l, -5), std::vector<UOp>{l});
  const UOp sum = g.cast(any, DType::Int32) * 2 + g.cast(all, DType::Int32);
  const UOp out = g.place(g.param(DType::Int32, 0, rows), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, sum, std::vector<UOp>{i})});
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); r++) {
    const auto row = std::span(k.buffers[1]).subspan(r * width, width);
    const auto [least, greatest] = std::ranges::minmax(row);
    k.expected.push_back((greatest > 3 ? 2 : 0) + (least > -5 ? 1 : 0));
  }
  return k;
}

// out[(i * j) % 4, p] = x[i, j, p], one after the other, so that the last one stays: r0 and r2 are
// the loops i and j, whose iterations stay in order, r1 is p.
inline SmallKernel ordered_kernel() {
  constexpr std::int64_t size = 4, width = 4;
  SmallKernel k{"ordered", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(4 * width, 1), numbers(size * size * width, 8)};
  const UOp i = g.range(0, size, LoopKind::Serial), j = g.range(2, size, LoopKind::Serial);
  const UOp p = g.range(1, width, LoopKind::Parallel);
  const UOp from = (i * size + j) * width + p;
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, size * size * width), from));
  const UOp out = g.place(g.param(DType::Int32, 0, 4 * width), i * j % 4 * width + p);
  k.sink = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{i, p, j})});
  k.expected = k.buffers[0];
  for (std::size_t n = 0; n < size * size * width; n++) {
    const std::size_t slot = n / width / size * (n / width % size) % 4;
    k.expected[slot * width + n % width] = k.buffers[1][n];
  }
  return k;
}

// out[i] = the first k at which x[i, k] is the greatest of the row: a reduction that needs another;
// r0 is i, r1 and r2 the loops of the maximum and of the position.
inline SmallKernel position_kernel() {
  constexpr std::int64_t rows = 4, columns = 8;
  SmallKernel k{"position", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows, 1), numbers(rows * columns, 9)};
  const UOp i = g.range(0, rows, LoopKind::Parallel);
  const UOp m = g.range(1, columns, LoopKind::Reduce), l = g.range(2, columns, LoopKind::Reduce);
  const UOp memory = g.param(DType::Int32, 1, rows * columns);
  const auto x = [&](UOp column) { return g.load(g.place(memory, i * columns + column)); };
  const UOp most = g.reduce(Op::Max, x(m), std::vector<UOp>{m});
  const UOp here =
      where(equal(x(l), most), g.cast(l, DType::Int32), g.constant(DType::Int32, columns));
  const UOp first = g.reduce(Op::Min, here, std::vector<UOp>{l});
  const UOp out = g.place(g.param(DType::Int32, 0, rows), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, first, std::vector<UOp>{i})});
  for (std::size_t r = 0; r < rows; r++) {
    const auto row = std::span(k.buffers[1]).subspan(r * columns, columns);
    k.expected.push_back(
        static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return k;
}

// out[i, j] = x[i, j]^2 - sum over k of x[i, k]^2: the squares are computed twice; r0 and r1 are i
// and j, r2 is k.
inline SmallKernel squares_kernel() {
  constexpr std::int64_t rows = 3, columns = 12;
  SmallKernel k{"squares", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows * columns, 1), numbers(rows * columns, 9)};
  const UOp i = g.range(0, rows, LoopKind::Parallel), j = g.range(1, columns, LoopKind::Parallel);
  const UOp m = g.range(2, columns, LoopKind::Reduce);
  const UOp memory = g.param(DType::Int32, 1, rows * columns);
  const auto square = [&](UOp column) {
    const UOp x = g.load(g.place(memory, i * columns + column));
    return x * x;
  };
  const UOp sum = g.reduce(Op::Add, square(m), std::vector<UOp>{m});
  const UOp out = g.place(g.param(DType::Int32, 0, rows * columns), i * columns + j);
  k.sink = g.sink(std::vector<UOp>{g.store(out, square(j) - sum, std::vector<UOp>{i, j})});
  for (std::size_t r = 0; r < rows; r++) {
    const auto row = std::span(k.buffers[1]).subspan(r * columns, columns);
    std::int32_t total = 0;
    for (std::int32_t value : row) total += value * value;
    for (std::int32_t value : row) k.expected.push_back(value * value - total);
  }
  return k;
}

// out[i] = the product over n and k of x[i, k], which does not depend on n: r0 is i, r1 and r2 are
// n and k.
inline SmallKernel cubes_kernel() {
  constexpr std::int64_t rows = 4, columns = 4, times = 3;
  SmallKernel k{"cubes", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(rows, 1), {1, 2, -1, 1, 2, 2, 1, 3, 1, 1, -2, 1, -1, -1, 1, 2}};
  const UOp i = g.range(0, rows, LoopKind::Parallel);
  const UOp n = g.range(1, times, LoopKind::Reduce), c = g.range(2, columns, LoopKind::Reduce);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, rows * columns), i * columns + c));
  const UOp product = g.reduce(Op::Mul, x, std::vector<UOp>{n, c});
  const UOp out = g.place(g.param(DType::Int32, 0, rows), i);
  k.sink = g.sink(std::vector<UOp>{g.store(out, product, std::vector<UOp>{i})});
  k.expected = {-8, 12 * 12 * 12, -8, 8};
  return k;
}

// out[0] = x[i], one after the other: the last one stays; r0 is i.
inline SmallKernel last_kernel() {
  constexpr std::int64_t size = 6;
  SmallKernel k{"last", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {{77}, {1, 2, 3, 4, 5, 6}};
  const UOp i = g.range(0, size, LoopKind::Serial);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, size), i));
  const UOp out = g.place(g.param(DType::Int32, 0, 1), g.index(0));
  k.sink = g.sink(std::vector<UOp>{g.store(out, x, std::vector<UOp>{i})});
  k.expected = {6};
  return k;
}

inline std::vector<SmallKernel> small_kernels() {
  return {product_kernel(),  window_kernel(),  rows_kernel(), votes_kernel(), squares_kernel(),
          position_kernel(), ordered_kernel(), last_kernel(), cubes_kernel()};
}

}  // namespace croze::test
