// loss_scale.cpp -- loss scaling.
#include "croze/nn/optim/loss_scale.h"

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/nn/optim/update.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze::optim {

LossScale::LossScale(const LossScaleOptions& o, Location at) : options(o) {
  check(o.first > 0 && o.growth >= 1 && o.backoff > 0 && o.backoff <= 1 && o.interval >= 1, at,
        "LossScale: first {}, growth {}, backoff {}, interval {}", o.first, o.growth, o.backoff,
        o.interval);
  const TensorOptions place{.dtype = {}, .device = o.device};
  scale = Tensor::from_data({static_cast<float>(o.first)}, {}, place);
  finite_steps = Tensor::from_data({0.f}, {}, place);
}

Tensor LossScale::operator()(const Tensor& loss) const { return widened(loss) * scale; }

ScaledGradients LossScale::unscaled(const std::vector<Tensor>& gradients, Location at) const {
  check(!gradients.empty(), at, "LossScale: there are no gradients");
  ScaledGradients result;
  std::vector<Tensor> are_finite;
  const Tensor factor = (1 / scale).contiguous();
  for (const Tensor& g : gradients) {
    are_finite.push_back(all(isfinite(g)));
    result.gradients.push_back(widened(g) * factor);
  }
  result.are_finite = all(stack(are_finite, 0)).contiguous();
  return result;
}

void LossScale::adjust(const Tensor& are_finite, Location at) {
  const CallScope scope("LossScale::adjust", at);
  const Tensor count = finite_steps + 1;
  const Tensor is_full = count >= options.interval;
  const Tensor larger = scale * options.growth;
  const Tensor grown = where(logical_and(is_full, isfinite(larger)), larger, scale);
  const Tensor next = where(are_finite, grown, scale * options.backoff);
  const Tensor next_count = where(logical_and(are_finite, logical_not(is_full)), count, 0);
  const std::vector<Tensor> assigned{update(scale, next), update(finite_steps, next_count)};
  finish(assigned);
}

}  // namespace croze::optim
