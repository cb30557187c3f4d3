// tokenizer.h -- texts to the tokens of a language model, and back.
//
// Byte-level BPE (GPT-2, Llama 3, Qwen), the BPE and unigram vocabularies of SentencePiece (Llama
// 2, Gemma, T5) and WordPiece (BERT), from the tokenizer.json of Hugging Face or the metadata of a
// GGUF file:
//
//     llm::Tokenizer tokenizer = llm::Tokenizer::load("tokenizer.json");
//     std::vector<llm::TokenId> ids = tokenizer.encode("Hello");
//     std::string text = tokenizer.decode(ids);
//
// The tokens are those of Hugging Face's package `tokenizers`.  Bytes that are no UTF-8 are read as
// U+FFFD, one for each maximal subpart, as Python's errors="replace" has it; so a text that is not
// UTF-8 gets tokens, too, but does not come back as it was.  A tokenizer does not change: threads
// may share it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/llm/tokenizer/token_id.h"

namespace croze {
class GgufMetadata;
}

namespace croze::llm {

enum class TokenType {
  Normal,
  Unknown,      // stands for what has no token
  Control,      // a special token: for the model, not for readers
  UserDefined,  // found in a text as it is
  Unused,
  Byte,  // a byte of what has no token
};

struct EncodeOptions {
  // Adds what the vocabulary puts around a text: "<s>", "[CLS]", ..
  bool add_special = true;
  // Special tokens are found in the text.  Not for texts of users, which could feign to be the end
  // of a turn.
  bool parse_special = false;
};

struct DecodeOptions {
  bool skip_special = true;  // special tokens have no text
};

struct TokenizerParts;

class Tokenizer {
 public:
  // Reads a file: a tokenizer.json, or a GGUF file.  Beside a tokenizer.json the
  // tokenizer_config.json, if there is one, says which the special tokens are.
  //
  // Throws Error naming the file and what is wrong with it: no such file, no JSON, something that
  // is missing or of another kind than it should be, a component that is not supported.
  static Tokenizer load(const std::string& path);
  // A tokenizer.json in memory; `path` is what messages call it.
  static Tokenizer from_json(std::string_view text, const std::string& path = "tokenizer.json");
  // The metadata "tokenizer.ggml.*" of a GGUF file.  Throws Error as load does.
  static Tokenizer from_gguf(const GgufMetadata& metadata);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // The tokens of a text.  Time grows about linearly with the text, whatever is in it.
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;

  // The text of tokens, which is valid UTF-8: bytes that are not are replaced as encode does it;
  // byte tokens ("<0xE3>") each become U+FFFD if a run of them is not UTF-8 as a whole.  Numbers
  // that are no token have no text.
  std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;

  // How the vocabulary writes a token: "\u0120the", "##ing", "<0x0A>".  Throws Error for a number
  // that is no token.
  std::string_view token_text(TokenId id) const;
  // What a token adds in the middle of a text: " the", "ing", "\n".  These need not be whole
  // characters.  Throws Error for a number that is no token.
  std::string token_bytes(TokenId id) const;
  // Throws Error for a number that is no token.
  TokenType token_type(TokenId id) const;
  bool has_token(TokenId id) const;
  // The token that is written so; no_token if there is none.
  TokenId find(std::string_view token_text) const;

  // One more than the largest number of a token.
  TokenId vocabulary_size() const;
  const SpecialTokens& special() const;

 private:
  friend class TokenStream;
  struct Inner;
  explicit Tokenizer(TokenizerParts parts);
  std::shared_ptr<const Inner> inner_;
};

// Tokens that arrive one by one, as text: what is given out are whole characters.  All together is
// what decode gives, except where byte tokens are not UTF-8: here they are replaced as other bytes
// are.
class TokenStream {
 public:
  explicit TokenStream(const Tokenizer& tokenizer, const DecodeOptions& options = {});
  TokenStream(TokenStream&&) noexcept;
  TokenStream& operator=(TokenStream&&) noexcept;
  ~TokenStream();

  // The text that is known now and was not before; often none.
  std::string push(TokenId id);
  // The rest: U+FFFD if the last character is not whole.  The stream begins anew.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace croze::llm
