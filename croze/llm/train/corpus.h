// corpus.h -- a text as tokens, and the windows of it that a network learns from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/tokenizer.h"
#include "croze/tensor/tensor.h"

namespace croze::llm {

class Corpus {
 public:
  // The last twentieth of the text, at most 256 KiB, is for validation and never trained on.
  // `source` is what messages call the text.  Throws Error if it is empty, or either part has no
  // `context` + 1 tokens.
  Corpus(std::string_view text, const std::string& source, const Tokenizer& tokenizer,
         std::int64_t context);

  // Windows of context + 1 tokens, each of which predicts the next: (rows, context + 1) Int32.
  // Where they begin depends on the seed, the step and the row alone, so a training that was
  // interrupted needs to know no more than its step.
  Tensor batch(std::uint64_t seed, std::int64_t step, std::int64_t rows) const;
  // Windows first, first + 1, .. of the part for validation, which they cover once but for a rest
  // that is no window.  After the last the first comes again.
  Tensor validation_batch(std::int64_t first, std::int64_t rows) const;
  std::int64_t validation_windows() const;
  // Bytes of the tokens that these windows predict.
  std::int64_t validation_bytes() const { return validation_bytes_; }

  std::int64_t training_tokens() const { return std::ssize(training_); }
  double training_bytes_per_token() const { return training_bytes_per_token_; }
  // Of all tokens: what tells two texts apart.
  std::uint64_t hash() const;
  std::int64_t context() const { return context_; }

 private:
  Tensor windows(const std::vector<TokenId>& tokens, const std::vector<std::int64_t>& begins) const;

  std::int64_t context_;
  std::vector<TokenId> training_, validation_;
  std::int64_t validation_bytes_ = 0;
  double training_bytes_per_token_ = 1;
};

}  // namespace croze::llm
