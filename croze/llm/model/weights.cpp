// weights.cpp -- finds each weight by its name and holds its shape against the metadata.
#include "croze/llm/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/tensor/storage.h"

namespace croze::llm {
namespace {

class WeightReader {
 public:
  WeightReader(const GgufFile& file, const Config& config, ActivationType activations)
      : config_(config), activations_(activations) {
    for (const GgufTensor& t : file.tensors) tensors_.emplace(t.name, &t);
  }

  Weights read() {
    Weights result;
    const std::int64_t width = config_.width;
    result.embedding = multiplied(tensor("token_embd.weight", {any, width}), {});
    if (config_.family->places == Places::Learned) {
      result.place_embedding = matrix("position_embd", config_.context, width);
    }
    result.text_embedding = text_embedding();
    if (has("token_embd_norm.weight")) result.embedding_norm = norm("token_embd_norm", width);
    if (config_.family->norm_place != NormPlace::OfSum) result.norm = norm("output_norm", width);
    const std::int64_t vocabulary = result.embedding.weight.shape[0];
    result.output = has("output.weight") ? matrix("output", vocabulary, width) : result.embedding;
    read_factors(result);
    for (std::int64_t i = 0; i < config_.layers; i++) {
      prefix_ = fmt::format("blk.{}.", i);
      result.layers.push_back({.attention = attention(i), .perceptron = perceptron()});
    }
    check_all_used();
    result.bytes_per_token = bytes_per_token();
    return result;
  }

 private:
  static constexpr std::int64_t any = -1;  // of a size: whatever the file has

  bool has(std::string_view name) const { return tensors_.contains(prefix_ + std::string(name)); }

  GgufTensor tensor(std::string_view name, const Shape& shape) {
    const std::string full = prefix_ + std::string(name);
    const auto it = tensors_.find(full);
    check(it != tensors_.end(), "{}: there is no tensor \"{}\"", config_.source, full);
    const GgufTensor& found = *it->second;
    bool fits = found.shape.size() == shape.size();
    for (int axis = 0; fits && axis < static_cast<int>(shape.size()); axis++) {
      fits = shape[axis] == any ? found.shape[axis] > 0 : found.shape[axis] == shape[axis];
    }
    check(fits, "{}: tensor \"{}\" has shape {}, and should have {}", config_.source, full,
          to_text(found.shape), to_text(shape));
    const GgmlTypeInfo& type = ggml_type_info(found.type);
    check(type.is_blocks() || is_float(type.dtype), "{}: tensor \"{}\" is of type {}",
          config_.source, full, type.name);
    used_.insert(full);
    return found;
  }

  // A vector in Float32; undefined if there is none.
  Tensor vector(const std::string& name, std::int64_t count) {
    return has(name) ? computed(name, count) : Tensor();
  }
  Tensor computed(const std::string& name, std::int64_t count) {
    Tensor values = tensor(name, {count}).decoded().realize();
    name_memory(values, prefix_ + name);
    return values;
  }

  Matrix matrix(const std::string& name, std::int64_t out, std::int64_t in) {
    return multiplied(tensor(name + ".weight", {out, in}), vector(name + ".bias", out));
  }
  Matrix multiplied(GgufTensor weight, Tensor bias) const {
    return {.weight = std::move(weight), .bias = std::move(bias), .inputs = activations_};
  }

  Norm norm(const std::string& name, std::int64_t width) {
    Norm result{.kind = config_.family->norm, .epsilon = config_.epsilon, .weight = {}, .bias = {}};
    if (result.kind == NormKind::PlainLayer) return result;
    result.weight = computed(name + ".weight", width);
    result.bias = vector(name + ".bias", width);
    return result;
  }

  Norm norm_at(NormPlace place, const std::string& name) {
    const NormPlace there = config_.family->norm_place;
    const bool is_both = there == NormPlace::Both && place != NormPlace::OfSum;
    return there == place || is_both ? norm(name, config_.width) : Norm{};
  }

