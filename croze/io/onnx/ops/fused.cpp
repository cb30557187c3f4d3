// fused.cpp -- com.microsoft: what onnxruntime's optimizer makes of several nodes, attention aside.
#include "croze/io/onnx/ops/normalization.h"

namespace croze::onnx {
namespace {

constexpr std::string_view microsoft = "com.microsoft";

// ---- activations ------------------------------------------------------------------------------

Results gelu_op(const NodeCall& call) { return {gelu(call[0])}; }

Results fast_gelu(const NodeCall& call) {
  return {gelu(call.has(1) ? call[0] + call[1] : call[0], Gelu::Tanh)};
}

Results bias_gelu(const NodeCall& call) { return {gelu(call[0] + call[1])}; }

Results quick_gelu_op(const NodeCall& call) {
  const double alpha = call.real("alpha", static_cast<double>(1.702f));
  return {in_float32(call[0], [&](const Tensor& x) { return x * sigmoid(alpha * x); })};
}

// ---- products ---------------------------------------------------------------------------------

// With its first axis behind those of the batch, where it would stand in a plain product.
Tensor batch_first(const Tensor& x) {
  check(x.ndim() >= 2, "an operand of shape {}", to_text(x.shape()));
  return movedim(x, 0, x.ndim() - 2);
}

Results fused_mat_mul(const NodeCall& call) {
  const auto operand = [&](int i, std::string_view batch, std::string_view transposed) {
    Tensor x = call.flag(batch) ? batch_first(call[i]) : call[i];
    // A vector has nothing to transpose.
    return call.flag(transposed) && x.ndim() > 1 ? x.transpose() : x;
  };
  const Tensor a = operand(0, "transBatchA", "transA"), b = operand(1, "transBatchB", "transB");
  return {(matmul(a, b) * call.real("alpha", 1)).cast(call[0].dtype())};
}

// ---- sums, normalised -------------------------------------------------------------------------

constexpr double usual_epsilon = static_cast<double>(1e-12f);

// Inputs x, skip and, by position, the bias.
Tensor sum_with_skip(const NodeCall& call, int bias) {
  const Tensor &x = call[0], &skip = call[1];
  check(skip.numel() > 0 && x.ndim() >= skip.ndim(), "{} to add to {}", to_text(skip.shape()),
        to_text(x.shape()));
  const Tensor sum = x + skip;
  return call.has(bias) ? sum + call[bias] : sum;
}

// Outputs: normalised, mean, inverse deviation, the sum itself.
Results skip_layer_normalization(const NodeCall& call) {
  const Tensor sum = sum_with_skip(call, 4);
  const Normalized n =
      layer_normalized(sum, -1, call.real("epsilon", usual_epsilon), call[2], call.optional(3));
  return {n.value, n.mean, n.inverse_deviation, sum};
}

Results skip_rms_normalization(const NodeCall& call) {
  const Tensor sum = sum_with_skip(call, 3);
  const Normalized n = rms_normalized(sum, -1, call.real("epsilon", usual_epsilon), call[2]);
  return {n.value, Value(), n.inverse_deviation, sum};
}

// ---- embedding --------------------------------------------------------------------------------

Tensor embedded(const Tensor& table, const Tensor& index) {
  check(table.ndim() == 2, "an embedding of shape {}", to_text(table.shape()));
  return embedding(table, index.cast(DType::Int64));
}

// Inputs: words, segments, tables of words, positions and segments, gamma, beta, mask, positions.
Results embed_layer_normalization(const NodeCall& call) {
  const Tensor& words = call[0];
  check(words.ndim() == 2, "words of shape {}", to_text(words.shape()));
  const std::int64_t length = words.size(1);
  const Tensor places = call.has(8) ? call[8] : Tensor::arange(length).unsqueeze(0);
  Tensor sum = embedded(call[2], words) + embedded(call[3], places);
  if (call.has(1)) sum = sum + embedded(call[4], call[1]);
  const Normalized n =
      layer_normalized(sum, -1, call.real("epsilon", usual_epsilon), call[5], call[6]);
  // How many words each mask leaves.
  const Tensor counts = call.has(7) ? croze::sum(call[7].cast(DType::Int32), 1).cast(DType::Int32)
                                    : Tensor::zeros({words.size(0)}, DType::Int32);
  return {n.value, counts, sum};
}

// clang-format off
constexpr Operator table[] = {
  {"BiasGelu", 1, bias_gelu, microsoft},
  {"EmbedLayerNormalization", 1, embed_layer_normalization, microsoft},
  {"FastGelu", 1, fast_gelu, microsoft},
  {"FusedMatMul", 1, fused_mat_mul, microsoft},
  {"Gelu", 1, gelu_op, microsoft},
  {"QuickGelu", 1, quick_gelu_op, microsoft},
  {"SkipLayerNormalization", 1, skip_layer_normalization, microsoft},
  {"SkipSimplifiedLayerNormalization", 1, skip_rms_normalization, microsoft},
};
// clang-format on

}  // namespace

std::span<const Operator> fused_operators() { return table; }

}  // namespace croze::onnx
