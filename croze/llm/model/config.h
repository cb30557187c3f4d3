// config.h -- the sizes and numbers of a language model, from the metadata of a GGUF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "croze/llm/model/family.h"

namespace croze {
class GgufMetadata;
}

namespace croze::llm {

// How far heads turn by the place of a token (rotary.h).
struct RotaryConfig {
  enum class Scaling : std::uint8_t { None, Linear, Yarn };

  std::int64_t width = 0;  // so many elements of a head turn, the others stay
  double base = 10000;
  Scaling scaling = Scaling::None;
  double factor = 1;                     // by which the context was stretched
  std::int64_t original_context = 0;     // before that
  double attention_factor = 1;           // of cosines and sines; Yarn has one of its own beside it
  double beta_fast = 32, beta_slow = 1;  // Yarn: turns in a context between which the forms mix
  double extrapolation = 1;              // Yarn: how much of the mix
  bool whole_pairs = true;               // Yarn: the mix begins and ends at whole pairs
};

// Attention to latents (latent.h).
struct LatentConfig {
  std::int64_t width = 0, query_width = 0;  // 0: none
  std::int64_t plain = 0;                   // elements of a head's keys that do not turn
  std::int64_t value = 0;                   // elements of a head's values
};

// Perceptrons of which each token has a few chosen, the experts.
struct MixtureConfig {
  std::int64_t experts = 0, chosen = 0;        // 0 experts: none
  std::int64_t hidden = 0;                     // width within an expert
  std::int64_t shared_hidden = 0;              // within the one that all tokens have; 0: none
  std::int64_t groups = 1, chosen_groups = 1;  // of experts; chosen first
  bool is_sigmoid = false;                     // scores become shares one by one; else by softmax
  bool norms_shares = false;                   // of the chosen, to a sum of 1
  double scale = 1;                            // of shares, last
};

// What of the vectors behind the tokens of a text stands for the text.
enum class Pooling : std::uint8_t { Mean, First, Last };

struct Config {
  const Family* family = nullptr;
  std::string source;  // what messages call the file
  std::int64_t context = 0;
  std::int64_t width = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t key_width = 0, value_width = 0;  // of a head
  std::int64_t hidden = 0;                      // width within perceptrons
  double epsilon = 1e-5;                        // of norms
  double attention_scale = 1;                   // of scores
  double attention_cap = 0, logit_cap = 0;      // cap * tanh(x / cap); 0: no cap
  double projection_cap = 0;  // of queries, keys and values, which are cut; 0: none
  double embedding_scale = 1;
  std::int64_t window = 0;     // tokens that a layer with a window sees; 0: no layer has one
  std::vector<bool> is_local;  // whether a layer has it
  RotaryConfig rotary, local_rotary;
  LatentConfig latent;
  MixtureConfig mixture;
  bool is_causal = true;           // tokens see those before them alone; no encoder does that
  std::optional<Pooling> pooling;  // of models that were trained to embed texts

  std::int64_t queries_per_key() const { return heads / kv_heads; }
  // The tokens that a text may have: as many as asked for, or, for 0, as the model was made for but
  // at most 4096, since the memory for them is taken beforehand.  Throws Error for more than the
  // model was made for.
  std::int64_t context_for(std::int64_t asked) const;
};

// Throws Error naming the key: one that is missing or of another type, a size that is absurd or
// does not fit the others, an architecture or form of scaling that is not supported.
Config read_config(const GgufMetadata& metadata);

}  // namespace croze::llm
