#include "croze/llm/tokenizer/model.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace croze::llm {

Model::Model(Vocabulary vocabulary, TokenId unknown, bool byte_fallback)
    : vocabulary_(std::move(vocabulary)), unknown_(unknown), byte_fallback_(byte_fallback) {
  if (!byte_fallback_) return;
  for (int byte = 0; byte < 256; byte++) {
    byte_tokens_.push_back(vocabulary_.find(fmt::format("<0x{:02X}>", byte)));
  }
}

bool Model::append_bytes(std::string_view text, std::vector<TokenId>& ids) const {
  if (!byte_fallback_) return false;
  const auto token = [&](char c) { return byte_tokens_[static_cast<std::uint8_t>(c)]; };
  for (const char c : text) {
    if (token(c) == no_token) return false;
  }
  for (const char c : text) ids.push_back(token(c));
  return true;
}

int byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  int byte = 0;
  const auto [end, problem] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
  return problem == std::errc() && end == text.data() + 5 ? byte : -1;
}

}  // namespace croze::llm
