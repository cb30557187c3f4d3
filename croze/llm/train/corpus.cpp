// corpus.cpp -- splits and encodes a text, and draws windows by hashes of the step.
#include "croze/llm/train/corpus.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/llm/train/slices.h"

namespace croze::llm {
namespace {

constexpr std::size_t most_validation_bytes = std::size_t{256} << 10;

// Where the part for validation begins: at a line, if there are some.
std::size_t split_of(std::string_view text) {
  const std::size_t split = text.size() - std::min(text.size() / 20, most_validation_bytes);
  const std::size_t line_end = text.find('\n', split);
  const bool is_near = line_end != std::string_view::npos && line_end - split < 4096;
  return is_near && line_end + 1 < text.size() ? line_end + 1 : split;
}

std::vector<TokenId> encoded(std::string_view text, const Tokenizer& tokenizer) {
  std::vector<TokenId> tokens;
  for_each_slice(text, [&](std::string_view slice) {
    const std::vector<TokenId> more = tokenizer.encode(slice, {.add_special = false});
    tokens.insert(tokens.end(), more.begin(), more.end());
  });
  return tokens;
}

}  // namespace

Corpus::Corpus(std::string_view text, const std::string& source, const Tokenizer& tokenizer,
               std::int64_t context)
    : context_(context) {
  check(!text.empty(), "{} is empty", source);
  const std::size_t split = split_of(text);
  training_ = encoded(text.substr(0, split), tokenizer);
  validation_ = encoded(text.substr(split), tokenizer);
  check(std::min(std::ssize(training_), std::ssize(validation_)) > context,
        "{} is too short: {} tokens to learn from and {} to validate with, and windows of {}",
        source, training_.size(), validation_.size(), context + 1);
  training_bytes_per_token_ = static_cast<double>(split) / static_cast<double>(training_.size());
  for (std::int64_t i = 1; i <= validation_windows() * context; i++) {
    validation_bytes_ +=
        std::ssize(tokenizer.token_bytes(validation_[static_cast<std::size_t>(i)]));
  }
}

std::uint64_t Corpus::hash() const {
  const auto hash = [](const std::vector<TokenId>& tokens) {
    return hash_bytes(
        {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(TokenId)});
  };
  return hash_mix(hash(training_), hash(validation_));
}

Tensor Corpus::windows(const std::vector<TokenId>& tokens,
                       const std::vector<std::int64_t>& begins) const {
  std::vector<TokenId> all;
  for (const std::int64_t begin : begins) {
    all.insert(all.end(), tokens.begin() + begin, tokens.begin() + begin + context_ + 1);
  }
  return Tensor::from_data(all, {std::ssize(begins), context_ + 1});
}

Tensor Corpus::batch(std::uint64_t seed, std::int64_t step, std::int64_t rows) const {
  const auto places = static_cast<std::uint64_t>(std::ssize(training_) - context_);
  const std::uint64_t stream = hash_mix(hash_word(seed), static_cast<std::uint64_t>(step));
  std::vector<std::int64_t> begins;
  for (std::int64_t row = 0; row < rows; row++) {
    const std::uint64_t draw = hash_mix(stream, static_cast<std::uint64_t>(row));
    begins.push_back(static_cast<std::int64_t>(draw % places));
  }
  return windows(training_, begins);
}

Tensor Corpus::validation_batch(std::int64_t first, std::int64_t rows) const {
  std::vector<std::int64_t> begins;
  for (std::int64_t row = 0; row < rows; row++) {
    begins.push_back((first + row) % validation_windows() * context_);
  }
  return windows(validation_, begins);
}

std::int64_t Corpus::validation_windows() const { return (std::ssize(validation_) - 1) / context_; }

}  // namespace croze::llm
