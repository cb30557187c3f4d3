// transformer.cpp -- the network of all families, on one screen.
#include "croze/llm/model/transformer.h"

#include <limits>
#include <span>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// At most `cap` in size, smoothly.
Tensor capped(const Tensor& x, double cap) { return cap > 0 ? tanh(x / cap) * cap : x; }

Tensor activated(const Tensor& x, Activation activation) {
  return activation == Activation::Silu ? silu(x) : gelu(x, Gelu::Tanh);
}

}  // namespace

Tensor Transformer::operator()(const Tensor& tokens, const Tensor& start, KeyValueCache& cache,
                               std::int64_t keys) const {
  const Tokens all = tokens_from(start, tokens.numel(), keys);
  Tensor x = weights_.embedding.rows(tokens) * config_.embedding_scale;
  if (config_.family->places == Places::Learned) x = x + weights_.place_embedding.rows(all.places);
  for (std::size_t i = 0; i < weights_.layers.size(); i++) {
    const auto& [attention, perceptron] = weights_.layers[i];
    const Tensor attended = attend(attention, attention.before(x), all, cache.layers[i], keys);
    x = x + attention.after(attended);
    x = x + perceptron.after(compute(perceptron, perceptron.before(x)));
  }
  return weights_.norm(x);
}

Tensor Transformer::attend(const AttentionLayer& layer, const Tensor& x, const Tokens& tokens,
                           KeyValueCache::Layer& cache, std::int64_t keys) const {
  const std::int64_t n = x.size(0), groups = config_.kv_heads, shared = config_.queries_per_key();
  const auto in_heads = [&](const Tensor& t) { return t.reshape({n, -1, config_.key_width}); };
  const auto turned = [&](const Tensor& t) {
    const std::optional<Rotary>& rotary = layer.is_local ? local_rotary_ : rotary_;
    return rotary ? rotary->turned(t, layer.is_local ? tokens.local_turn : tokens.turn) : t;
  };
  const Tensor q = turned(layer.query_norm(in_heads(layer.query(x)))) * config_.attention_scale;
  const Tensor k = turned(layer.key_norm(in_heads(layer.key(x))));
  const Tensor v = layer.value(x).reshape({n, groups, config_.value_width});
  cache.keys.index_put_({tokens.places}, k.cast(cache.keys.dtype()));
  cache.values.index_put_({tokens.places}, v.cast(cache.values.dtype()));

  // (groups, queries of a group, n or keys, elements): a head of keys serves a group of queries.
  const Tensor queries = q.reshape({n, groups, shared, -1}).permute({1, 2, 0, 3});
  const Tensor seen_keys = cache.keys.narrow(0, 0, keys).permute({1, 2, 0}).unsqueeze(1);
  const Tensor seen_values = cache.values.narrow(0, 0, keys).permute({1, 0, 2}).unsqueeze(1);
  const Tensor scores =
      capped(matmul(queries, seen_keys.cast(DType::Float32)), config_.attention_cap);
  const Tensor& visible = layer.is_local ? tokens.local_visible : tokens.visible;
  const Tensor shares = where(visible, scores, never).softmax();
  const Tensor mixed = matmul(shares, seen_values.cast(DType::Float32));
  return layer.output(mixed.permute({2, 0, 1, 3}).reshape({n, -1}));
}

Tensor Transformer::compute(const PerceptronLayer& layer, const Tensor& x) const {
  const Activation activation = config_.family->activation;
  if (!layer.gate) return layer.down(activated(layer.up(x), activation));
  return layer.down(activated((*layer.gate)(x), activation) * layer.up(x));
}

Tensor Transformer::logits(const Tensor& hidden) const {
  return capped(weights_.output(hidden), config_.logit_cap);
}

Transformer::Tokens Transformer::tokens_from(const Tensor& start, std::int64_t count,
                                             std::int64_t keys) const {
  Tokens tokens;
  tokens.places = start.reshape({1}).cast(DType::Int32) + Tensor::arange(count, DType::Int32);
  if (rotary_) tokens.turn = rotary_->at(tokens.places);
  if (local_rotary_) tokens.local_turn = local_rotary_->at(tokens.places);
  const Tensor before = tokens.places.unsqueeze(1) - Tensor::arange(keys, DType::Int32);
  tokens.visible = before >= 0;
  tokens.local_visible = logical_and(tokens.visible, before < config_.window);
  return tokens;
}

// ---- making one -------------------------------------------------------------------------------

Transformer::Transformer(const GgufFile& file, std::int64_t context)
    : config_(read_config(file.metadata)), weights_(read_weights(file, config_)) {
  const Places places = config_.family->places;
  if (places == Places::Learned) return;
  const bool is_long = config_.context_for(context) > config_.rotary.original_context;
  const bool in_neighbours = places == Places::RotaryPairs;
  const std::vector<float>& of_length = is_long ? weights_.long_factors : weights_.short_factors;
  rotary_.emplace(config_.rotary, in_neighbours,
                  of_length.empty() ? weights_.rotary_factors : of_length);
  local_rotary_ = rotary_;
  if (config_.family->local_rotary_base > 0) {
    local_rotary_.emplace(config_.local_rotary, in_neighbours, std::span<const float>{});
  }
}

KeyValueCache::KeyValueCache(const Config& config, const Options& options) {
  const Shape keys{options.capacity, config.kv_heads, config.key_width};
  const Shape values{options.capacity, config.kv_heads, config.value_width};
  const std::int64_t elements = checked_add(checked_product(keys), checked_product(values));
  bytes = checked_mul(checked_mul(elements, size_of(options.dtype)), config.layers);
  for (std::int64_t i = 0; i < config.layers; i++) {
    layers.push_back({.keys = Tensor::zeros(keys, options.dtype).realize(),
                      .values = Tensor::zeros(values, options.dtype).realize()});
  }
}

}  // namespace croze::llm
