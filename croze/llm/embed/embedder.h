// embedder.h -- texts to vectors: texts that mean alike get vectors whose product is large.
//
//     const auto model = llm::LanguageModel::load("all-MiniLM-L6-v2.gguf");
//     llm::Embedder embedder(model->transformer);
//     std::vector<std::vector<float>> vectors = embedder.embed({model->tokenizer.encode("Hello")});
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/llm/model/transformer.h"
#include "croze/llm/tokenizer/token_id.h"

namespace croze::llm {

class Embedder {
 public:
  // The model must outlive it.  Throws Error for a model that was not trained to embed texts, one
  // whose file does not say what of its vectors stands for a text, and as Config::context_for().
  explicit Embedder(const Transformer& model, std::int64_t context = 0);
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  // A vector of `width()` numbers and of length 1 for each text.  Texts of about one length are
  // read together.  Throws Error for a text without tokens, with more than `context()` and with
  // those that the model has not.
  std::vector<std::vector<float>> embed(std::span<const std::vector<TokenId>> texts);
  // Throws Error for what embed() would not take.
  void check_text(std::span<const TokenId> text) const;

  std::int64_t width() const { return model_.config().width; }
  std::int64_t context() const { return context_; }

 private:
  struct Step {
    const Transformer* model;

    // Tokens (b, n) of texts of these lengths, (b), to vectors (b, width).
    Tensor operator()(const Tensor& tokens, const Tensor& lengths) const;
  };

  // The vectors of texts that are filled up to n tokens, one after the other.
  std::vector<float> read(std::span<const std::vector<TokenId>* const> texts, std::int64_t n);
  Captured<Step>& step_for(std::int64_t texts, std::int64_t tokens);

  const Transformer& model_;
  std::int64_t context_;
  std::map<std::pair<std::int64_t, std::int64_t>, Captured<Step>> steps_;  // by texts and tokens
};

}  // namespace croze::llm
