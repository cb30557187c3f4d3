// custom_gradient.cpp -- functions with a gradient of the user's, as given gradients.
#include "croze/tensor/custom_gradient.h"

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/tensor/gradient.h"

namespace croze::detail {

Tensor with_backward(const Tensor& output, std::span<const Tensor> inputs, Backward backward,
                     Location at) {
  const CallScope scope("custom_gradient", at);
  check(output.defined(), "the function returned a tensor that is not defined");
  // The output is an input of its gradient, so that it lives as long as that and no longer.
  std::vector<Tensor> all(inputs.begin(), inputs.end());
  all.push_back(output);
  const auto gradient = [backward = std::move(backward), at](const GradientRequest& request) {
    const std::span<const Tensor> given = request.inputs.first(request.inputs.size() - 1);
    const Tensor again = with_backward(request.inputs.back(), given, backward, at);
    std::vector<Tensor> gradients = backward(given, again, request.gradients[0]);
    gradients.emplace_back();
    return gradients;
  };
  return with_gradient({&output, 1}, all, gradient, at)[0];
}

std::vector<Tensor> gradients_at(const std::vector<bool>& is_input, std::vector<Tensor> gradients,
                                 Location at) {
  check(gradients.size() == is_input.size(), at,
        "custom_gradient: {} gradients were returned for {} inputs", gradients.size(),
        is_input.size());
  std::size_t place = 0;
  std::erase_if(gradients, [&](const Tensor&) { return !is_input[place++]; });
  return gradients;
}

}  // namespace croze::detail
