// loss.cpp -- losses over classes, which stand along axis 1.
#include "croze/io/onnx/ops/ops.h"

namespace croze::onnx {
namespace {

// -input[target] * weight[target], 0 where the target is the ignored one; its mean divides by the
// weights that count.
Tensor class_loss(const NodeCall& call, const Tensor& input, const Tensor& target) {
  const bool ignores = call.has_attribute("ignore_index");
  const std::int64_t ignored = call.integer("ignore_index", 0);
  const Tensor wide_target = target.cast(DType::Int64);
  const Tensor counts = wide_target != ignored;
  const Tensor picked = gather(input, 1, wide_target.unsqueeze(1)).squeeze(1);
  Tensor weight = Tensor::ones(target.shape(), {.dtype = input.dtype()});
  if (call.has(2)) {
    const Tensor flat = index_select(call[2].cast(input.dtype()), 0, wide_target.flatten());
    weight = flat.reshape(target.shape());
  }
  if (ignores) weight = where(counts, weight, 0);
  const Tensor loss = where(weight == 0, 0, -picked * weight);
  const std::string_view reduction = call.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return sum(loss);
  check(reduction == "mean", "reduction \"{}\"", reduction);
  return sum(loss) / sum(weight);
}

Results negative_log_likelihood(const NodeCall& call) {
  return {class_loss(call, call[0], call[1])};
}

Results softmax_cross_entropy(const NodeCall& call) {
  const Tensor log_probabilities = log_softmax(call[0], 1);
  return {class_loss(call, log_probabilities, call[1]), log_probabilities};
}

// clang-format off
constexpr Operator table[] = {
  {"NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
  {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy},
};
// clang-format on

}  // namespace

std::span<const Operator> loss_operators() { return table; }

}  // namespace croze::onnx
