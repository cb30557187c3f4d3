// network.cpp -- rows of the op table: normalisation, attention, dropout.
#include "croze/tensor/network/functional.h"
#include "croze/tensor/op_table/bind.h"
#include "croze/tensor/op_table/families.h"
#include "croze/tensor/random/random.h"

namespace croze {

namespace {

using enum ResultType;

constexpr auto norm_of_layer = [](const Tensor& x, const Shape& normalized_shape,
                                  const Tensor& weight, const Tensor& bias, double eps) {
  return layer_norm(x, normalized_shape.size(), weight, bias, eps);
};
constexpr auto root_mean_square = [](const Tensor& x, const Shape& normalized_shape,
                                     const Tensor& weight, std::optional<double> eps) {
  return rms_norm(x, normalized_shape.size(), weight, eps);
};
constexpr auto norm_of_batch = [](const Tensor& x, const Tensor& mean, const Tensor& var,
                                  const Tensor& weight, const Tensor& bias, bool training,
                                  double /*momentum*/, double eps) {
  if (!training) return batch_norm(x, mean, var, weight, bias, eps);
  const ChannelStatistics s = batch_statistics(x);
  return batch_norm(x, s.mean, s.var, weight, bias, eps);
};
constexpr auto norm_of_instance = [](const Tensor& x, const Tensor& mean, const Tensor& var,
                                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                                     double /*momentum*/, double eps) {
  if (!use_input_stats) return batch_norm(x, mean, var, weight, bias, eps);
  return instance_norm(x, weight, bias, eps);
};
constexpr auto attention = [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                              double dropout_p, bool is_causal, std::optional<double> scale,
                              bool enable_gqa) {
  return scaled_dot_product_attention(q, k, v,
                                      {.mask = mask,
                                       .causal = is_causal,
                                       .scale = scale,
                                       .grouped = enable_gqa,
                                       .dropout = dropout_p});
};

constexpr OpEntry ops[] = {
    {"nn.functional.layer_norm", "input, normalized_shape, weight=none, bias=none, eps=1e-5",
     bind<norm_of_layer>, anything, Float, 2, "Normalised over the last axes.",
     "t(2,3), [3] | t(2,3,4), [3, 4], t(3,4), t(3,4)"},
    {"nn.functional.rms_norm", "input, normalized_shape, weight=none, eps=none",
     bind<root_mean_square>, anything, Float, 2, "Divided by the root of the mean square.",
     "t(2,3), [3] | t(2,3,4), [3, 4], t(3,4), 1e-5"},
    {"nn.functional.group_norm", "input, num_groups, weight=none, bias=none, eps=1e-5",
     bind<group_norm>, anything, Float, 2, "Normalised over groups of channels.",
     "t(2,4,3), 2 | t(2,4), 2, t(4), t(4)"},
    {"nn.functional.batch_norm",
     "input, running_mean, running_var, weight=none, bias=none, training=false, momentum=0.1, "
     "eps=1e-5",
     bind<norm_of_batch>, anything, Float, 2, "Normalised over the batch (or by given statistics).",
     "t(3,2,2), t(2), t(2)@0.5..2, t(2), t(2) | t(3,2), none, none, t(2), none, true"},
    {"nn.functional.instance_norm",
     "input, running_mean=none, running_var=none, weight=none, bias=none, use_input_stats=true, "
     "momentum=0.1, eps=1e-5",
     bind<norm_of_instance>, anything, Float, 2, "Normalised over each channel of each sample.",
     "t(2,3,4) | t(2,3,4), none, none, t(3), t(3)"},
    {"nn.functional.local_response_norm", "input, size, alpha=1e-4, beta=0.75, k=1",
     bind<local_response_norm>, anything, Float, 2, "Normalised over neighbouring channels.",
     "t(2,5,3), 3 | t(2,4,3), 2, 0.5, 0.5, 2"},
    {"nn.functional.scaled_dot_product_attention",
     "query, key, value, attn_mask=none, dropout_p=0, is_causal=false, scale=none, "
     "enable_gqa=false",
     bind<attention>, anything, Float, 2, "softmax(q k^T * scale) v.",
     "t(2,3,4), t(2,5,4), t(2,5,2) | t(3,4), t(3,4), t(3,4), none, 0, true | "
     "t(1,3,4), t(1,5,4), t(1,5,4), t(3,5), scale=0.5"},
    {"nn.functional.dropout", "input, p=0.5, training=true", bind<dropout>, anything, Given, 2,
     "Elements zeroed with probability p, the others divided by 1 - p.",
     "t(2,3), 0.5, false | t(2,3), 0, true"},
};

}  // namespace

std::span<const OpEntry> network_ops() { return ops; }

}  // namespace croze
