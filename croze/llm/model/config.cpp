// config.cpp -- reads the keys of a family, holding each against what is possible.
#include "croze/llm/model/config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <variant>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/io/gguf/value.h"

namespace croze::llm {
namespace {

// No model is wider or deeper by far; products of three such sizes fit 64 bits.
constexpr std::int64_t max_size = 1 << 20;
constexpr std::int64_t max_layers = 4096;
constexpr std::int64_t max_context = 1 << 30;
constexpr std::int64_t max_experts = 4096;

// The keys of one architecture: "llama.block_count".
class Keys {
 public:
  Keys(const GgufMetadata& metadata, std::string_view architecture)
      : metadata_(metadata), prefix_(std::string(architecture) + ".") {}

  bool has(std::string_view name) const { return metadata_.has(key(name)); }
  const GgufMetadata& metadata() const { return metadata_; }
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }

  std::int64_t size(std::string_view name, std::int64_t most = max_size,
                    std::optional<std::int64_t> otherwise = {}) const {
    if (otherwise && !has(name)) return *otherwise;
    const std::int64_t value = metadata_.integer(key(name));
    require(value >= 1 && value <= most, name, value);
    return value;
  }

  // The same, and it can be none.
  std::int64_t count(std::string_view name, std::int64_t most, std::int64_t otherwise = 0) const {
    const bool is_none = has(name) && metadata_.integer(key(name)) == 0;
    return is_none ? 0 : size(name, most, otherwise);
  }

  // A finite number above zero.
  double positive(std::string_view name, std::optional<double> otherwise = {}) const {
    if (otherwise && !has(name)) return *otherwise;
    const double value = metadata_.number(key(name));
    require(std::isfinite(value) && value > 0, name, value);
    return value;
  }

  // A finite number, zero if there is none.
  double number(std::string_view name, double otherwise = 0) const {
    if (!has(name)) return otherwise;
    const double value = metadata_.number(key(name));
    require(std::isfinite(value) && value >= 0, name, value);
    return value;
  }

  template <typename T>
  void require(bool condition, std::string_view name, const T& value) const {
    check(condition, "{}: {} is {}, which cannot be", metadata_.source(), key(name), value);
  }

