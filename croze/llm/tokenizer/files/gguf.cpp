// gguf.cpp -- a tokenizer from the metadata "tokenizer.ggml.*" of a GGUF file.
//
// The metadata name a kind of vocabulary and hold its tokens; how a text gets there is known by the
// kind.  So this file says of each kind what a tokenizer.json of its family would say.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "croze/base/error.h"
#include "croze/io/gguf/value.h"
#include "croze/llm/tokenizer/bpe.h"
#include "croze/llm/tokenizer/files/gguf_patterns.h"
#include "croze/llm/tokenizer/parts.h"
#include "croze/llm/tokenizer/unigram.h"
#include "croze/llm/tokenizer/word_piece.h"

namespace croze::llm {
namespace {

constexpr std::string_view mark = "\u2581";  // SentencePiece's space

// tokenizer.ggml.token_type
enum GgufTokenType : std::int64_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

// A list of steps; some of them can be moved only.
template <typename Step, typename... Steps>
std::vector<Step> listed(Steps... steps) {
  std::vector<Step> list;
  (list.emplace_back(std::move(steps)), ...);
  return list;
}

class GgufReader {
 public:
  explicit GgufReader(const GgufMetadata& metadata) : metadata_(metadata) {}

  TokenizerParts read() {
    read_tokens();
    const std::string& kind = metadata_.text("tokenizer.ggml.model");
    if (kind == "gpt2") {
      read_byte_level();
    } else if (kind == "llama") {
      read_sentence_piece();
    } else if (kind == "t5") {
      read_unigram();
    } else if (kind == "bert") {
      read_word_piece();
    } else {
      fail({}, "{}: the tokenizer \"{}\" is not supported", metadata_.source(),
           kind.substr(0, 200));
    }
    read_added();
    read_special();
    return std::move(parts_);
  }

 private:
  static std::string key(const char* name) { return std::string("tokenizer.ggml.") + name; }

  bool flag(const char* name, bool otherwise) const {
    return metadata_.has(key(name)) ? metadata_.flag(key(name)) : otherwise;
  }

  // The number of a token; `otherwise` if the file does not say and has that many.
  TokenId id(const char* name, TokenId otherwise = no_token) const {
    const auto count = static_cast<TokenId>(tokens_.size());
    if (!metadata_.has(key(name))) return otherwise < count ? otherwise : no_token;
    const std::int64_t found = metadata_.integer(key(name));
    check(found >= 0 && found < count, "{}: {} is {}, with {} tokens", metadata_.source(),
          key(name), found, count);
    return static_cast<TokenId>(found);
  }

  bool is(std::size_t token, GgufTokenType type) const { return types_[token] == type; }

  void read_tokens() {
    tokens_ = metadata_.texts(key("tokens"));
    check(tokens_.size() < (std::size_t{1} << 30), "{}: too many tokens", metadata_.source());
    for (std::string& token : tokens_) token = to_valid_utf8(token);
    types_.assign(tokens_.size(), Normal);
    if (metadata_.has(key("token_type"))) types_ = metadata_.integers(key("token_type"));
    check(types_.size() == tokens_.size(), "{}: {} tokens have {} types", metadata_.source(),
          tokens_.size(), types_.size());
  }

  std::vector<double> read_scores() const {
    std::vector<double> scores = metadata_.numbers(key("scores"));
    check(scores.size() == tokens_.size(), "{}: {} tokens have {} scores", metadata_.source(),
          tokens_.size(), scores.size());
    for (const double score : scores) {
      check(score == score, "{}: a score is no number", metadata_.source());
    }
    return scores;
  }

  Vocabulary vocabulary() const {
    Vocabulary result;
    result.reserve(std::ssize(tokens_));
    for (std::size_t i = 0; i < tokens_.size(); i++) {
      result.add(static_cast<TokenId>(i), tokens_[i]);
    }
    return result;
  }

