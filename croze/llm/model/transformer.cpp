// transformer.cpp -- the network of all families, on one screen.
#include "croze/llm/model/transformer.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <span>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/zero_pages.h"
#include "croze/run/buffers.h"
#include "croze/run/memory_limit.h"
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

// The keys or values that the sequences look at: (b, keys, heads, elements); without pages those of
// one, (keys, heads, elements).
Tensor seen_of(const Tensor& stored, const Tensor& pages, std::int64_t keys) {
  if (!pages.defined()) return stored.narrow(0, 0, keys);
  const std::int64_t page = keys / pages.size(1), heads = stored.size(1), width = stored.size(2);
  const Tensor paged = stored.reshape({-1, page, heads, width});
  return index_select(paged, 0, pages.flatten()).reshape({pages.size(0), keys, heads, width});
}

// The axis of the sequences, if there is one.
Shape with_sequences(const Tensor& pages, Shape shape) {
  if (pages.defined()) shape.insert(0, pages.size(0));
  return shape;
}

}  // namespace

Tensor Transformer::read(const Tensor& tokens, const Tokens& all, KeyValueCache& cache) const {
  Tensor x = weights_.embedding.rows(tokens) * config_.embedding_scale;
  if (config_.family->places == Places::Learned) x = x + weights_.place_embedding.rows(all.places);
  for (std::size_t i = 0; i < weights_.layers.size(); i++) {
    const auto& [attention, perceptron] = weights_.layers[i];
    const Tensor attended = attend(attention, attention.before(x), all, cache.layers[i]);
    x = x + attention.after(attended);
    x = x + perceptron.after(compute(perceptron, perceptron.before(x)));
  }
  return weights_.norm(x);
}

Tensor Transformer::attend(const AttentionLayer& layer, const Tensor& x, const Tokens& tokens,
                           KeyValueCache::Layer& cache) const {
  const std::int64_t b = tokens.sequences, n = tokens.count;
  const std::int64_t groups = config_.kv_heads, shared = config_.queries_per_key();
  const auto in_heads = [&](const Tensor& t) { return t.reshape({b * n, -1, config_.key_width}); };
  const auto turned = [&](const Tensor& t) {
    const std::optional<Rotary>& rotary = layer.is_local ? local_rotary_ : rotary_;
    return rotary ? rotary->turned(t, layer.is_local ? tokens.local_turn : tokens.turn) : t;
  };
  const Tensor q = turned(layer.query_norm(in_heads(layer.query(x)))) * config_.attention_scale;
  const Tensor k = turned(layer.key_norm(in_heads(layer.key(x))));
  const Tensor v = layer.value(x).reshape({b * n, groups, config_.value_width});
  cache.keys.index_put_({tokens.stored}, k.cast(cache.keys.dtype()));
  cache.values.index_put_({tokens.stored}, v.cast(cache.values.dtype()));

  // (b, groups, queries of a group, n or keys, elements): a head of keys serves a group of queries.
  // One sequence has no axis b.
  const Tensor queries = q.reshape(with_sequences(tokens.pages, {n, groups, shared, -1}));
  const Tensor seen_keys = movedim(seen_of(cache.keys, tokens.pages, tokens.keys), -3, -1);
  const Tensor seen_values = seen_of(cache.values, tokens.pages, tokens.keys).transpose(-3, -2);
  const Tensor scores =
      capped(matmul(movedim(queries, -4, -2), seen_keys.unsqueeze(-3).cast(DType::Float32)),
             config_.attention_cap);
  const Tensor& visible = layer.is_local ? tokens.local_visible : tokens.visible;
  const Tensor shares = where(visible, scores, never).softmax();
  const Tensor mixed = matmul(shares, seen_values.unsqueeze(-3).cast(DType::Float32));
  return layer.output(movedim(mixed, -2, -4).reshape({b * n, -1}));
}

Tensor Transformer::compute(const PerceptronLayer& layer, const Tensor& x) const {
  const Activation activation = config_.family->activation;
  if (!layer.gate) return layer.down(activated(layer.up(x), activation));
  return layer.down(activated((*layer.gate)(x), activation) * layer.up(x));
}

Tensor Transformer::logits(const Tensor& hidden) const {
  return capped(weights_.output(hidden), config_.logit_cap);
}

void Transformer::place(Tokens& tokens, const Tensor& starts) const {
  const std::int64_t b = tokens.sequences, n = tokens.count;
  const Tensor places = starts.reshape({b, 1}).cast(DType::Int32) + Tensor::arange(n, DType::Int32);
  tokens.places = places.flatten();
  if (rotary_) tokens.turn = rotary_->at(tokens.places);
  if (local_rotary_) tokens.local_turn = local_rotary_->at(tokens.places);
  const Shape of_keys = with_sequences(tokens.pages, {1, 1, n, 1});
  const Tensor before = places.reshape(of_keys) - Tensor::arange(tokens.keys, DType::Int32);
  tokens.visible = before >= 0;
  tokens.local_visible = logical_and(tokens.visible, before < config_.window);
}

Tensor Transformer::operator()(const Tensor& tokens, const Tensor& start, KeyValueCache& cache,
                               std::int64_t keys) const {
  Tokens all{.count = tokens.numel(), .keys = keys};
  place(all, start);
  all.stored = all.places;
  return read(tokens, all, cache);
}

Tensor Transformer::operator()(const Tensor& tokens, const Placement& placement,
                               KeyValueCache& cache) const {
  Tokens all{.sequences = tokens.size(0),
             .count = tokens.size(1),
             .keys = placement.pages.size(1) * placement.page,
             .stored = placement.stored,
             .pages = placement.pages};
  place(all, placement.starts);
  return read(tokens.flatten(), all, cache);
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

namespace {

// Places that no token has reached take no memory.
Tensor unwritten_zeros(const Shape& shape, DType dtype) {
  const std::shared_ptr<void> pages =
      zero_pages(checked_mul(checked_product(shape), size_of(dtype)));
  return Tensor::from_blob(pages.get(), shape, dtype, pages);
}

}  // namespace

KeyValueCache::KeyValueCache(const Config& config, const Options& options) {
  const Shape keys{options.capacity, config.kv_heads, config.key_width};
  const Shape values{options.capacity, config.kv_heads, config.value_width};
  const std::int64_t elements = checked_add(checked_product(keys), checked_product(values));
  bytes = checked_mul(checked_mul(elements, size_of(options.dtype)), config.layers);
  // It may come to take all of that, and nobody would ask then.
  check_memory(bytes, memory_use().bytes, fmt::format("a cache of {} tokens", options.capacity));
  for (std::int64_t i = 0; i < config.layers; i++) {
    layers.push_back({.keys = unwritten_zeros(keys, options.dtype),
                      .values = unwritten_zeros(values, options.dtype)});
  }
}

}  // namespace croze::llm
