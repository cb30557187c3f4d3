// decoder.h -- texts of tokens, put together to the text that they stand for: a list of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace croze::llm {

// The steps.  All but the last two take one token at a time.
struct DecodeBytes {};  // characters to bytes, as byte_level.h has it
struct DecodeMetaspace {
  std::string mark = "\u2581";
  bool strips_first = true;  // the marks of the first token are no spaces
};
struct DecodeReplace {
  std::string from, to;
};
struct DecodeStrip {  // up to that many at the ends of each token
  std::string text;
  std::int64_t left = 0, right = 0;
};
struct DecodeWordPiece {
  std::string prefix = "##";
  bool cleanup = true;  // of spaces before punctuation and in English contractions
};
struct DecodeSpaces {};        // a space between tokens
struct DecodeByteFallback {};  // "<0x0A>" to its byte
struct DecodeFuse {};          // what comes behind sees all tokens as one

using DecodeStep = std::variant<DecodeBytes, DecodeMetaspace, DecodeReplace, DecodeStrip,
                                DecodeWordPiece, DecodeSpaces, DecodeByteFallback, DecodeFuse>;

class Decoder {
 public:
  Decoder() = default;
  // Throws Error for an order of steps that no stream could follow.
  explicit Decoder(std::vector<DecodeStep> steps);

  // One text being decoded.
  class Run {
   public:
    // How runs of byte tokens are taken.  A whole text waits for the end of a run: if its bytes are
    // not UTF-8 together, each becomes U+FFFD.  A stream passes bytes on as they come.
    enum class Bytes { Whole, Stream };
    // The decoder outlives the run.
    Run(const Decoder& decoder, Bytes bytes, bool at_start = true)
        : decoder_(decoder), bytes_(bytes), at_start_(at_start), may_strip_(at_start) {}

    // Appends the bytes that are known once this token is there.
    void push(std::string_view token, std::string& result);
    void finish(std::string& result);

   private:
    void emit(std::string piece, bool is_first, std::string& result);
    void strip_fused(const DecodeStrip& step, std::string& piece);

    const Decoder& decoder_;
    Bytes bytes_;
    bool at_start_;     // before the first token
    std::string held_;  // bytes of byte tokens
    bool held_is_first_ = false;
    std::int64_t stripped_ = 0;  // characters that a step behind DecodeFuse has taken
    bool may_strip_;             // nothing has passed that step yet
  };

 private:
  std::vector<DecodeStep> steps_;
  bool has_byte_tokens_ = false;
  std::size_t bytes_end_ = 0;  // behind the step for byte tokens
  std::size_t fuse_ = 0;       // the step that fuses
};

}  // namespace croze::llm
