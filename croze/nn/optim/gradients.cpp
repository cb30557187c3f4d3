// gradients.cpp -- gradients added up and kept within bounds.
#include "croze/nn/optim/gradients.h"

#include "croze/base/error.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"

namespace croze::optim {

void accumulate(std::vector<Tensor>& sum, const std::vector<Tensor>& gradients, Location at) {
  if (sum.empty()) {
    for (const Tensor& g : gradients) sum.push_back(widened(g));
    return;
  }
  check_gradients("accumulate", sum, gradients, at);
  for (std::size_t i = 0; i < sum.size(); i++) sum[i] = sum[i] + widened(gradients[i]);
}

ClippedGradients clip_grad_norm(const std::vector<Tensor>& gradients, double most, double p,
                                Location at) {
  check(!gradients.empty(), at, "clip_grad_norm: there are no gradients");
  check(most > 0 && p > 0, at, "clip_grad_norm: to at most {} in the {}-norm", most, p);
  std::vector<Tensor> norms;
  for (const Tensor& g : gradients) norms.push_back(vector_norm(widened(g), p, {}, false, at));
  // One number each for all gradients: computed once, not per element.
  const Tensor norm = vector_norm(stack(norms, 0, at), p, {}, false, at).contiguous();
  const Tensor scale = clamp(most / (norm + 1e-6), {}, 1.0).contiguous();
  ClippedGradients clipped{{}, norm};
  for (const Tensor& g : gradients) {
    clipped.gradients.push_back((widened(g) * scale).cast(g.dtype()));
  }
  return clipped;
}

std::vector<Tensor> clip_grad_value(const std::vector<Tensor>& gradients, double most,
                                    Location at) {
  check(most > 0, at, "clip_grad_value: to at most {}", most);
  std::vector<Tensor> clipped;
  for (const Tensor& g : gradients) clipped.push_back(clamp(g, -most, most));
  return clipped;
}

}  // namespace croze::optim
