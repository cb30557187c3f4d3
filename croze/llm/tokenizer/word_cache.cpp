#include "croze/llm/tokenizer/word_cache.h"

#include <algorithm>

#include "croze/base/hash.h"

namespace croze::llm {

void WordCache::append(const Model& model, std::string_view word, std::vector<TokenId>& ids) {
  if (word.size() <= max_word_bytes) return append_part(model, word, ids);
  model.each_part(word, [&](std::string_view part) { append_part(model, part, ids); });
}

void WordCache::append_part(const Model& model, std::string_view part, std::vector<TokenId>& ids) {
  if (part.size() > max_word_bytes) return model.tokenize(part, ids);
  const std::uint64_t hash = hash_bytes(part);
  const std::uint32_t place = by_text_.find(hash, [&](std::uint32_t at) {
    return std::string_view(texts_).substr(words_[at].text_begin, words_[at].text_size) == part;
  });
  const std::size_t begin = ids.size();
  if (place != detail::FlatIndex::none) {
    const Word& known = words_[place];
    ids.resize(begin + known.count);
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(known.begin), known.count,
                ids.begin() + static_cast<std::ptrdiff_t>(begin));
    return;
  }
  model.tokenize(part, ids);
  const auto count = static_cast<std::uint32_t>(words_.size());
  if (count == max_words) return;
  by_text_.insert(hash, count, count);
  words_.push_back({static_cast<std::uint32_t>(texts_.size()),
                    static_cast<std::uint32_t>(part.size()),
                    static_cast<std::uint32_t>(ids.size() - begin), begin});
  texts_ += part;
}

}  // namespace croze::llm
