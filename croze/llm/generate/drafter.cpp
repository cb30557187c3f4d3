#include "croze/llm/generate/drafter.h"

#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/base/printable.h"
#include "croze/llm/generate/language_model.h"
#include "croze/llm/sampling/likelihood.h"

namespace croze::llm {

PromptLookup::PromptLookup(const Options& options) : options_(options) {
  check(options.shortest >= 1 && options.shortest <= options.longest, "a lookup of {} to {} tokens",
        options.shortest, options.longest);
}

std::vector<TokenId> PromptLookup::draft(std::span<const TokenId> text, std::int64_t most) {
  for (std::int64_t n = options_.longest; n >= options_.shortest; n--) {
    if (n >= std::ssize(text)) continue;
    const auto end = text.last(static_cast<std::size_t>(n));
    const auto before = text.first(text.size() - 1);
    const auto found = std::ranges::find_end(before, end);
    if (found.empty()) continue;
    const auto count = std::min(
        most, static_cast<std::int64_t>(text.data() + text.size() - std::to_address(found.end())));
    return {found.end(), found.end() + count};
  }
  return {};
}

namespace {

// A guess is a number of a token, which has to mean the same to both.
void check_same_tokens(const LanguageModel& draft, const LanguageModel& of) {
  const Tokenizer& a = draft.tokenizer;
  const Tokenizer& b = of.tokenizer;
  check(a.vocabulary_size() == b.vocabulary_size(), "{} has {} tokens and cannot draft for {}, {}",
        printable(draft.name), a.vocabulary_size(), printable(of.name), b.vocabulary_size());
  for (TokenId id = 0; id < b.vocabulary_size(); id++) {
    const bool is_same = a.has_token(id) == b.has_token(id) &&
                         (!a.has_token(id) || a.token_bytes(id) == b.token_bytes(id));
    check(is_same, "{} cannot draft for {}: token {} is another one", printable(draft.name),
          printable(of.name), id);
  }
}

}  // namespace

DraftModel::DraftModel(const LanguageModel& draft, const LanguageModel& of, const Options& options)
    : options_(options),
      vocabulary_(draft.transformer.vocabulary()),
      end_tokens_(of.end_tokens),
      generator_(draft.transformer, options.generator) {
  check_same_tokens(draft, of);
}

std::vector<TokenId> DraftModel::draft(std::span<const TokenId> text, std::int64_t most) {
  std::vector<TokenId> tokens;
  const auto is_foreign = [&](TokenId token) { return token >= vocabulary_; };
  if (most <= 0 || std::ssize(text) > generator_.context()) return tokens;
  // A larger model may have numbers to spare that no token has.
  if (std::ranges::any_of(text, is_foreign)) return tokens;
  std::span<const float> scores = generator_.read_from_start(text);
  while (true) {
    const TokenLikelihood next = LogProbabilities(scores).likeliest(1)[0];
    if (std::exp(next.log_probability) < options_.least_probability) break;
    if (std::ranges::binary_search(end_tokens_, next.token)) break;
    tokens.push_back(next.token);
    if (std::ssize(tokens) == most || generator_.room() == 0) break;
    scores = generator_.read(std::span(&tokens.back(), 1));
  }
  return tokens;
}

}  // namespace croze::llm
