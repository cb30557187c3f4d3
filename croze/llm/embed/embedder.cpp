// embedder.cpp -- batches of texts through captured steps, one for each size.
#include "croze/llm/embed/embedder.h"

#include <algorithm>
#include <bit>

#include "croze/base/error.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/network/loss.h"

namespace croze::llm {
namespace {

using Text = std::vector<TokenId>;

// Steps have sizes of powers of two, so there are few of them.
std::int64_t power_of_two(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

std::int64_t filled_length(const Text& text, std::int64_t context) {
  constexpr std::int64_t least = 16;
  return std::min(std::max(power_of_two(std::ssize(text)), least), context);
}

// Texts (b, n, width) to (b, width).
Tensor pooled(const Tensor& x, const Tensor& lengths, Pooling pooling) {
  if (pooling == Pooling::First) return x.select(1, 0);
  const Tensor places = Tensor::arange(x.size(1), DType::Int32);
  const Tensor counts = lengths.unsqueeze(-1);
  const Tensor is_counted = pooling == Pooling::Mean ? places < counts : places == counts - 1;
  const Tensor sum = where(is_counted.unsqueeze(-1), x, 0.).sum(1);
  return pooling == Pooling::Mean ? sum / counts : sum;
}

}  // namespace

Tensor Embedder::Step::operator()(const Tensor& tokens, const Tensor& lengths) const {
  const Tensor x = model->encode(tokens, lengths).reshape({tokens.size(0), tokens.size(1), -1});
  return normalize(pooled(x, lengths, *model->config().pooling));
}

Embedder::Embedder(const Transformer& model, std::int64_t context)
    : model_(model), context_(model.config().context_for(context)) {
  check(model.config().pooling.has_value(), "{}: it writes texts and was not trained to embed them",
        model.config().source);
}

void Embedder::check_text(std::span<const TokenId> text) const {
  check(!text.empty(), "a text without tokens has no vector");
  check(std::ssize(text) <= context_, "a text of {} tokens: the model has a context of {}",
        text.size(), context_);
  for (const TokenId token : text) {
    check(token >= 0 && token < model_.vocabulary(), "token {}: the model has {}", token,
          model_.vocabulary());
  }
}

std::vector<std::vector<float>> Embedder::embed(std::span<const Text> texts) {
  constexpr std::int64_t most_tokens = 1024;  // of a step
  std::map<std::int64_t, std::vector<std::size_t>> by_length;
  for (std::size_t i = 0; i < texts.size(); i++) {
    check_text(texts[i]);
    by_length[filled_length(texts[i], context_)].push_back(i);
  }
  std::vector<std::vector<float>> vectors(texts.size());
  for (const auto& [n, numbers] : by_length) {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, most_tokens / n));
    for (std::size_t begin = 0; begin < numbers.size(); begin += most) {
      const auto some = std::span(numbers).subspan(begin, std::min(most, numbers.size() - begin));
      std::vector<const Text*> together;
      for (const std::size_t i : some) together.push_back(&texts[i]);
      const std::vector<float> all = read(together, n);
      for (std::size_t row = 0; row < some.size(); row++) {
        const auto vector = all.begin() + static_cast<std::int64_t>(row) * width();
        vectors[some[row]].assign(vector, vector + width());
      }
    }
  }
  return vectors;
}

// Rows that stand for nothing are texts of one token.
std::vector<float> Embedder::read(std::span<const Text* const> texts, std::int64_t n) {
  const std::int64_t b = power_of_two(std::ssize(texts));
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> lengths;
  for (const Text* text : texts) {
    tokens.insert(tokens.end(), text->begin(), text->end());
    lengths.push_back(static_cast<std::int32_t>(text->size()));
    tokens.resize(lengths.size() * static_cast<std::size_t>(n), 0);
  }
  lengths.resize(static_cast<std::size_t>(b), 1);
  tokens.resize(static_cast<std::size_t>(b * n), 0);
  return step_for(b, n)(Tensor::from_data(tokens, {b, n}), Tensor::from_data(lengths, {b}))
      .to_vector<float>();
}

Captured<Embedder::Step>& Embedder::step_for(std::int64_t texts, std::int64_t tokens) {
  const auto found = steps_.find({texts, tokens});
  if (found != steps_.end()) return found->second;
  return steps_.emplace(std::pair(texts, tokens), capture(Step{&model_})).first->second;
}

}  // namespace croze::llm
