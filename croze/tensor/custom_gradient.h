// custom_gradient.h -- functions with a gradient of the user's.
//
//     auto softplus = custom_gradient(
//         [](const Tensor& x) { return log1p(exp(x)); },
//         [](const Tensor& x, const Tensor& y, const Tensor& g) { return g * (1 - exp(-y)); });
//     Tensor loss = softplus(matmul(x, w)).sum();
//
// `forward` takes tensors, or containers of them (tensor/parts.h), and returns a float tensor.
// `backward` is called with the same inputs, the output, and the gradient of the loss by the
// output, which has the output's shape and dtype.  It returns the gradients of the loss by the
// inputs, each of the shape and dtype of its input: a Tensor if there is one, else a tuple, a
// vector, or whatever else has as many tensors in the same order.  A Tensor() stands where none
// flows, such as to integers.
//
// * No gradient flows into what `forward` closes over: what is to get one must be an input.
// * `backward` is called when a gradient is asked for, at any later time, by any thread, and more
//   than once; not at all if nothing is asked for behind its inputs.
// * If it is made of tensor functions of its arguments, its result can be differentiated again, as
//   often as one likes: the output, as it is given to `backward`, has this gradient, too.
// * What `backward` closes over lives as long as the results can be differentiated.
//
// Throws Error if `forward` returns no float tensor and, when a gradient is asked for, if
// `backward` returns another number of gradients, or one of another shape or dtype than its
// input's.  It names the line of custom_gradient().
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "croze/tensor/parts.h"
#include "croze/tensor/tensor.h"

namespace croze {
namespace detail {

// The gradients by the inputs, in order.
using Backward = std::function<std::vector<Tensor>(std::span<const Tensor> inputs,
                                                   const Tensor& output, const Tensor& gradient)>;
Tensor with_backward(const Tensor& output, std::span<const Tensor> inputs, Backward backward,
                     Location at);

// The gradients at the places where there is an input.
std::vector<Tensor> gradients_at(const std::vector<bool>& is_input, std::vector<Tensor> gradients,
                                 Location at);

}  // namespace detail

template <typename Forward, typename BackwardFunction>
class CustomGradient {
 public:
  CustomGradient(Forward forward, BackwardFunction backward, Location at)
      : forward_(std::move(forward)), backward_(std::move(backward)), at_(at) {}

  template <typename... Inputs>
  requires std::invocable<const Forward&, const Inputs&...> Tensor
  operator()(const Inputs&... inputs) const {
    const std::tuple<Inputs...> all(inputs...);
    const auto backward = [form = Form(all), backward = backward_, at = at_](
                              std::span<const Tensor> given, const Tensor& output,
                              const Tensor& gradient) {
      const auto gradients =
          std::apply([&](const auto&... input) { return backward(input..., output, gradient); },
                     form.filled(given));
      std::vector<Tensor> list;
      for_each_tensor(gradients, [&](const Tensor& t) { list.push_back(t); });
      return detail::gradients_at(form.is_defined(), std::move(list), at);
    };
    return detail::with_backward(forward_(inputs...), tensors_in(all), backward, at_);
  }

 private:
  Forward forward_;
  BackwardFunction backward_;
  Location at_;
};

template <typename Forward, typename BackwardFunction>
CustomGradient<Forward, BackwardFunction> custom_gradient(Forward forward,
                                                          BackwardFunction backward,
                                                          Location at = Location::current()) {
  return {std::move(forward), std::move(backward), at};
}

}  // namespace croze
