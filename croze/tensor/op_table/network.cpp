// network.cpp -- rows of the op table: normalisation, attention, dropout.
#include "tensor/functional.h"
#include "tensor/op_table/bind.h"
#include "tensor/op_table/families.h"

namespace croze {

namespace {

using enum ResultType;

constexpr auto norm_of_layer = [](const Tensor& x, const Shape& normalized_shape,
                                  const Tensor& weight, const Tensor& bias, double eps) {
  return layer_norm(x, normalized_shape.size(), weight, bias, eps);
};
constexpr auto attention = [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                              double dropout_p, bool is_causal, std::optional<double> scale) {
  return dropout(
      scaled_dot_product_attention(q, k, v, {.mask = mask, .causal = is_causal, .scale = scale}),
      dropout_p, dropout_p > 0);
};

constexpr OpEntry ops[] = {
    {"nn.functional.layer_norm", "input, normalized_shape, weight=none, bias=none, eps=1e-5",
     bind<norm_of_layer>, anything, Float, 2, "Normalised over the last axes.",
     "t(2,3), [3] | t(2,3,4), [3, 4], t(3,4), t(3,4)"},
    {"nn.functional.scaled_dot_product_attention",
     "query, key, value, attn_mask=none, dropout_p=0, is_causal=false, scale=none", bind<attention>,
     anything, Float, 2, "softmax(q k^T * scale) v.",
     "t(2,3,4), t(2,5,4), t(2,5,2) | t(3,4), t(3,4), t(3,4), none, 0, true | "
     "t(1,3,4), t(1,5,4), t(1,5,4), t(3,5), scale=0.5"},
    {"nn.functional.dropout", "input, p=0.5, training=true", bind<dropout>, anything, Given, 2,
     "Elements zeroed with probability p, the others divided by 1 - p.",
     "t(2,3), 0.5, false | t(2,3), 0, true"},
};

}  // namespace

std::span<const OpEntry> network_ops() { return ops; }

}  // namespace croze
