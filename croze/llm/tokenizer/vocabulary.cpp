#include "croze/llm/tokenizer/vocabulary.h"

#include <algorithm>
#include <limits>

#include "croze/base/error.h"

namespace croze::llm {

void Vocabulary::reserve(std::int64_t count) {
  by_text_.reserve(static_cast<std::size_t>(count));
  ids_.reserve(count);
}

void Vocabulary::add(TokenId id, std::string text) {
  check(id >= 0 && id < std::numeric_limits<TokenId>::max(), "{} is no number of a token", id);
  const std::string& stays = texts_.emplace_back(std::move(text));
  by_text_[stays] = id;
  ids_[id] = &stays;
  end_id_ = std::max(end_id_, id + 1);
}

TokenId Vocabulary::find(std::string_view text) const {
  const auto it = by_text_.find(text);
  return it == by_text_.end() ? no_token : it->second;
}

const std::string* Vocabulary::text_of(TokenId id) const {
  const std::string* const* text = ids_.find(id);
  return text ? *text : nullptr;
}

}  // namespace croze::llm
