// scan.h -- a loop over the first axis of tensors, whose body is compiled once.
//
//     auto [last, outputs] = scan(
//         [&](const Tensor& h, const Tensor& x) {
//           const Tensor next = tanh(matmul(h, w) + x);
//           return std::pair(next, next * 2.);
//         },
//         Tensor::zeros({8, 32}), inputs);  // inputs (t, 8, 32), last (8, 32), outputs (t, 8, 32)
//
// The function is run once, on stand-ins for a state and a row of the inputs, and what it records
// is launched for each row in turn.  So the time to compile, and the graph, do not depend on the
// length.  The results are computed when scan returns, or enqueued in a QueueScope; they are
// differentiable by the first state, by the inputs and by every tensor that the function closes
// over, as often as one likes.  A gradient is a loop of the same kind that runs backwards and
// computes each step of the function once more.  What follows from this:
//
// * The state keeps its shape, dtype and device; Error otherwise, with both.
// * Numbers and other C++ values are fixed for all steps, branches too.  Random numbers are drawn
//   anew in each step, and are those that the steps one after the other would draw.
// * Nothing can be computed inside: realize(), item() and to_vector() throw Error there.  So does
//   an assignment to a tensor that there was before.
// * A tensor that the function stores elsewhere than in its result has no value: Error where it is
//   asked for.
// * Inside a captured step or another scan nothing can be launched: there the steps are recorded
//   one by one, with the same result, and the time to schedule them grows with the length.  So it
//   is while CROZE_CHECK_NAN or CROZE_CHECK_INDICES is set.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze {

struct ScanOptions {
  // From the last row to the first; outputs have the order of the inputs.
  bool reverse = false;
  // All states are kept for the gradient, as long as it can be asked for.  Otherwise two of them
  // are, and a gradient runs the loop once more before it runs backwards.
  bool keep_states = true;
  // The number of steps; that of rows if there are inputs.
  std::int64_t length = -1;
};

// What scan() is made of: lists of tensors.
struct ScanLists {
  std::vector<Tensor> state, ys;
};
struct ScanFunction {
  ScanLists (*call)(void* context, std::span<const Tensor> state, std::span<const Tensor> row);
  void* context;  // only used during the call
};
ScanLists scan(ScanFunction function, std::span<const Tensor> state, std::span<const Tensor> xs,
               const ScanOptions& options, Location at);

template <typename T>
concept TensorOrList = std::same_as<T, Tensor> || std::same_as<T, std::vector<Tensor>>;

namespace detail {

inline std::span<const Tensor> as_list(const Tensor& t) { return {&t, 1}; }
inline std::span<const Tensor> as_list(const std::vector<Tensor>& list) { return list; }

template <TensorOrList T>
T from_list(std::span<const Tensor> list) {
  if constexpr (std::same_as<T, Tensor>) {
    return list[0];
  } else {
    return T(list.begin(), list.end());
  }
}

// F over lists; `context` is the F.
template <typename State, typename Xs, typename F>
ScanLists call_with_lists(void* context, std::span<const Tensor> state,
                          std::span<const Tensor> row) {
  F& f = *static_cast<F*>(context);
  const auto result = f(from_list<State>(state), from_list<Xs>(row));
  const std::span<const Tensor> next = as_list(result.first), ys = as_list(result.second);
  return {{next.begin(), next.end()}, {ys.begin(), ys.end()}};
}

}  // namespace detail

// The last state, and what the steps gave out, stacked along a new first axis.
//
// f(state, row) returns a pair of the next state and what the step gives out; each of the two, like
// `state` and `xs`, is a Tensor or a std::vector<Tensor>.  A row is an element of the first axis of
// each of `xs`, which all have the same size there; an empty list has options.length rows.  With no
// rows the last state is the first one, and the outputs have size 0.
//
// Throws Error, with the line of the call, if sizes differ, or if a state changes its shape, dtype
// or device; errors inside of f have its lines.
template <TensorOrList State, TensorOrList Xs, typename F>
auto scan(F f, const State& state, const Xs& xs, const ScanOptions& options = {},
          Location at = Location::current()) {
  using Result = std::invoke_result_t<F&, State, Xs>;
  using Y = typename Result::second_type;
  static_assert(std::same_as<typename Result::first_type, State> && TensorOrList<Y>,
                "the function of a scan returns a pair of a state, of the type of the first, and a "
                "Tensor or a std::vector<Tensor>");
  const ScanLists result = scan({detail::call_with_lists<State, Xs, F>, &f}, detail::as_list(state),
                                detail::as_list(xs), options, at);
  return std::pair(detail::from_list<State>(result.state), detail::from_list<Y>(result.ys));
}

}  // namespace croze
