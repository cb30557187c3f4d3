// tokenizer.cpp -- the way of a text: added tokens are cut out, what lies between is normalized,
// cut into words and given to the model; what has to stand around it is added.
//
// A token that is looked for in normalized text is looked for in a second step, since the first one
// has to leave other tokens as they are written.
#include "croze/llm/tokenizer/tokenizer.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/parts.h"
#include "croze/llm/tokenizer/word_cache.h"

namespace croze::llm {

struct Tokenizer::Inner {
  TokenizerParts parts;
  Vocabulary added;  // the tokens that are not of the model
  // What they are to the decoder.  Hugging Face's gives those that are looked for in normalized
  // text as they are found there: "there" behind a step that prepends a mark is "\u2581there".
  Vocabulary decoded;
  FlatMap<TokenId, TokenType> types;  // but for normal ones
  AddedTokens as_written, normalized;

  explicit Inner(TokenizerParts given);

  std::optional<std::string_view> text_of(TokenId id) const {
    const std::optional<std::string_view> text = added.text_of(id);
    return text ? text : parts.model->vocabulary().text_of(id);
  }
  std::optional<std::string_view> decoded_text_of(TokenId id) const {
    const std::optional<std::string_view> text = decoded.text_of(id);
    return text ? text : text_of(id);
  }
  std::string_view known_text(TokenId id) const {
    const std::optional<std::string_view> text = text_of(id);
    check(text.has_value(), "the vocabulary has no token {}", id);
    return *text;
  }
  TokenType type_of(TokenId id) const {
    const TokenType* type = types.find(id);
    return type ? *type : TokenType::Normal;
  }
  bool is_skipped(TokenId id, const DecodeOptions& options) const {
    return options.skip_special && type_of(id) == TokenType::Control;
  }

  void encode(std::string_view text, bool special, std::vector<TokenId>& ids) const;
  void encode_part(std::string part, bool at_start, bool special, WordCache& cache,
                   std::vector<TokenId>& ids) const;
};

Tokenizer::Inner::Inner(TokenizerParts given) : parts(std::move(given)) {
  const Model& model = *parts.model;
  if (model.has_byte_tokens()) {
    model.vocabulary().for_each([&](TokenId id, std::string_view text) {
      if (byte_of_token(text) >= 0) types[id] = TokenType::Byte;
    });
  }
  for (const TokenId id : parts.unused) types[id] = TokenType::Unused;
  if (model.unknown() != no_token) types[model.unknown()] = TokenType::Unknown;

  std::vector<AddedToken> lists[2];
  std::vector<std::string> patterns[2];
  for (const AddedToken& token : parts.added) {
    added.add(token.id, token.text);
    types[token.id] = token.special ? TokenType::Control : TokenType::UserDefined;
    std::string pattern = token.text;
    if (token.normalized) pattern = parts.normalizer.normalized(std::move(pattern));
    if (pattern != token.text) decoded.add(token.id, pattern);
    lists[token.normalized].push_back(token);
    patterns[token.normalized].push_back(std::move(pattern));
  }
  as_written = AddedTokens(std::move(lists[0]), patterns[0]);
  normalized = AddedTokens(std::move(lists[1]), patterns[1]);
}

void Tokenizer::Inner::encode(std::string_view text, bool special,
                              std::vector<TokenId>& ids) const {
  WordCache cache;
  for (const TextPart& part : as_written.parts(text, special)) {
    if (part.id != no_token) {
      ids.push_back(part.id);
    } else {
      encode_part(std::string(text.substr(part.begin, part.end - part.begin)), part.begin == 0,
                  special, cache, ids);
    }
  }
}

void Tokenizer::Inner::encode_part(std::string part, bool at_start, bool special, WordCache& cache,
                                   std::vector<TokenId>& ids) const {
  const std::string text = parts.normalizer.normalized(std::move(part));
  for (const TextPart& found : normalized.parts(text, special)) {
    if (found.id != no_token) {
      ids.push_back(found.id);
      continue;
    }
    parts.pre_tokenizer.each_word(
        text.substr(found.begin, found.end - found.begin), at_start && found.begin == 0,
        [&](std::string_view word) { cache.append(*parts.model, word, ids); });
  }
}

Tokenizer::Tokenizer(TokenizerParts parts)
    : inner_(std::make_shared<const Inner>(std::move(parts))) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const TokenizerParts& parts = inner_->parts;
  std::vector<TokenId> ids;
  if (options.add_special) ids = parts.before;
  if (is_valid_utf8(text)) {
    inner_->encode(text, options.parse_special, ids);
  } else {
    inner_->encode(to_valid_utf8(text), options.parse_special, ids);
  }
  if (options.add_special) ids.insert(ids.end(), parts.behind.begin(), parts.behind.end());
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  Decoder::Run run(inner_->parts.decoder, Decoder::Run::Bytes::Whole);
  std::string bytes;
  for (const TokenId id : ids) {
    const std::optional<std::string_view> text = inner_->decoded_text_of(id);
    if (text && !inner_->is_skipped(id, options)) run.push(*text, bytes);
  }
  run.finish(bytes);
  return to_valid_utf8(bytes);
}

std::string_view Tokenizer::token_text(TokenId id) const { return inner_->known_text(id); }

std::string Tokenizer::token_bytes(TokenId id) const {
  inner_->known_text(id);
  Decoder::Run run(inner_->parts.decoder, Decoder::Run::Bytes::Stream, false);
  std::string bytes;
  run.push(*inner_->decoded_text_of(id), bytes);
  return bytes;
}

TokenType Tokenizer::token_type(TokenId id) const {
  inner_->known_text(id);
  return inner_->type_of(id);
}

bool Tokenizer::has_token(TokenId id) const { return inner_->text_of(id).has_value(); }

TokenId Tokenizer::find(std::string_view token_text) const {
  const TokenId id = inner_->added.find(token_text);
  return id != no_token ? id : inner_->parts.model->vocabulary().find(token_text);
}

TokenId Tokenizer::vocabulary_size() const {
  return std::max(inner_->added.end_id(), inner_->parts.model->vocabulary().end_id());
}

const SpecialTokens& Tokenizer::special() const { return inner_->parts.special; }

struct TokenStream::State {
  std::shared_ptr<const Tokenizer::Inner> inner;
  DecodeOptions options;
  Decoder::Run run;
  Utf8Assembler assembler;

  State(std::shared_ptr<const Tokenizer::Inner> of, const DecodeOptions& how)
      : inner(std::move(of)),
        options(how),
        run(inner->parts.decoder, Decoder::Run::Bytes::Stream) {}
};

TokenStream::TokenStream(const Tokenizer& tokenizer, const DecodeOptions& options)
    : state_(std::make_unique<State>(tokenizer.inner_, options)) {}
TokenStream::TokenStream(TokenStream&&) noexcept = default;
TokenStream& TokenStream::operator=(TokenStream&&) noexcept = default;
TokenStream::~TokenStream() = default;

std::string TokenStream::push(TokenId id) {
  std::string bytes, text;
  const std::optional<std::string_view> token = state_->inner->decoded_text_of(id);
  if (!token || state_->inner->is_skipped(id, state_->options)) return text;
  state_->run.push(*token, bytes);
  state_->assembler.push(bytes, text);
  return text;
}

std::string TokenStream::finish() {
  std::string bytes, text;
  state_->run.finish(bytes);
  state_->assembler.push(bytes, text);
  state_->assembler.finish(text);
  state_ = std::make_unique<State>(state_->inner, state_->options);
  return text;
}

}  // namespace croze::llm