 private:
  const GgufMetadata& metadata_;
  std::string prefix_;
};

void read_heads(const Keys& keys, Config& config) {
  config.heads = keys.size("attention.head_count");
  config.kv_heads = keys.size("attention.head_count_kv", max_size, config.heads);
  keys.require(config.heads % config.kv_heads == 0, "attention.head_count_kv", config.kv_heads);
  if (!keys.has("attention.key_length")) {
    keys.require(config.width % config.heads == 0, "attention.head_count", config.heads);
  }
  const std::int64_t usual = config.width / config.heads;
  config.key_width = keys.size("attention.key_length", max_size, usual);
  config.value_width = keys.size("attention.value_length", max_size, usual);
}

RotaryConfig::Scaling read_scaling(const Keys& keys) {
  using enum RotaryConfig::Scaling;
  constexpr std::string_view name = "rope.scaling.type";
  if (!keys.has(name)) return None;
  const std::string& type = keys.metadata().text(keys.key(name));
  if (type == "none" || type == "longrope") return None;  // the latter is in the weights
  if (type == "linear") return Linear;
  if (type == "yarn") return Yarn;
  fail({}, "{}: {} is \"{}\", which is not supported", keys.metadata().source(), keys.key(name),
       shortened(type));
}

void read_rotary(const Keys& keys, Config& config) {
  if (config.family->places == Places::Learned) return;
  RotaryConfig& rotary = config.rotary;
  rotary.width = keys.size("rope.dimension_count", config.key_width, config.key_width);
  keys.require(rotary.width % 2 == 0, "rope.dimension_count", rotary.width);
  rotary.base = keys.positive("rope.freq_base", 10000);
  config.local_rotary = rotary;
  if (config.family->local_rotary_base > 0) {
    config.local_rotary.base =
        keys.positive("rope.freq_base_swa", config.family->local_rotary_base);
  }
  rotary.scaling = read_scaling(keys);
  // Old files have the factor under another name, and no type.
  const double old_factor = keys.positive("rope.scale_linear", 1);
  rotary.factor = keys.positive("rope.scaling.factor", old_factor);
  if (!keys.has("rope.scaling.type") && old_factor != 1) {
    rotary.scaling = RotaryConfig::Scaling::Linear;
  }
  rotary.original_context =
      keys.size("rope.scaling.original_context_length", max_context, config.context);
  rotary.attention_factor = keys.positive("rope.scaling.attn_factor", 1);
  rotary.attention_factor *= keys.positive("rope.scaling.yarn_attn_factor", 1);
  rotary.extrapolation = keys.number("rope.scaling.yarn_ext_factor", 1);
  rotary.beta_fast = keys.positive("rope.scaling.yarn_beta_fast", 32);
  rotary.beta_slow = keys.positive("rope.scaling.yarn_beta_slow", 1);
  constexpr std::string_view truncate = "rope.scaling.yarn_truncate";
  if (keys.has(truncate)) rotary.whole_pairs = keys.metadata().flag(keys.key(truncate));
  // Layers that turn as the others do are stretched as they are.
  if (config.family->local_rotary_base == 0) config.local_rotary = rotary;
}

// Which layers have a window, by the file: a flag for each, or every how many of them one has none.
std::vector<bool> local_layers(const Keys& keys, const Config& config) {
  constexpr std::string_view name = "attention.sliding_window_pattern";
  std::int64_t every = config.family->global_every;
  if (keys.has(name)) {
    const GgufMetadata& metadata = keys.metadata();
    if (std::holds_alternative<GgufArray>(metadata.at(keys.key(name)))) {
      const std::vector<bool>& flags = metadata.flags(keys.key(name));
      check(std::ssize(flags) == config.layers, "{}: {} has {} flags for {} layers",
            metadata.source(), keys.key(name), flags.size(), config.layers);
      return flags;
    }
    every = keys.size(name, max_layers);
  }
  std::vector<bool> result;
  for (std::int64_t i = 0; i < config.layers; i++) {
    result.push_back(every == 0 || i % every < every - 1);
  }
  return result;
}

void read_window(const Keys& keys, Config& config) {
  constexpr std::string_view name = "attention.sliding_window";
  config.is_local.assign(static_cast<std::size_t>(config.layers), false);
  // Families without windows may have the key all the same; none of them was trained with it.
  if (config.family->global_every == 1 || !keys.has(name)) return;
  if (keys.metadata().integer(keys.key(name)) == 0) return;
  config.window = keys.size(name, max_context);
  config.is_local = local_layers(keys, config);
}

// Heads seem to be as wide as the latent and what turns; what they are made for is narrower.
void read_latent(const Keys& keys, Config& config) {
  constexpr std::string_view name = "attention.kv_lora_rank";
  if (!keys.has(name)) return;
  LatentConfig& latent = config.latent;
  RotaryConfig& rotary = config.rotary;
  latent.width = keys.size(name);
  latent.query_width = keys.count("attention.q_lora_rank", max_size);
  latent.value = keys.size("attention.value_length_mla");
  const std::int64_t key = keys.size("attention.key_length_mla");
  latent.plain = key - rotary.width;
  keys.require(latent.plain > 0, "attention.key_length_mla", key);
  keys.require(config.kv_heads == 1, "attention.head_count_kv", config.kv_heads);
  keys.require(config.key_width == latent.width + rotary.width, "attention.key_length",
               config.key_width);
  keys.require(config.value_width == latent.width, "attention.value_length", config.value_width);
  config.attention_scale =
      keys.positive("attention.scale", 1 / std::sqrt(static_cast<double>(key)));
  // What Yarn multiplies cosines and sines by goes to the scores instead, by a factor of its own.
  const double by_log = keys.number("rope.scaling.yarn_log_multiplier", 0);
  if (rotary.scaling != RotaryConfig::Scaling::Yarn || by_log == 0) return;
  const double logarithm = std::log(rotary.factor), scale = 1 + by_log * logarithm;
  config.attention_scale *= scale * scale;
  rotary.attention_factor /= 1 + 0.1 * logarithm;
  keys.require(std::isfinite(rotary.attention_factor) && rotary.attention_factor > 0,
               "rope.scaling.factor", rotary.factor);
}

// Experts that choose themselves by groups are those of DeepSeek.
MixtureConfig read_mixture(const Keys& keys, const Config& config) {
  MixtureConfig m;
  constexpr std::string_view experts = "expert_count";
  if (!keys.has(experts) || keys.metadata().integer(keys.key(experts)) == 0) return m;
  m.experts = keys.size(experts, max_experts);
  m.chosen = keys.size("expert_used_count", m.experts);
  m.hidden = keys.size("expert_feed_forward_length", max_size, config.hidden);
  const std::int64_t shared = keys.count("expert_shared_count", max_experts) * m.hidden;
  m.shared_hidden = keys.count("expert_shared_feed_forward_length", max_size, shared);
  m.groups = keys.size("expert_group_count", m.experts, 1);
  m.chosen_groups = keys.size("expert_group_used_count", m.groups, m.groups);
  keys.require(m.experts % m.groups == 0, "expert_group_count", m.groups);
  keys.require(m.experts / m.groups * m.chosen_groups >= m.chosen, "expert_group_used_count",
               m.chosen_groups);
  const std::int64_t gating = keys.count("expert_gating_func", 4, 1);
  keys.require(gating <= 2, "expert_gating_func", gating);
  m.is_sigmoid = gating == 2;
  constexpr std::string_view norms = "expert_weights_norm";
  m.norms_shares =
      keys.has(norms) ? keys.metadata().flag(keys.key(norms)) : config.family->norms_shares;
  m.scale = keys.number("expert_weights_scale", 1);
  if (m.scale == 0) m.scale = 1;  // which files have that mean none
  return m;
}

// Encoders whose file does not say get the mean.
std::optional<Pooling> read_pooling(const Keys& keys, bool is_causal) {
  constexpr std::string_view name = "pooling_type";
  const std::int64_t type = keys.has(name) ? keys.metadata().integer(keys.key(name)) : 0;
  switch (type) {
    case 0: return is_causal ? std::optional<Pooling>() : Pooling::Mean;
    case 1: return Pooling::Mean;
    case 2: return Pooling::First;
    case 3: return Pooling::Last;
    default:
      fail({}, "{}: {} is {}, which is not supported", keys.metadata().source(), keys.key(name),
           type);
  }
}

// Gemma's largest models divide by the root of what their heads would be if they filled the width.
double attention_scale(const Keys& keys, const Config& config) {
  const std::string_view family = config.family->architecture;
  const bool is_27b =
      (family == "gemma2" && config.layers == 46) || (family == "gemma3" && config.layers == 62);
  const std::int64_t width = is_27b ? config.width / config.heads : config.key_width;
  return keys.positive("attention.scale", 1 / std::sqrt(static_cast<double>(width)));
}

}  // namespace

