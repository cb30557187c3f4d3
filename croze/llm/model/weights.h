// weights.h -- the weights of a language model, by the names that GGUF files give them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "croze/io/gguf/gguf.h"
#include "croze/llm/model/config.h"
#include "croze/llm/model/latent.h"
#include "croze/llm/model/mixture.h"

namespace croze::llm {

struct AttentionLayer {
  Norm before, after, of_sum;
  Matrix query, key, value, output;
  Norm query_norm, key_norm;
  std::optional<Latent> latent;  // in the place of query, key and value
  bool is_local = false;
};

struct Layer {
  AttentionLayer attention;
  PerceptronLayer perceptron;
};

struct Weights {
  Matrix embedding;        // (vocabulary, width)
  Matrix place_embedding;  // (context, width), if places are learned
  Tensor text_embedding;   // (width), added to every token; undefined: nothing is
  Norm embedding_norm;
  std::vector<Layer> layers;
  Norm norm;
  Matrix output;  // (vocabulary, width): often the embedding itself
  // What the frequencies of rotary embeddings are divided by, or nothing; for LongRope in a form
  // for short contexts and one for long ones.
  std::vector<float> rotary_factors, short_factors, long_factors;
  std::int64_t bytes_per_token = 0;  // that are read to compute the scores behind a token
};

// Throws Error naming the tensor: one that is missing, of another shape than the metadata say or no
// float; or that the family has no use for, so that the model would be another one without it.
Weights read_weights(const GgufFile& file, const Config& config, ActivationType activations);

}  // namespace croze::llm