  // Encoders can tell two texts apart that are read as one; here each is the first.
  Tensor text_embedding() {
    if (!has("token_types.weight")) return {};
    const GgufTensor types = tensor("token_types.weight", {any, config_.width});
    return types.decoded().select(0, 0).realize();
  }

  // Of each head, or of all heads together.
  Norm norm_of_heads(const std::string& name, std::int64_t heads) {
    if (!config_.family->has_qk_norm) return {};
    const std::int64_t all = heads * config_.key_width;
    const auto it = tensors_.find(prefix_ + name + ".weight");
    const bool is_joint = it != tensors_.end() && it->second->shape == Shape{all};
    return norm(name, is_joint ? all : config_.key_width);
  }

  AttentionLayer attention(std::int64_t number) {
    const Config& c = config_;
    const std::int64_t queries = c.heads * c.key_width, keys = c.kv_heads * c.key_width;
    const std::int64_t values = c.kv_heads * c.value_width;
    AttentionLayer layer;
    layer.is_local = c.is_local[static_cast<std::size_t>(number)];
    layer.before = norm_at(NormPlace::Before, "attn_norm");
    layer.after = norm_at(NormPlace::After, "post_attention_norm");
    layer.of_sum = norm_at(NormPlace::OfSum, "attn_output_norm");
    if (c.latent.width > 0) {
      layer.latent = latent();
    } else if (has("attn_qkv.weight")) {
      const Matrix all = matrix("attn_qkv", queries + keys + values, c.width);
      layer.query = all.part(0, queries);
      layer.key = all.part(queries, keys);
      layer.value = all.part(queries + keys, values);
    } else {
      layer.query = matrix("attn_q", queries, c.width);
      layer.key = matrix("attn_k", keys, c.width);
      layer.value = matrix("attn_v", values, c.width);
    }
    const std::int64_t value = c.latent.width > 0 ? c.latent.value : c.value_width;
    layer.output = matrix("attn_output", c.width, c.heads * value);
    layer.query_norm = norm_of_heads("attn_q_norm", c.heads);
    layer.key_norm = norm_of_heads("attn_k_norm", c.kv_heads);
    return layer;
  }

  Latent latent() {
    const Config& c = config_;
    const LatentConfig& l = c.latent;
    Latent result;
    result.heads = c.heads;
    result.turning = c.rotary.width;
    const std::int64_t queries = c.heads * (l.plain + c.rotary.width);
    if (l.query_width > 0) {
      result.query_down = matrix("attn_q_a", l.query_width, c.width);
      result.query_norm = norm("attn_q_a_norm", l.query_width);
      result.query = matrix("attn_q_b", queries, l.query_width);
    } else {
      result.query = matrix("attn_q", queries, c.width);
    }
    result.down = matrix("attn_kv_a_mqa", l.width + c.rotary.width, c.width);
    result.norm = norm("attn_kv_a_norm", l.width);
    result.key = tensor("attn_k_b.weight", {c.heads, l.width, l.plain});
    result.value = tensor("attn_v_b.weight", {c.heads, l.value, l.width});
    return result;
  }

  PerceptronLayer perceptron() {
    const Config& c = config_;
    PerceptronLayer layer;
    layer.before = norm_at(NormPlace::Before, "ffn_norm");
    layer.after = norm_at(NormPlace::After, "post_ffw_norm");
    layer.of_sum = norm_at(NormPlace::OfSum, "layer_output_norm");
    // Where there are experts, the first layers can have none.
    if (c.mixture.experts > 0 && has("ffn_gate_inp.weight")) {
      layer.mixture = mixture();
    } else {
      layer.dense = feed_forward("", c.hidden);
    }
    return layer;
  }

