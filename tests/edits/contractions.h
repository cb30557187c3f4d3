// contractions.h -- kernels with reductions that use what they load many times.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "edits/kernels.h"

namespace croze::test {

// out[n, i, j] = sum over k of a[n, i, k] * b[n, k, j].
inline SmallKernel products(std::int64_t batch, std::int64_t rows, std::int64_t depth,
                            std::int64_t columns) {
  SmallKernel k{"products", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  k.buffers = {numbers(batch * rows * columns, 1), numbers(batch * rows * depth, 2),
               numbers(batch * depth * columns, 3)};
  const UOp n = g.range(0, batch, LoopKind::Parallel), i = g.range(1, rows, LoopKind::Parallel);
  const UOp j = g.range(2, columns, LoopKind::Parallel), d = g.range(3, depth, LoopKind::Reduce);
  const UOp a =
      g.load(g.place(g.param(DType::Int32, 1, batch * rows * depth), (n * rows + i) * depth + d));
  const UOp b = g.load(
      g.place(g.param(DType::Int32, 2, batch * depth * columns), (n * depth + d) * columns + j));
  const UOp place =
      g.place(g.param(DType::Int32, 0, batch * rows * columns), (n * rows + i) * columns + j);
  const UOp sum = g.reduce(Op::Add, a * b, std::vector<UOp>{d});
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{n, i, j})});
  for (std::int64_t at = 0; at < batch * rows * columns; at++) {
    const std::int64_t row = at / columns, column = at % columns, from = row / rows * depth;
    std::int32_t total = 0;
    for (std::int64_t z = 0; z < depth; z++) {
      total += k.buffers[1][static_cast<std::size_t>(row * depth + z)] *
               k.buffers[2][static_cast<std::size_t>((from + z) * columns + column)];
    }
    k.expected.push_back(total);
  }
  return k;
}

// out[o, y, x] = sum over c, v, w of in[c, y + v, x + w] * f[o, c, v, w].
inline SmallKernel convolution(std::int64_t outputs, std::int64_t inputs, std::int64_t side,
                               std::int64_t window) {
  SmallKernel k{"convolution", std::make_shared<Graph>(), {}, {}, {}};
  Graph& g = *k.graph;
  const std::int64_t wide = side + window - 1, taps = inputs * window * window;
  k.buffers = {numbers(outputs * side * side, 1), numbers(inputs * wide * wide, 2),
               numbers(outputs * taps, 3)};
  const UOp o = g.range(0, outputs, LoopKind::Parallel), y = g.range(1, side, LoopKind::Parallel);
  const UOp x = g.range(2, side, LoopKind::Parallel), c = g.range(3, inputs, LoopKind::Reduce);
  const UOp v = g.range(4, window, LoopKind::Reduce), w = g.range(5, window, LoopKind::Reduce);
  const UOp in = g.load(
      g.place(g.param(DType::Int32, 1, inputs * wide * wide), (c * wide + y + v) * wide + x + w));
  const UOp f = g.load(g.place(g.param(DType::Int32, 2, outputs * taps),
                               ((o * inputs + c) * window + v) * window + w));
  const UOp sum = g.reduce(Op::Add, in * f, std::vector<UOp>{c, v, w});
  const UOp place =
      g.place(g.param(DType::Int32, 0, outputs * side * side), (o * side + y) * side + x);
  k.sink = g.sink(std::vector<UOp>{g.store(place, sum, std::vector<UOp>{o, y, x})});
  for (std::int64_t at = 0; at < outputs * side * side; at++) {
    const std::int64_t out = at / (side * side), row = at / side % side, column = at % side;
    std::int32_t total = 0;
    for (std::int64_t tap = 0; tap < taps; tap++) {
      const std::int64_t channel = tap / (window * window), dy = tap / window % window;
      total += k.buffers[1][static_cast<std::size_t>((channel * wide + row + dy) * wide + column +
                                                     tap % window)] *
               k.buffers[2][static_cast<std::size_t>(out * taps + tap)];
    }
    k.expected.push_back(total);
  }
  return k;
}

}  // namespace croze::test
