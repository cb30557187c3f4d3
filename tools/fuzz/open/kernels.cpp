// kernels.cpp -- the forms, each as nodes and as loops.
#include "fuzz/open/kernels.h"

#include <algorithm>
#include <limits>

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;
using i32 = std::int32_t;

i32& at(std::vector<i32>& buffer, i64 i) { return buffer[static_cast<std::size_t>(i)]; }

// ---- out[i] = 3 * x[i] + i ----

UOp map_kernel(OpenBuilder& b) {
  const UOp n = b.size(0), i = b.parallel(0), x = b.load(1, n, i);
  return b.result(n, i, x * 3 + b.integer(i), {i});
}
void map_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) at(m[0], i) = 3 * at(m[1], i) + static_cast<i32>(i);
}

// ---- out[i, j] = x[i, j] + y[j] ----

UOp plane_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.parallel(0), j = b.parallel(1);
  const UOp at = i * b.size(1) + j;
  return b.result(n, at, b.load(1, n, at) + b.load(2, b.size(1), j), {i, j});
}
void plane_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0] * s[1]; i++) at(m[0], i) = at(m[1], i) + at(m[2], i % s[1]);
}

// ---- out[i, j] = 2 * x[i, j], which is one loop ----

UOp flat_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.parallel(0), j = b.parallel(1);
  const UOp at = i * b.size(1) + j;
  return b.result(n, at, b.load(1, n, at) * 2, {i, j});
}
void flat_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0] * s[1]; i++) at(m[0], i) = at(m[1], i) * 2;
}

// ---- out[j, i] = x[i, j] ----

UOp transpose_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.parallel(0), j = b.parallel(1);
  return b.result(n, j * b.size(0) + i, b.load(1, n, i * b.size(1) + j), {j, i});
}
void transpose_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    for (i64 j = 0; j < s[1]; j++) at(m[0], j * s[0] + i) = at(m[1], i * s[1] + j);
  }
}

// ---- out[i] = x[place[i]], 0 where that is outside ----

UOp gather_kernel(OpenBuilder& b) {
  const UOp i = b.parallel(0);
  const UOp place = cast(b.load(1, b.size(0), i), DType::Index);
  const UOp inside = less(place.graph().index(-1), place) & less(place, b.size(1));
  return b.result(b.size(0), i, b.load(2, b.size(1), place, inside), {i});
}
void gather_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    const i32 place = at(m[1], i);
    at(m[0], i) = place >= 0 && place < s[1] ? at(m[2], place) : 0;
  }
}

// ---- out[i] = sum of x[i + w - 1] * f[w] for w < 3, with zeros beyond the ends ----

UOp window_kernel(OpenBuilder& b) {
  const UOp n = b.size(0), i = b.parallel(0), w = b.constant_range(3, LoopKind::Reduce);
  const UOp from = i + w - 1;
  const UOp inside = less(from.graph().index(-1), from) & less(from, n);
  const UOp x = b.load(1, n, from, inside), f = b.load(2, n.graph().index(3), w);
  return b.result(n, i, b.sum(x * f, w), {i});
}
void window_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    at(m[0], i) = 0;
    for (i64 w = 0; w < 3; w++) {
      const i64 from = i + w - 1;
      if (from >= 0 && from < s[0]) at(m[0], i) += at(m[1], from) * at(m[2], w);
    }
  }
}

// ---- out[i] = sum of x[i, j] over j ----

UOp sums_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.parallel(0), j = b.reduced(1);
  return b.result(b.size(0), i, b.sum(b.load(1, n, i * b.size(1) + j), j), {i});
}
void sums_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    at(m[0], i) = 0;
    for (i64 j = 0; j < s[1]; j++) at(m[0], i) += at(m[1], i * s[1] + j);
  }
}

// ---- out[j] = max of x[i, j] over i ----

UOp maxima_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.reduced(0), j = b.parallel(1);
  return b.result(b.size(1), j, b.reduce(Op::Max, b.load(1, n, i * b.size(1) + j), i), {j});
}
void maxima_compute(Sizes s, IntBuffers& m) {
  for (i64 j = 0; j < s[1]; j++) {
    at(m[0], j) = std::numeric_limits<i32>::min();
    for (i64 i = 0; i < s[0]; i++) at(m[0], j) = std::max(at(m[0], j), at(m[1], i * s[1] + j));
  }
}

