// kernels.h -- kernels whose sizes are known when they are launched, and what they compute by
// plain loops.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/uop.h"

namespace croze::fuzz {

// The values that a size may have; a constant if it has one only.
struct SizeBounds {
  std::int64_t lo = 0, hi = 0;
};

using Sizes = std::span<const std::int64_t>;
using IntBuffers = std::vector<std::vector<std::int32_t>>;

// What a kernel computes.  All buffers are Int32, so that results are equal to the last bit in
// every order; the first is the result.
struct OpenForm {
  const char* name;
  int sizes;
  std::vector<std::int64_t> (*elements)(Sizes);  // of the buffers
  UOp (*kernel)(class OpenBuilder&);
  void (*compute)(Sizes, IntBuffers&);  // writes the first buffer
};

// Maps, gathers, transposes, windows, reductions of rows, several that need each other, products of
// matrices, ordered stores.
std::span<const OpenForm> open_forms();

// A form whose sizes are Variables, in their order, or constants.
struct OpenKernel {
  std::string name;
  std::shared_ptr<Graph> graph;
  UOp sink;
};
OpenKernel open_kernel(const OpenForm& form, std::span<const SizeBounds> bounds);

// The values of the kernel's variables where its sizes are these.
std::vector<std::int64_t> variables_of(std::span<const SizeBounds> bounds, Sizes sizes);

// Buffers of just the elements that they need; the first is full of noise.
IntBuffers open_buffers(const OpenForm& form, Sizes sizes);

// Makes the nodes of a form.
class OpenBuilder {
 public:
  OpenBuilder(Graph& graph, const OpenForm& form, std::span<const SizeBounds> bounds);

  UOp size(int i) const { return sizes_[static_cast<std::size_t>(i)]; }
  UOp parallel(int size) { return range(size, LoopKind::Parallel); }
  UOp reduced(int size) { return range(size, LoopKind::Reduce); }
  UOp range(int size, LoopKind kind);
  UOp constant_range(std::int64_t size, LoopKind kind);
  // The element of a buffer that has `count` of them.
  UOp load(int buffer, UOp count, UOp index, UOp gate = {});
  UOp sum(UOp x, UOp range) { return reduce(Op::Add, x, range); }
  UOp reduce(Op op, UOp x, UOp range);
  // The kernel that stores the result.
  UOp result(UOp count, UOp index, UOp value, std::initializer_list<UOp> ranges, UOp gate = {});
  UOp integer(UOp index) { return graph_.cast(index, DType::Int32); }

 private:
  UOp param(int buffer, UOp count);

  Graph& graph_;
  std::vector<UOp> sizes_;
  std::vector<std::int64_t> most_;  // elements of the buffers
  std::int64_t next_range_ = 0;
};

}  // namespace croze::fuzz
