#include "croze/llm/grammar/token_mask.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

constexpr std::size_t most_masks = 64;

}  // namespace

TokenTexts::TokenTexts(const Tokenizer& tokenizer, std::vector<TokenId> ends)
    : places_(static_cast<std::size_t>(tokenizer.vocabulary_size()), -1), ends_(std::move(ends)) {
  for (TokenId token = 0; token < tokenizer.vocabulary_size(); token++) {
    if (!tokenizer.has_token(token)) continue;
    const TokenType type = tokenizer.token_type(token);
    if (type == TokenType::Control || type == TokenType::Unknown || type == TokenType::Unused) {
      continue;
    }
    std::string bytes = tokenizer.token_bytes(token);
    if (!bytes.empty()) entries_.push_back({std::move(bytes), token, 0});
  }
  std::ranges::sort(entries_, {}, [](const Entry& e) { return std::tie(e.bytes, e.token); });
  for (std::size_t i = 0; i < entries_.size(); i++) {
    places_[static_cast<std::size_t>(entries_[i].token)] = static_cast<std::int32_t>(i);
    if (i == 0) continue;
    const std::string &a = entries_[i - 1].bytes, &b = entries_[i].bytes;
    entries_[i].common = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  }
}

const std::string* TokenTexts::bytes_of(TokenId token) const {
  if (token < 0 || token >= std::ssize(places_)) return nullptr;
  const std::int32_t place = places_[static_cast<std::size_t>(token)];
  return place < 0 ? nullptr : &entries_[static_cast<std::size_t>(place)].bytes;
}

GrammarFilter::GrammarFilter(const Grammar& grammar, const TokenTexts& texts)
    : texts_(texts), matcher_(grammar), state_(matcher_.start()) {}

GrammarFilter::Mask GrammarFilter::new_mask() {
  Mask allowed;
  const auto allow = [&](TokenId token) {
    const auto place = static_cast<std::size_t>(token);
    if (allowed.size() <= place) allowed.resize(place + 1);
    allowed[place] = true;
  };
  // States behind each byte of the entry at hand, as far as there are some.
  std::vector<GrammarMatcher::State> path{state_};
  std::size_t alive = 0;  // bytes of it that the grammar takes
  for (const TokenTexts::Entry& entry : texts_.entries()) {
    if (entry.common > alive) continue;  // it begins with what was refused
    alive = entry.common;
    path.resize(alive + 1);
    while (alive < entry.bytes.size()) {
      const auto next = matcher_.next(path.back(), static_cast<unsigned char>(entry.bytes[alive]));
      if (next == GrammarMatcher::dead) break;
      path.push_back(next);
      alive++;
    }
    if (alive == entry.bytes.size()) allow(entry.token);
  }
  if (matcher_.can_end(state_)) {
    for (const TokenId token : texts_.ends()) allow(token);
  }
  return allowed;
}

const GrammarFilter::Mask& GrammarFilter::mask() {
  if (generation_ != matcher_.generation() || masks_.size() >= most_masks) {
    masks_.clear();
    generation_ = matcher_.generation();
  }
  const auto found = masks_.find(state_);
  return found != masks_.end() ? found->second : masks_.emplace(state_, new_mask()).first->second;
}

void GrammarFilter::restrict(std::span<float> scores) {
  const Mask& allowed = mask();
  bool any = false;
  for (std::size_t i = 0; i < scores.size(); i++) {
    if (i < allowed.size() && allowed[i]) {
      any = true;
    } else {
      scores[i] = -std::numeric_limits<float>::infinity();
    }
  }
  check(any, "grammar: no token of the vocabulary may come next");
}

void GrammarFilter::accept(TokenId token) {
  const std::string* bytes = texts_.bytes_of(token);
  ensure(bytes != nullptr, "token {} has no text, and a grammar let it pass", token);
  for (const char byte : *bytes) state_ = matcher_.next(state_, static_cast<unsigned char>(byte));
  ensure(state_ != GrammarMatcher::dead, "a grammar let token {} pass, and refuses it", token);
  state_ = matcher_.kept(state_);
}

}  // namespace croze::llm