std::int64_t Config::context_for(std::int64_t asked) const {
  if (asked == 0) return std::min<std::int64_t>(context, 4096);
  check(asked > 0 && asked <= context, "a context of {} tokens: the model has one of {}", asked,
        context);
  return asked;
}

Config read_config(const GgufMetadata& metadata) {
  const std::string& architecture = metadata.text("general.architecture");
  Config config{.family = find_family(architecture), .source = metadata.source()};
  check(config.family != nullptr,
        "{}: general.architecture is \"{}\", which is not supported; there are {}",
        metadata.source(), shortened(architecture), known_families());
  const Keys keys(metadata, architecture);
  config.context = keys.size("context_length", max_context);
  config.width = keys.size("embedding_length");
  config.layers = keys.size("block_count", max_layers);
  config.hidden = keys.size("feed_forward_length");
  read_heads(keys, config);
  config.epsilon = keys.positive(config.family->norm == NormKind::RootMeanSquare
                                     ? "attention.layer_norm_rms_epsilon"
                                     : "attention.layer_norm_epsilon");
  config.attention_scale = attention_scale(keys, config);
  config.attention_cap = keys.number("attn_logit_softcapping");
  config.projection_cap = keys.number("attention.clamp_kqv");
  config.logit_cap = keys.number("final_logit_softcapping");
  if (config.family->scales_embedding) {
    config.embedding_scale = std::sqrt(static_cast<double>(config.width));
  }
  read_rotary(keys, config);
  read_latent(keys, config);
  read_window(keys, config);
  constexpr std::string_view causal = "attention.causal";
  if (keys.has(causal)) config.is_causal = metadata.flag(keys.key(causal));
  keys.require(config.is_causal || config.window == 0, "attention.sliding_window", config.window);
  config.pooling = read_pooling(keys, config.is_causal);
  config.mixture = read_mixture(keys, config);
  return config;
}

}  // namespace croze::llm