  std::vector<bool> of_types(std::initializer_list<GgufTokenType> wanted) const {
    std::vector<bool> result;
    for (std::size_t i = 0; i < types_.size(); i++) {
      result.push_back(
          std::ranges::any_of(wanted, [&](GgufTokenType type) { return is(i, type); }));
    }
    return result;
  }

  // What stands around a text.
  void surround(TokenId first, bool adds_first, TokenId last, bool adds_last) {
    if (flag("add_bos_token", adds_first) && first != no_token) parts_.before.push_back(first);
    if (flag("add_eos_token", adds_last) && last != no_token) parts_.behind.push_back(last);
  }

  void read_byte_level();
  void read_sentence_piece();
  void read_unigram();
  void read_word_piece();
  void read_added();
  void read_special();

  const GgufMetadata& metadata_;
  std::vector<std::string> tokens_;
  std::vector<std::int64_t> types_;
  TokenizerParts parts_;
};

void GgufReader::read_byte_level() {
  const std::string& pre = metadata_.text(key("pre"));
  const GgufPreTokenizer* found = gguf_pre_tokenizer(pre);
  check(found != nullptr, "{}: the pre-tokenizer \"{}\" is not supported", metadata_.source(),
        pre.substr(0, 200));
  Vocabulary vocabulary = this->vocabulary();
  const std::vector<std::string>& texts = metadata_.texts(key("merges"));
  std::vector<Merge> merges;
  merges.reserve(texts.size());
  for (const std::string& text : texts) {
    // The space that separates is not the first character, which may be one.
    const std::size_t space = text.find(' ', 1);
    const bool is_pair = space != std::string::npos;
    const std::string_view left = std::string_view(text).substr(0, space);
    const std::string_view right = std::string_view(text).substr(is_pair ? space + 1 : text.size());
    const Merge merge{vocabulary.find(left), vocabulary.find(right),
                      vocabulary.find(std::string(left).append(right)),
                      static_cast<std::uint32_t>(merges.size())};
    check(is_pair && merge.left >= 0 && merge.right >= 0 && merge.merged >= 0,
          "{}: the merge \"{}\" is not two tokens that are one together", metadata_.source(),
          text.substr(0, 200));
    merges.push_back(merge);
  }
  BpeOptions options{.unknown = id("unknown_token_id"), .whole_words = found->whole_words};
  parts_.model = std::make_unique<BpeModel>(std::move(vocabulary), merges, std::move(options));
  std::vector<PreTokenizerStep> steps;
  if (flag("add_space_prefix", false)) steps.emplace_back(PrefixSpace{});
  for (const char* pattern : found->patterns) steps.emplace_back(SplitPattern{Regex(pattern)});
  steps.emplace_back(ToBytes{});
  parts_.pre_tokenizer = PreTokenizer(std::move(steps));
  parts_.decoder = Decoder({DecodeBytes{}});
  surround(id("bos_token_id"), found->adds_bos, id("eos_token_id"), false);
}

void GgufReader::read_sentence_piece() {
  Vocabulary vocabulary = this->vocabulary();
  const std::vector<double> scores = read_scores();
  const std::vector<Merge> merges =
      merges_by_score(vocabulary, scores, of_types({Normal, UserDefined}));
  BpeOptions options{
      .unknown = id("unknown_token_id", 0), .fuse_unknown = true, .byte_fallback = true};
  parts_.model = std::make_unique<BpeModel>(std::move(vocabulary), merges, std::move(options));
  const bool has_prefix = flag("add_space_prefix", true);
  std::vector<NormalizerStep> steps;
  if (has_prefix) steps.emplace_back(Prepend{std::string(mark)});
  steps.emplace_back(ReplaceText{" ", std::string(mark)});
  parts_.normalizer = Normalizer(std::move(steps));
  std::vector<DecodeStep> decoding = {DecodeReplace{std::string(mark), " "}, DecodeByteFallback{},
                                      DecodeFuse{}};
  if (has_prefix) decoding.emplace_back(DecodeStrip{" ", 1, 0});
  parts_.decoder = Decoder(std::move(decoding));
  surround(id("bos_token_id", 1), true, id("eos_token_id", 2), false);
}

void GgufReader::read_unigram() {
  UnigramOptions options{.unknown = id("unknown_token_id", 2)};
  options.byte_fallback = std::ranges::find(types_, std::int64_t{Byte}) != types_.end();
  parts_.model = std::make_unique<UnigramModel>(vocabulary(), read_scores(),
                                                of_types({Normal, UserDefined, Unused}), options);
  std::vector<NormalizerStep> steps;
  if (metadata_.has(key("precompiled_charsmap"))) {
    std::string table;
    for (const std::int64_t byte : metadata_.integers(key("precompiled_charsmap"))) {
      table += static_cast<char>(byte);
    }
    if (!table.empty()) steps.emplace_back(ReplaceChars{Charsmap(table)});
  }
  if (flag("remove_extra_whitespaces", true)) {
    steps.emplace_back(StripSpaces{.only_plain = true});
    steps.emplace_back(ReplacePattern{Regex(" {2,}"), " "});
  }
  parts_.normalizer = Normalizer(std::move(steps));
  const bool has_prefix = flag("add_space_prefix", true);
  const Prefix prefix = has_prefix ? Prefix::Always : Prefix::Never;
  parts_.pre_tokenizer =
      PreTokenizer(listed<PreTokenizerStep>(Metaspace{std::string(mark), prefix, true}));
  std::vector<DecodeStep> decoding;
  if (options.byte_fallback) decoding.emplace_back(DecodeByteFallback{});
  decoding.emplace_back(DecodeMetaspace{std::string(mark), has_prefix});
  parts_.decoder = Decoder(std::move(decoding));
  surround(id("bos_token_id"), false, id("eos_token_id", 1), true);
}

// Files mark what begins a word, where BERT marks what continues one.
void GgufReader::read_word_piece() {
  const std::string prefix = "##";
  for (std::size_t i = 0; i < tokens_.size(); i++) {
    if (is(i, Control)) continue;
    const bool begins = tokens_[i].starts_with(mark);
    tokens_[i] = begins ? tokens_[i].substr(mark.size()) : prefix + tokens_[i];
  }
  WordPieceOptions options{.unknown = id("unknown_token_id", 100), .prefix = prefix};
  parts_.model = std::make_unique<WordPieceModel>(vocabulary(), options);
  parts_.normalizer = Normalizer(listed<NormalizerStep>(BertText{}));
  parts_.pre_tokenizer =
      PreTokenizer(listed<PreTokenizerStep>(SplitChars{is_whitespace, SplitBehavior::Removed},
                                            SplitChars{is_punctuation, SplitBehavior::Isolated}));
  parts_.decoder = Decoder({DecodeWordPiece{}});
  const TokenId cls =
      metadata_.has(key("cls_token_id")) ? id("cls_token_id") : id("bos_token_id", 101);
  surround(cls, true, id("seperator_token_id", 102), true);
}

void GgufReader::read_added() {
  for (std::size_t i = 0; i < tokens_.size(); i++) {
    const bool special = is(i, Control) || is(i, Unknown);
    if (is(i, Unused)) parts_.unused.push_back(static_cast<TokenId>(i));
    if (!special && !is(i, UserDefined)) continue;
    if (tokens_[i].empty()) continue;
    parts_.added.push_back({.id = static_cast<TokenId>(i), .text = tokens_[i], .special = special});
  }
}

void GgufReader::read_special() {
  const bool is_bert = metadata_.text("tokenizer.ggml.model") == "bert";
  parts_.special.bos = parts_.before.empty() ? id("bos_token_id") : parts_.before.front();
  parts_.special.eos = id(is_bert ? "seperator_token_id" : "eos_token_id",
                          parts_.behind.empty() ? no_token : parts_.behind.front());
  parts_.special.eot = id("eot_token_id");
  parts_.special.pad = id("padding_token_id");
  parts_.special.unknown = parts_.model->unknown();
}

}  // namespace

TokenizerParts parts_from_gguf(const GgufMetadata& metadata) { return GgufReader(metadata).read(); }

}  // namespace croze::llm
