// transformer.cpp -- the network of all families, on one screen.
#include "croze/llm/model/transformer.h"

#include <limits>
#include <span>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/functional.h"

namespace croze::llm {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// At most `cap` in size, smoothly.
Tensor capped(const Tensor& x, double cap) { return cap > 0 ? tanh(x / cap) * cap : x; }

Tensor cut(const Tensor& x, double cap) { return cap > 0 ? clamp(x, -cap, cap) : x; }

}  // namespace

// The axis of the sequences, if there is one.
Shape Transformer::Tokens::of_each(Shape shape) const {
  if (is_batch) shape.insert(0, sequences);
  return shape;
}

// The keys or values that the sequences look at: ([b,] keys, heads, elements).
Tensor Transformer::Tokens::seen(const Tensor& own, CachedRows* cached) const {
  const std::int64_t heads = own.size(1), width = own.size(2);
  if (cached == nullptr) return own.reshape(of_each({count, heads, width}));
  cached->put(stored, own);
  if (!pages.defined()) return cached->first(keys);
  return cached->pages(pages.flatten(), keys / pages.size(1))
      .reshape(of_each({keys, heads, width}));
}

Tensor Transformer::read(const Tensor& tokens, const Tokens& all, KeyValueCache* cache) const {
  Tensor x = weights_.embedding.rows(tokens) * config_.embedding_scale;
  if (config_.family->places == Places::Learned) x = x + weights_.place_embedding.rows(all.places);
  if (weights_.text_embedding.defined()) x = x + weights_.text_embedding;
  x = weights_.embedding_norm(x);
  for (std::size_t i = 0; i < weights_.layers.size(); i++) {
    const auto& [attention, perceptron] = weights_.layers[i];
    const Tensor attended =
        attend(attention, attention.before(x), all, cache == nullptr ? nullptr : &cache->layers[i]);
    x = attention.of_sum(x + attention.after(attended));
    x = perceptron.of_sum(x + perceptron.after(perceptron(perceptron.before(x))));
  }
  return weights_.norm(x);
}

// Those of the tokens themselves.
Transformer::Heads Transformer::project(const AttentionLayer& layer, const Tensor& x,
                                        const Tokens& tokens) const {
  const auto in_heads = [&](const Tensor& t, std::int64_t width) {
    return cut(t, config_.projection_cap).reshape({x.size(0), -1, width});
  };
  const auto turned = [&](const Tensor& t) {
    const std::optional<Rotary>& rotary = layer.is_local ? local_rotary_ : rotary_;
    return rotary ? rotary->turned(t, layer.is_local ? tokens.local_turn : tokens.turn) : t;
  };
  if (layer.latent) {
    const auto [queries, keys] = layer.latent->project(x, turned);
    return {.queries = queries, .keys = keys, .values = {}};
  }
  return {.queries = turned(layer.query_norm(in_heads(layer.query(x), config_.key_width))),
          .keys = turned(layer.key_norm(in_heads(layer.key(x), config_.key_width))),
          .values = in_heads(layer.value(x), config_.value_width)};
}

Tensor Transformer::attend(const AttentionLayer& layer, const Tensor& x, const Tokens& tokens,
                           KeyValueCache::Layer* cache) const {
  const std::int64_t n = tokens.count;
  const std::int64_t groups = config_.kv_heads, shared = config_.queries_per_key();
  const Heads own = project(layer, x, tokens);
  const Tensor keys = tokens.seen(own.keys, cache ? &cache->keys : nullptr);
  const Tensor values = layer.latent ? keys.narrow(-1, config_.rotary.width, config_.value_width)
                                     : tokens.seen(own.values, cache ? &cache->values : nullptr);

  // (b, groups, queries of a group, n or keys, elements): a head of keys serves a group of queries.
  // One sequence has no axis b.
  const Tensor queries =
      (own.queries * config_.attention_scale).reshape(tokens.of_each({n, groups, shared, -1}));
  const Tensor scores = capped(
      matmul(movedim(queries, -4, -2), movedim(keys, -3, -1).unsqueeze(-3).cast(DType::Float32)),
      config_.attention_cap);
  const Tensor& visible = layer.is_local ? tokens.local_visible : tokens.visible;
  const Tensor shares = where(visible, scores, never).softmax();
  const Tensor mixed =
      masked_matmul(shares, values.transpose(-3, -2).unsqueeze(-3).cast(DType::Float32), visible);
  const Tensor heads = movedim(mixed, -2, -4).reshape({x.size(0), config_.heads, -1});
  return layer.output((layer.latent ? layer.latent->values(heads) : heads).flatten(1));
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
  // Compared with numbers in memory, so that each kernel does it again and knows where to end.
  const Tensor keys = Tensor::arange(tokens.keys, DType::Int32),
               end = (places + 1).contiguous().reshape(tokens.of_each({1, 1, n, 1}));
  tokens.visible = keys < end;
  tokens.local_visible = logical_and(tokens.visible, end - keys <= config_.window);
}

Tensor Transformer::operator()(const Tensor& tokens, const Tensor& start, KeyValueCache& cache,
                               std::int64_t keys) const {
  Tokens all{.count = tokens.numel(), .keys = keys};
  place(all, start);
  all.stored = all.places;
  return read(tokens, all, &cache);
}

Tensor Transformer::operator()(const Tensor& tokens, const Placement& placement,
                               KeyValueCache& cache) const {
  Tokens all{.sequences = tokens.size(0),
             .count = tokens.size(1),
             .keys = placement.pages.size(1) * placement.page,
             .is_batch = true,
             .stored = placement.stored,
             .pages = placement.pages};
  place(all, placement.starts);
  return read(tokens.flatten(), all, &cache);
}

Tensor Transformer::encode(const Tensor& tokens, const Tensor& lengths) const {
  const std::int64_t b = tokens.size(0), n = tokens.size(1);
  Tokens all{.sequences = b, .count = n, .keys = n, .is_batch = true};
  place(all, Tensor::zeros({b}, {.dtype = DType::Int32}));
  const Tensor is_there = Tensor::arange(n, DType::Int32) < lengths.reshape({b, 1, 1, 1, 1});
  for (Tensor* visible : {&all.visible, &all.local_visible}) {
    *visible = config_.is_causal ? logical_and(*visible, is_there) : is_there;
  }
  return read(tokens.flatten(), all, nullptr);
}

// ---- making one -------------------------------------------------------------------------------

Transformer::Transformer(const GgufFile& file, const ModelOptions& options)
    : config_(read_config(file.metadata)),
      weights_(read_weights(file, config_, options.activations)) {
  const Places places = config_.family->places;
  if (places == Places::Learned) return;
  const bool is_long = config_.context_for(options.context) > config_.rotary.original_context;
  const bool in_neighbours = places == Places::RotaryPairs;
  const std::vector<float>& of_length = is_long ? weights_.long_factors : weights_.short_factors;
  rotary_.emplace(config_.rotary, in_neighbours,
                  of_length.empty() ? weights_.rotary_factors : of_length);
  local_rotary_ = rotary_;
  if (config_.family->local_rotary_base > 0) {
    local_rotary_.emplace(config_.local_rotary, in_neighbours, std::span<const float>{});
  }
}

}  // namespace croze::llm