// ---- out[i, j] = (x[i, j] - max of the row)^2 - sum of these over the row: as a softmax does ----

UOp centred_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.parallel(0), j = b.parallel(1);
  const UOp k = b.reduced(1), l = b.reduced(1);
  const auto x = [&](UOp column) { return b.load(1, n, i * b.size(1) + column); };
  const UOp most = b.reduce(Op::Max, x(k), k);
  const auto square = [&](UOp column) { return (x(column) - most) * (x(column) - most); };
  return b.result(n, i * b.size(1) + j, square(j) - b.sum(square(l), l), {i, j});
}
void centred_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    i32 most = std::numeric_limits<i32>::min(), sum = 0;
    for (i64 j = 0; j < s[1]; j++) most = std::max(most, at(m[1], i * s[1] + j));
    for (i64 j = 0; j < s[1]; j++) {
      const i32 x = at(m[1], i * s[1] + j) - most;
      sum += x * x;
    }
    for (i64 j = 0; j < s[1]; j++) {
      const i32 x = at(m[1], i * s[1] + j) - most;
      at(m[0], i * s[1] + j) = x * x - sum;
    }
  }
}

// ---- out[i] = the first j at which x[i, j] is the greatest of its row ----

constexpr i32 no_position = 1000000;

UOp position_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), i = b.parallel(0), k = b.reduced(1), l = b.reduced(1);
  const auto x = [&](UOp column) { return b.load(1, n, i * b.size(1) + column); };
  const UOp most = b.reduce(Op::Max, x(k), k), last = constant_like(most, no_position);
  const UOp first = b.reduce(Op::Min, where(equal(x(l), most), b.integer(l), last), l);
  return b.result(b.size(0), i, first, {i});
}
void position_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    const auto row = m[1].begin() + i * s[1];
    const i64 place = std::max_element(row, row + s[1]) - row;
    at(m[0], i) = s[1] == 0 ? std::numeric_limits<i32>::max() : static_cast<i32>(place);
  }
}

// ---- out[i, j] = sum of a[i, k] * b[k, j] over k ----

UOp product_kernel(OpenBuilder& b) {
  const UOp m = b.size(0), n = b.size(1), depth = b.size(2);
  const UOp i = b.parallel(0), j = b.parallel(1), k = b.reduced(2);
  const UOp x = b.load(1, m * depth, i * depth + k), y = b.load(2, depth * n, k * n + j);
  return b.result(m * n, i * n + j, b.sum(x * y, k), {i, j});
}
void product_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    for (i64 j = 0; j < s[1]; j++) {
      i32 sum = 0;
      for (i64 k = 0; k < s[2]; k++) sum += at(m[1], i * s[2] + k) * at(m[2], k * s[1] + j);
      at(m[0], i * s[1] + j) = sum;
    }
  }
}

// ---- out[(i + j) % 4] = x[i, j], one after the other, so that the last one stays ----

UOp ordered_kernel(OpenBuilder& b) {
  const UOp n = b.size(0) * b.size(1), four = n.graph().index(4);
  const UOp i = b.range(0, LoopKind::Serial), j = b.range(1, LoopKind::Serial);
  return b.result(four, (i + j) % 4, b.load(1, n, i * b.size(1) + j), {i, j});
}
void ordered_compute(Sizes s, IntBuffers& m) {
  for (i64 i = 0; i < s[0]; i++) {
    for (i64 j = 0; j < s[1]; j++) at(m[0], (i + j) % 4) = at(m[1], i * s[1] + j);
  }
}

using Elements = std::vector<i64>;

