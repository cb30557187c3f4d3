#include "croze/llm/tokenizer/decoder.h"

#include <array>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/byte_level.h"
#include "croze/llm/tokenizer/model.h"
#include "croze/llm/tokenizer/normalizer.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm {
namespace {

// What Hugging Face's WordPiece decoder cleans up, in its order.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> cleanups = {{
    {" .", "."},
    {" ?", "?"},
    {" !", "!"},
    {" ,", ","},
    {" ' ", "'"},
    {" n't", "n't"},
    {" 'm", "'m"},
    {" do not", " don't"},
    {" 's", "'s"},
    {" 've", "'ve"},
    {" 're", "'re"},
}};

void strip(const DecodeStrip& step, std::string& piece) {
  for (std::int64_t i = 0; i < step.left && piece.starts_with(step.text); i++) {
    piece.erase(0, step.text.size());
  }
  for (std::int64_t i = 0; i < step.right && piece.ends_with(step.text); i++) {
    piece.erase(piece.size() - step.text.size());
  }
}

// What a step makes of one token.
struct Apply {
  std::string piece;
  bool is_first;

  std::string operator()(const DecodeBytes&) const {
    std::string bytes;
    append_chars_as_bytes(piece, bytes);
    return bytes;
  }
  std::string operator()(const DecodeMetaspace& step) const {
    return replaced(piece, step.mark, is_first && step.strips_first ? "" : " ");
  }
  std::string operator()(const DecodeReplace& step) const {
    return replaced(piece, step.from, step.to);
  }
  std::string operator()(const DecodeStrip& step) {
    strip(step, piece);
    return std::move(piece);
  }
  std::string operator()(const DecodeWordPiece& step) {
    if (!is_first) {
      const bool continues = piece.starts_with(step.prefix);
      piece = continues ? piece.substr(step.prefix.size()) : " " + piece;
    }
    if (!step.cleanup) return std::move(piece);
    for (const auto& [from, to] : cleanups) piece = replaced(piece, from, to);
    return std::move(piece);
  }
  std::string operator()(const DecodeSpaces&) const { return is_first ? piece : " " + piece; }
  std::string operator()(const DecodeByteFallback&) { return std::move(piece); }
  std::string operator()(const DecodeFuse&) { return std::move(piece); }
};

}  // namespace

Decoder::Decoder(std::vector<DecodeStep> steps) : steps_(std::move(steps)), fuse_(steps_.size()) {
  for (std::size_t i = 0; i < steps_.size(); i++) {
    const DecodeStep& step = steps_[i];
    if (i > fuse_) {
      const auto* strips = std::get_if<DecodeStrip>(&step);
      check(strips && i == fuse_ + 1 && strips->right == 0 && strips->text.size() == 1,
            "a decoder has a step behind Fuse that is not one Strip of the beginning");
    }
    if (std::holds_alternative<DecodeFuse>(step)) fuse_ = i;
    if (std::holds_alternative<DecodeByteFallback>(step)) {
      check(!has_byte_tokens_, "a decoder has two steps ByteFallback");
      has_byte_tokens_ = true;
      bytes_end_ = i + 1;
    }
  }
}

void Decoder::Run::push(std::string_view token, std::string& result) {
  const bool is_first = std::exchange(at_start_, false);
  std::string piece(token);
  if (decoder_.has_byte_tokens_) {
    for (std::size_t i = 0; i < decoder_.bytes_end_; i++) {
      piece = std::visit(Apply{std::move(piece), is_first}, decoder_.steps_[i]);
    }
    if (const int byte = byte_of_token(piece); byte >= 0) {
      if (bytes_ == Bytes::Stream) return emit({static_cast<char>(byte)}, is_first, result);
      held_is_first_ |= is_first;
      held_ += static_cast<char>(byte);
      return;
    }
    finish(result);
  }
  emit(std::move(piece), is_first, result);
}

// The bytes of a run are together UTF-8, or none of them is.
void Decoder::Run::finish(std::string& result) {
  if (held_.empty()) return;
  std::string text = std::exchange(held_, {});
  if (!is_valid_utf8(text)) {
    std::string marks;
    for (std::size_t i = 0; i < text.size(); i++) append_char(marks, replacement_character);
    text = std::move(marks);
  }
  emit(std::move(text), std::exchange(held_is_first_, false), result);
}

void Decoder::Run::emit(std::string piece, bool is_first, std::string& result) {
  for (std::size_t i = decoder_.bytes_end_; i < decoder_.steps_.size(); i++) {
    const DecodeStep& step = decoder_.steps_[i];
    if (i > decoder_.fuse_) {
      strip_fused(std::get<DecodeStrip>(step), piece);
    } else {
      piece = std::visit(Apply{std::move(piece), is_first}, step);
    }
  }
  result += piece;
}

void Decoder::Run::strip_fused(const DecodeStrip& step, std::string& piece) {
  while (may_strip_ && !piece.empty()) {
    may_strip_ = stripped_ < step.left && piece.starts_with(step.text);
    if (!may_strip_) return;
    piece.erase(0, step.text.size());
    stripped_++;
  }
}

}  // namespace croze::llm