  FeedForward feed_forward(const std::string& suffix, std::int64_t hidden) {
    FeedForward result{.activation = config_.family->activation, .gate = {}, .up = {}, .down = {}};
    const std::int64_t width = config_.width;
    result.down = matrix("ffn_down" + suffix, width, hidden);
    if (config_.family->perceptron == Perceptron::Plain) {
      result.up = matrix("ffn_up" + suffix, hidden, width);
    } else if (has("ffn_gate" + suffix + ".weight")) {
      result.gate = matrix("ffn_gate" + suffix, hidden, width);
      result.up = matrix("ffn_up" + suffix, hidden, width);
    } else {  // one matrix of both
      const Matrix both = matrix("ffn_up" + suffix, 2 * hidden, width);
      result.gate = both.part(0, hidden);
      result.up = both.part(hidden, hidden);
    }
    return result;
  }

  Mixture mixture() {
    const MixtureConfig& m = config_.mixture;
    const std::int64_t width = config_.width;
    Mixture result;
    result.config = m;
    result.activation = config_.family->activation;
    result.router = matrix("ffn_gate_inp", m.experts, width);
    result.preference = vector("exp_probs_b.bias", m.experts);
    result.gate = {tensor("ffn_gate_exps.weight", {m.experts, m.hidden, width})};
    result.up = {tensor("ffn_up_exps.weight", {m.experts, m.hidden, width})};
    result.down = {tensor("ffn_down_exps.weight", {m.experts, width, m.hidden})};
    if (m.shared_hidden > 0) result.shared = feed_forward("_shexp", m.shared_hidden);
    if (m.shared_hidden > 0 && has("ffn_gate_inp_shexp.weight")) {
      result.shared_gate = multiplied(row("ffn_gate_inp_shexp.weight", width), {});
    }
    return result;
  }

  // A matrix of one row, which files also have as a vector.
  GgufTensor row(const std::string& name, std::int64_t width) {
    if (tensors_.at(prefix_ + name)->shape.size() != 1) return tensor(name, {1, width});
    GgufTensor vector = tensor(name, {width});
    vector.shape.insert(0, 1);
    vector.stored = vector.stored.unsqueeze(0);
    return vector;
  }

  std::vector<float> factors(std::string_view name) {
    if (!has(name)) return {};
    const std::int64_t pairs = config_.rotary.width / 2;
    std::vector<float> list = tensor(name, {pairs}).decoded().to_vector<float>();
    for (const float factor : list) {
      check(std::isfinite(factor) && factor > 0, "{}: tensor \"{}\" has a factor of {}",
            config_.source, name, factor);
    }
    return list;
  }

  void read_factors(Weights& result) {
    if (config_.family->places == Places::Learned) return;
    result.rotary_factors = factors("rope_freqs.weight");
    result.short_factors = factors("rope_factors_short.weight");
    result.long_factors = factors("rope_factors_long.weight");
    check(result.short_factors.empty() == result.long_factors.empty(),
          "{}: of the factors for short and for long contexts there are only one kind",
          config_.source);
  }

  // A token reads all weights but embeddings, of which it reads a row, unless they are the output,
  // and experts that are not chosen.
  std::int64_t bytes_per_token() const {
    const MixtureConfig& m = config_.mixture;
    std::int64_t bytes = 0;
    for (const auto& [name, tensor] : tensors_) {
      const bool is_table = name == "position_embd.weight" || name == "token_types.weight" ||
                            (name == "token_embd.weight" && tensors_.contains("output.weight"));
      if (is_table) continue;
      const std::int64_t all = tensor->stored.numel() * size_of(tensor->stored.dtype());
      bytes += name.ends_with("_exps.weight") ? all / m.experts * m.chosen : all;
    }
    return bytes;
  }

  void check_all_used() const {
    for (const auto& [name, tensor] : tensors_) {
      check(used_.contains(name), "{}: tensor \"{}\" has no place in a model of the family {}",
            config_.source, shortened(name), config_.family->architecture);
    }
  }

  const Config& config_;
  ActivationType activations_;
  std::map<std::string, const GgufTensor*, std::less<>> tensors_;
  std::set<std::string, std::less<>> used_;
  std::string prefix_;
};

}  // namespace

Weights read_weights(const GgufFile& file, const Config& config, ActivationType activations) {
  return WeightReader(file, config, activations).read();
}

}  // namespace croze::llm
