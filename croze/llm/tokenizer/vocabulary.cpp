#include "croze/llm/tokenizer/vocabulary.h"

#include <algorithm>
#include <limits>

#include "croze/base/error.h"
#include "croze/base/hash.h"

namespace croze::llm {
namespace {

std::uint64_t hash_of(std::string_view text) { return hash_bytes(text); }
std::uint64_t hash_of(TokenId id) {
  return hash_bytes({reinterpret_cast<const char*>(&id), sizeof id});
}

}  // namespace

void Vocabulary::reserve(std::int64_t count) {
  tokens_.reserve(static_cast<std::size_t>(count));
  by_text_.reserve(count);
  by_id_.reserve(count);
}

void Vocabulary::add(TokenId id, std::string_view text) {
  check(id >= 0 && id < std::numeric_limits<TokenId>::max(), "{} is no number of a token", id);
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  check(texts_.size() + text.size() < most && tokens_.size() + 1 < most, "too many tokens");
  const auto place = static_cast<std::uint32_t>(tokens_.size());
  const auto enter = [&](detail::FlatIndex& index, std::uint64_t hash, std::uint32_t before) {
    before == none ? index.insert(hash, place, place) : index.move(hash, before, place);
  };
  enter(by_text_, hash_of(text), place_of(text));
  enter(by_id_, hash_of(id), place_of(id));
  tokens_.push_back({id, static_cast<std::uint32_t>(texts_.size())});
  texts_.append(text);
  end_id_ = std::max(end_id_, id + 1);
}

TokenId Vocabulary::find(std::string_view text) const {
  const std::uint32_t place = place_of(text);
  return place == none ? no_token : tokens_[place].id;
}

std::optional<std::string_view> Vocabulary::text_of(TokenId id) const {
  const std::uint32_t place = place_of(id);
  if (place == none) return {};
  return text_at(place);
}

std::string_view Vocabulary::text_at(std::uint32_t place) const {
  const std::size_t begin = tokens_[place].begin,
                    end = place + 1 < tokens_.size() ? tokens_[place + 1].begin : texts_.size();
  return std::string_view(texts_).substr(begin, end - begin);
}

std::uint32_t Vocabulary::place_of(std::string_view text) const {
  return by_text_.find(hash_of(text), [&](std::uint32_t place) { return text_at(place) == text; });
}

std::uint32_t Vocabulary::place_of(TokenId id) const {
  return by_id_.find(hash_of(id), [&](std::uint32_t place) { return tokens_[place].id == id; });
}

}  // namespace croze::llm
