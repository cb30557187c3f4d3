// steps.h -- the steps of programs on Tensors: what each draws, calls and is called.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "croze/tensor/tensor.h"
#include "fuzz/graphs/draft.h"
#include "fuzz/graphs/trial.h"

namespace croze::fuzz {

// What a step is called with.
struct GraphCall {
  GraphTrial& in;
  const Tensor &x, &y, &z, &w;
  std::span<const std::int64_t> n;
};

struct GraphStepKind {
  enum class Result {
    Rounds,   // its operations round
    Adds,     // sums and products: of small whole numbers they are exact
    Selects,  // elements, or what follows from integers: exact if its operands are
    Jumps,    // the same, but a rounding of an operand can make another result
    Looks,    // at how its operands came about, and rounds
    Assigns,  // x is changed
  };

  Result result;
  std::optional<DrawnStep> (*draw)(GraphDraft& draft);
  const char* code;  // as written, with x, y, z, w and n
  Tensor (*call)(const GraphCall& call);
};

// Code and call cannot differ.
#define CROZE_GRAPH_STEP(...) \
#__VA_ARGS__, [](const GraphCall& call) -> Tensor {               \
    [[maybe_unused]] const auto& [in, x, y, z, w, n] = call;        \
    return __VA_ARGS__;                                             \
  }

std::span<const GraphStepKind> elementwise_graph_steps();
std::span<const GraphStepKind> reducing_graph_steps();
std::span<const GraphStepKind> moving_graph_steps();
std::span<const GraphStepKind> layer_graph_steps();
// Those that make tensors in memory come first: numbers, numbers with NaN and infinities, whole
// numbers.
std::span<const GraphStepKind> other_graph_steps();

// All of them, in that order; those that make tensors come first.
const std::vector<GraphStepKind>& graph_steps();
inline constexpr int real_step = 0, special_step = 1, whole_step = 2;

// Parts of n, and how they are spelled: Shape({2, 3}), Axes({0}), DType::Float32.
inline Shape shape_in(std::span<const std::int64_t> n, std::size_t first) {
  return Shape(n.subspan(first));
}
inline Axes axes_in(std::span<const std::int64_t> n, std::size_t first) {
  return Axes(n.subspan(first));
}
inline DType dtype_in(std::int64_t number) { return static_cast<DType>(number); }

// h = tanh(h w + part of x), over the first axis of x.
Tensor recurrence(const Tensor& x, const Tensor& w, std::int64_t turns);

// The gradients by targets whose shapes differ in the first axis at most, joined.
Tensor gradients(const Tensor& loss, std::initializer_list<Tensor> targets);

}  // namespace croze::fuzz
