// generator.cpp -- chunks of tokens through captured steps.
#include "croze/llm/generate/generator.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "croze/base/error.h"
#include "croze/llm/generate/chunks.h"
#include "croze/tensor/movement/indexing.h"

namespace croze::llm {
namespace {

// A step looks at the keys of so many places of the cache, whatever is there: the one place that
// says so.  Each length is a step of its own, so there are few of them, powers of two.
std::int64_t keys_for(std::int64_t end, std::int64_t capacity) {
  constexpr std::uint64_t least = 256;
  const auto keys = std::bit_ceil(std::max(static_cast<std::uint64_t>(end), least));
  return std::min(static_cast<std::int64_t>(keys), capacity);
}

}  // namespace

Tensor Generator::Step::operator()(const Tensor& tokens, const Tensor& start,
                                   const Tensor& wanted) const {
  const Tensor hidden = (*model)(tokens, start, *cache, keys);
  return model->logits(index_select(hidden, 0, wanted));
}

// The last chunk of a prompt may be filled up behind the end of the context.
Generator::Generator(const Transformer& model, const GeneratorOptions& options)
    : model_(model),
      context_(model.config().context_for(options.context)),
      cache_(model.config(), {.capacity = context_ + chunk - 1, .type = options.cache_type}) {}

void Generator::check_tokens(std::span<const TokenId> tokens) const {
  check(!tokens.empty(), "there are no tokens to read");
  for (const TokenId token : tokens) {
    check(token >= 0 && token < model_.vocabulary(), "token {}: the model has {}", token,
          model_.vocabulary());
  }
}

void Generator::check_room(std::span<const TokenId> tokens) const {
  check(std::ssize(tokens) <= room(), "the context is full: {} tokens, and {} more, of {}",
        tokens_.size(), tokens.size(), context_);
}

std::span<const float> Generator::read(std::span<const TokenId> tokens) {
  check_tokens(tokens);
  check_room(tokens);
  while (!tokens.empty()) {
    const std::int64_t rows = rows_for(std::ssize(tokens));
    const auto count = static_cast<std::size_t>(std::min(std::ssize(tokens), rows));
    read_chunk(tokens.first(count), rows, false);
    tokens = tokens.subspan(count);
  }
  return scores_.span();
}

std::span<const float> Generator::read_each(std::span<const TokenId> tokens) {
  check_tokens(tokens);
  check(std::ssize(tokens) <= most_of_each, "the scores behind each of {} tokens: at most {}",
        tokens.size(), most_of_each);
  check_room(tokens);
  read_chunk(tokens, static_cast<std::int64_t>(std::bit_ceil(tokens.size())), true);
  return scores_.span().first(tokens.size() * static_cast<std::size_t>(model_.vocabulary()));
}

std::int64_t Generator::common_length(std::span<const TokenId> text) const {
  const auto [in_text, in_tokens] = std::ranges::mismatch(text, tokens_);
  // The last token is read in any case: the scores behind it are asked for.
  return std::max<std::int64_t>(0, std::min(in_text - text.begin(), std::ssize(text) - 1));
}

std::span<const float> Generator::read_from_start(std::span<const TokenId> text,
                                                  const std::function<bool()>& goes_on) {
  check_tokens(text);
  check(std::ssize(text) <= context_, "a text of {} tokens does not fit a context of {}",
        text.size(), context_);
  truncate(common_length(text));
  std::span<const TokenId> rest = text.subspan(tokens_.size());
  while (!rest.empty()) {
    if (goes_on && !goes_on()) return {};
    const std::int64_t count = std::min(std::ssize(rest), rows_for(std::ssize(rest)));
    read(rest.first(static_cast<std::size_t>(count)));
    rest = rest.subspan(static_cast<std::size_t>(count));
  }
  return scores_.span();
}

void Generator::truncate(std::int64_t length) {
  check(length >= 0, "a length of {}", length);
  if (length < std::ssize(tokens_)) tokens_.resize(static_cast<std::size_t>(length));
}

void Generator::read_chunk(std::span<const TokenId> tokens, std::int64_t rows, bool of_each) {
  std::vector<TokenId> filled(tokens.begin(), tokens.end());
  filled.resize(static_cast<std::size_t>(rows), 0);
  const std::int64_t begin = std::ssize(tokens_);
  std::vector<std::int64_t> wanted(of_each ? filled.size() : 1, std::ssize(tokens) - 1);
  if (of_each) std::iota(wanted.begin(), wanted.end(), 0);
  Captured<Step>& step = step_for(rows, begin + rows, of_each);
  scores_ = {};  // whose memory the next ones may take
  const Tensor scores = step(Tensor::from_data(filled, {rows}), Tensor::from_data({begin}, {1}),
                             Tensor::from_data(wanted, {std::ssize(wanted)}));
  scores_ = scores.elements<float>();
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

Captured<Generator::Step>& Generator::step_for(std::int64_t rows, std::int64_t end, bool of_each) {
  const Size size{rows, keys_for(end, cache_.capacity()), of_each};
  const auto found = steps_.find(size);
  if (found != steps_.end()) return found->second;
  return steps_.emplace(size, capture(Step{&model_, &cache_, size.keys})).first->second;
}

std::int64_t Generator::kernels_per_token() const {
  std::int64_t kernels = 0;
  for (const auto& [size, step] : steps_) {
    if (size.rows == 1 && step.step().is_traced()) kernels = step.step().summary().kernels;
  }
  return kernels;
}

}  // namespace croze::llm
