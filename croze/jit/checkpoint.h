// checkpoint.h -- gradient checkpointing: what a function computes between its inputs and its
// results is computed again for the gradient, instead of being kept for it.
//
//     for (const Block& block : blocks) x = checkpoint(block)(x);
//     Tensor loss = cross_entropy(head(x), labels);
//
// Values and gradients, of every order, are those of the function; a training step needs less
// memory and more time.  The function takes tensors, or containers of them, and returns the same
// (tensor/parts.h).  What follows from computing it again:
//
// * It is called once.  Its graph is what is recorded again, so random numbers, as dropout draws
//   them, are the same in both.
// * Gradients flow to what it closes over, too.
// * It may assign to tensors (running statistics), which happens once; but if a result depends on
//   what it has assigned, Error.  So is a result that is no float tensor.
// * It pays where a gradient is computed together with the results, as in a captured step.  Between
//   a realize() of the results and the gradient nothing but inputs is kept either.
//
// Errors name the line of checkpoint().
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/function_ref.h"
#include "croze/tensor/parts.h"
#include "croze/tensor/tensor.h"

namespace croze {
namespace detail {

// The results of the function, which is called once, and which is to have read the inputs.
std::vector<Tensor> computed_again(std::span<const Tensor> inputs,
                                   function_ref<std::vector<Tensor>()> function, Location at);

}  // namespace detail

template <typename F>
auto checkpoint(F function, Location at = Location::current()) {
  return [ function = std::move(function), at ]<typename... Inputs>(
      const Inputs&... inputs) requires std::invocable<const F&, const Inputs&...> {
    using Result = std::remove_cvref_t<std::invoke_result_t<const F&, const Inputs&...>>;
    std::optional<Result> result;
    const std::vector<Tensor> results = detail::computed_again(
        tensors_in(std::tuple<const Inputs&...>(inputs...)),
        [&] {
          result = function(inputs...);
          return tensors_in(*result);
        },
        at);
    return Form<Result>(std::move(*result)).filled(results);
  };
}

}  // namespace croze