constexpr OpenForm forms[] = {
    {"map", 1,
     [](Sizes s) {
       return Elements{s[0], s[0]};
     },
     map_kernel, map_compute},
    {"plane", 2,
     [](Sizes s) {
       return Elements{s[0] * s[1], s[0] * s[1], s[1]};
     },
     plane_kernel, plane_compute},
    {"flat", 2,
     [](Sizes s) {
       return Elements{s[0] * s[1], s[0] * s[1]};
     },
     flat_kernel, flat_compute},
    {"transpose", 2,
     [](Sizes s) {
       return Elements{s[0] * s[1], s[0] * s[1]};
     },
     transpose_kernel, transpose_compute},
    {"gather", 2,
     [](Sizes s) {
       return Elements{s[0], s[0], s[1]};
     },
     gather_kernel, gather_compute},
    {"window", 1,
     [](Sizes s) {
       return Elements{s[0], s[0], 3};
     },
     window_kernel, window_compute},
    {"sums", 2,
     [](Sizes s) {
       return Elements{s[0], s[0] * s[1]};
     },
     sums_kernel, sums_compute},
    {"maxima", 2,
     [](Sizes s) {
       return Elements{s[1], s[0] * s[1]};
     },
     maxima_kernel, maxima_compute},
    {"centred", 2,
     [](Sizes s) {
       return Elements{s[0] * s[1], s[0] * s[1]};
     },
     centred_kernel, centred_compute},
    {"position", 2,
     [](Sizes s) {
       return Elements{s[0], s[0] * s[1]};
     },
     position_kernel, position_compute},
    {"product", 3,
     [](Sizes s) {
       return Elements{s[0] * s[1], s[0] * s[2], s[2] * s[1]};
     },
     product_kernel, product_compute},
    {"ordered", 2,
     [](Sizes s) {
       return Elements{4, s[0] * s[1]};
     },
     ordered_kernel, ordered_compute},
};

}  // namespace

std::span<const OpenForm> open_forms() { return forms; }

OpenKernel open_kernel(const OpenForm& form, std::span<const SizeBounds> bounds) {
  OpenKernel kernel{form.name, std::make_shared<Graph>(), {}};
  OpenBuilder builder(*kernel.graph, form, bounds);
  kernel.sink = form.kernel(builder);
  return kernel;
}

std::vector<i64> variables_of(std::span<const SizeBounds> bounds, Sizes sizes) {
  std::vector<i64> variables;
  for (std::size_t i = 0; i < bounds.size(); i++) {
    if (bounds[i].lo != bounds[i].hi) variables.push_back(sizes[i]);
  }
  return variables;
}

IntBuffers open_buffers(const OpenForm& form, Sizes sizes) {
  constexpr i32 noise = 0x5a5a5a5a;
  IntBuffers buffers;
  for (i64 elements : form.elements(sizes)) {
    std::vector<i32>& buffer = buffers.emplace_back();
    const auto seed = static_cast<i64>(buffers.size());
    for (i64 i = 0; i < elements; i++) {
      buffer.push_back(seed == 1 ? noise : static_cast<i32>((i * 7 + i / 13 + seed * 5) % 23) - 9);
    }
  }
  return buffers;
}

OpenBuilder::OpenBuilder(Graph& graph, const OpenForm& form, std::span<const SizeBounds> bounds)
    : graph_(graph) {
  std::vector<i64> most;
  i64 slot = 0;
  for (const SizeBounds& b : bounds) {
    most.push_back(b.hi);
    sizes_.push_back(b.lo == b.hi ? graph.index(b.hi) : graph.variable(slot++, b.lo, b.hi));
  }
  most_ = form.elements(most);
}

UOp OpenBuilder::range(int size, LoopKind kind) {
  return graph_.range(next_range_++, this->size(size), kind);
}

UOp OpenBuilder::constant_range(i64 size, LoopKind kind) {
  return graph_.range(next_range_++, size, kind);
}

UOp OpenBuilder::param(int buffer, UOp count) {
  return graph_.param(DType::Int32, buffer, most_[static_cast<std::size_t>(buffer)], count);
}

UOp OpenBuilder::load(int buffer, UOp count, UOp index, UOp gate) {
  const UOp memory = param(buffer, count);
  return graph_.load(gate ? graph_.place(memory, index, gate) : graph_.place(memory, index));
}

UOp OpenBuilder::reduce(Op op, UOp x, UOp range) {
  return graph_.reduce(op, x, std::span(&range, 1));
}

UOp OpenBuilder::result(UOp count, UOp index, UOp value, std::initializer_list<UOp> ranges,
                        UOp gate) {
  const UOp memory = param(0, count);
  const UOp place = gate ? graph_.place(memory, index, gate) : graph_.place(memory, index);
  const UOp store = graph_.store(place, value, std::span(ranges.begin(), ranges.size()));
  return graph_.sink(std::span(&store, 1));
}

}  // namespace croze::fuzz
