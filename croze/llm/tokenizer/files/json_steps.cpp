// json_steps.cpp -- normalizers, pre-tokenizers, decoders and post-processors of a tokenizer.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/byte_level.h"
#include "croze/llm/tokenizer/files/json_parts.h"

namespace croze::llm {
namespace {

[[noreturn]] void fail_unknown(const std::string& type) {
  fail({}, "\"{}\" is not supported", shortened(type));
}

// The members of a Sequence.
template <typename Step, typename Append>
void append_all(const JsonValue& members, std::vector<Step>& steps, Append append) {
  check(members.size() <= max_steps, "{} steps are more than {}", members.size(), max_steps);
  for (const JsonValue& member : members) {
    append(member, steps);
    check(steps.size() <= max_steps, "more than {} steps", max_steps);
  }
}

struct Pattern {
  bool is_regex = false;
  std::string text;
};

Pattern pattern_from(const JsonValue& json) {
  const JsonFields fields(json, "the pattern");
  const bool is_regex = fields.find("Regex") != nullptr;
  Pattern pattern{is_regex, fields.text(is_regex ? "Regex" : "String")};
  check(!pattern.text.empty(), "a pattern is empty");
  return pattern;
}

std::string mark_from(const JsonFields& fields, const char* name, std::string_view otherwise) {
  std::string mark = fields.text_or(name, otherwise);
  check(!mark.empty() && mark.size() <= max_mark_bytes, "\"{}\" has {} bytes, not 1 to {}", name,
        mark.size(), max_mark_bytes);
  return mark;
}

SplitBehavior behavior_from(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> names = {{
      {"Removed", SplitBehavior::Removed},
      {"Isolated", SplitBehavior::Isolated},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous},
  }};
  for (const auto& [known, behavior] : names) {
    if (name == known) return behavior;
  }
  fail({}, "the behavior \"{}\" is not supported", shortened(name));
}

// Files of before 2024 say add_prefix_space.
Prefix prefix_from(const JsonFields& fields) {
  const bool adds = fields.flag_or("add_prefix_space", true);
  const std::string scheme = fields.text_or("prepend_scheme", adds ? "always" : "never");
  if (scheme == "always") return Prefix::Always;
  if (scheme == "first") return Prefix::First;
  check(scheme == "never", "the prepend_scheme \"{}\" is not supported", shortened(scheme));
  return Prefix::Never;
}

NormalizerStep replace_from(const JsonFields& fields) {
  Pattern pattern = pattern_from(fields.at("pattern"));
  const std::string& content = fields.text("content");
  if (pattern.is_regex) return ReplacePattern{Regex(pattern.text), content};
  return ReplaceText{std::move(pattern.text), content};
}

NormalizerStep bert_from(const JsonFields& fields) {
  const bool lowercase = fields.flag_or("lowercase", true);
  return BertText{.clean = fields.flag_or("clean_text", true),
                  .space_cjk = fields.flag_or("handle_chinese_chars", true),
                  .strip_accents = fields.flag_or("strip_accents", lowercase),
                  .lowercase = lowercase};
}

NormalizerStep normalizer_step(const std::string& type, const JsonFields& fields) {
  if (type == "NFC") return ToNormalForm{NormalForm::C};
  if (type == "NFD") return ToNormalForm{NormalForm::D};
  if (type == "NFKC") return ToNormalForm{NormalForm::KC};
  if (type == "NFKD") return ToNormalForm{NormalForm::KD};
  if (type == "Lowercase") return Lowercase{};
  if (type == "StripAccents") return StripAccents{};
  if (type == "ByteLevel") return BytesAsChars{};
  if (type == "Prepend") return Prepend{mark_from(fields, "prepend", "")};
  if (type == "Replace") return replace_from(fields);
  if (type == "BertNormalizer") return bert_from(fields);
  if (type == "Strip") {
    return StripSpaces{fields.flag_or("strip_left", true), fields.flag_or("strip_right", true)};
  }
  if (type == "Precompiled") {
    return ReplaceChars{Charsmap(decode_base64(fields.text("precompiled_charsmap")))};
  }
  fail_unknown(type);
}

void append_split(const JsonFields& fields, std::vector<PreTokenizerStep>& steps) {
  Pattern pattern = pattern_from(fields.at("pattern"));
  const SplitBehavior behavior = behavior_from(fields.text("behavior"));
  const bool inverted = fields.flag_or("invert", false);
  if (pattern.is_regex) {
    steps.emplace_back(SplitPattern{Regex(pattern.text), behavior, inverted});
  } else {
    steps.emplace_back(SplitText{std::move(pattern.text), behavior, inverted});
  }
}

void append_byte_level(const JsonFields& fields, std::vector<PreTokenizerStep>& steps) {
  if (fields.flag_or("add_prefix_space", true)) steps.emplace_back(PrefixSpace{});
  if (fields.flag_or("use_regex", true)) steps.emplace_back(SplitPattern{Regex(gpt2_pattern)});
  steps.emplace_back(ToBytes{});
}

void append_pre_tokenizer_step(const std::string& type, const JsonFields& fields,
                               std::vector<PreTokenizerStep>& steps) {
  if (type == "ByteLevel") {
    append_byte_level(fields, steps);
  } else if (type == "Split") {
    append_split(fields, steps);
  } else if (type == "Metaspace") {
    steps.emplace_back(Metaspace{mark_from(fields, "replacement", "\u2581"), prefix_from(fields),
                                 fields.flag_or("split", true)});
  } else if (type == "BertPreTokenizer") {
    steps.emplace_back(SplitChars{is_whitespace, SplitBehavior::Removed});
    steps.emplace_back(SplitChars{is_punctuation, SplitBehavior::Isolated});
  } else if (type == "Whitespace") {
    steps.emplace_back(SplitPattern{Regex(R"(\w+|[^\w\s]+)"), SplitBehavior::Removed, true});
  } else if (type == "WhitespaceSplit") {
    steps.emplace_back(SplitChars{is_whitespace, SplitBehavior::Removed});
  } else if (type == "Digits") {
    const bool alone = fields.flag_or("individual_digits", false);
    steps.emplace_back(
        SplitChars{is_number, alone ? SplitBehavior::Isolated : SplitBehavior::Contiguous});
  } else if (type == "Punctuation") {
    steps.emplace_back(
        SplitChars{is_punctuation, behavior_from(fields.text_or("behavior", "Isolated"))});
  } else if (type == "CharDelimiterSplit") {
    steps.emplace_back(SplitText{mark_from(fields, "delimiter", ""), SplitBehavior::Removed});
  } else {
    fail_unknown(type);
  }
}

DecodeStep decoder_step(const std::string& type, const JsonFields& fields) {
  if (type == "ByteLevel") return DecodeBytes{};
  if (type == "ByteFallback") return DecodeByteFallback{};
  if (type == "Fuse") return DecodeFuse{};
  if (type == "Metaspace") {
    return DecodeMetaspace{mark_from(fields, "replacement", "\u2581"),
                           prefix_from(fields) != Prefix::Never};
  }
  if (type == "Replace") {
    Pattern pattern = pattern_from(fields.at("pattern"));
    check(!pattern.is_regex, "a decoder that replaces by a pattern is not supported");
    return DecodeReplace{std::move(pattern.text), fields.text("content")};
  }
  if (type == "Strip") {
    return DecodeStrip{mark_from(fields, "content", " "), fields.integer_or("start", 0),
                       fields.integer_or("stop", 0)};
  }
  if (type == "WordPiece") {
    return DecodeWordPiece{fields.text_or("prefix", "##"), fields.flag_or("cleanup", true)};
  }
  fail_unknown(type);
}

std::vector<TokenId> ids_of(const JsonValue& special_tokens, const std::string& name) {
  const auto it = special_tokens.find(name);
  check(it != special_tokens.end(), "the template has no special token \"{}\"", shortened(name));
  std::vector<TokenId> ids;
  for (const JsonValue& id : JsonFields(*it, "a special token").array("ids")) {
    ids.push_back(token_id_from(id));
  }
  return ids;
}

void add_template(const JsonFields& fields, Surroundings& around) {
  bool is_behind = false;
  std::vector<TokenId> before, behind;
  for (const JsonValue& piece : fields.array("single")) {
    const JsonFields piece_fields(piece, "a piece of the template");
    if (piece_fields.find("Sequence")) {
      check(!std::exchange(is_behind, true), "the template has the text twice");
      continue;
    }
    const JsonFields token(piece_fields.at("SpecialToken"), "a piece of the template");
    std::vector<TokenId>& side = is_behind ? behind : before;
    const auto ids = ids_of(fields.object("special_tokens"), token.text("id"));
    side.insert(side.end(), ids.begin(), ids.end());
  }
  check(is_behind, "the template has no text");
  around.before.insert(around.before.begin(), before.begin(), before.end());
  around.behind.insert(around.behind.end(), behind.begin(), behind.end());
}

// ["[SEP]", 102]
TokenId token_of_pair(const JsonFields& fields, const char* name) {
  const JsonValue& pair = fields.array(name);
  check(pair.size() == 2, "\"{}\" is not a token and its number", name);
  return token_id_from(pair[1]);
}

}  // namespace

void append_normalizer(const JsonValue& json, std::vector<NormalizerStep>& steps) {
  const JsonFields fields(json, "the normalizer");
  const std::string& type = fields.text("type");
  if (type == "Sequence") return append_all(fields.array("normalizers"), steps, append_normalizer);
  steps.push_back(normalizer_step(type, fields));
}

void append_pre_tokenizer(const JsonValue& json, std::vector<PreTokenizerStep>& steps) {
  const JsonFields fields(json, "the pre-tokenizer");
  const std::string& type = fields.text("type");
  if (type == "Sequence") {
    return append_all(fields.array("pretokenizers"), steps, append_pre_tokenizer);
  }
  append_pre_tokenizer_step(type, fields, steps);
}

void append_decoder(const JsonValue& json, std::vector<DecodeStep>& steps) {
  const JsonFields fields(json, "the decoder");
  const std::string& type = fields.text("type");
  if (type == "Sequence") return append_all(fields.array("decoders"), steps, append_decoder);
  steps.push_back(decoder_step(type, fields));
}

void add_surroundings(const JsonValue& json, Surroundings& around) {
  const JsonFields fields(json, "the post-processor");
  const std::string& type = fields.text("type");
  if (type == "Sequence") {
    for (const JsonValue& member : fields.array("processors")) add_surroundings(member, around);
  } else if (type == "TemplateProcessing") {
    add_template(fields, around);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    around.before.insert(around.before.begin(), token_of_pair(fields, "cls"));
    around.behind.push_back(token_of_pair(fields, "sep"));
  } else if (type != "ByteLevel") {  // which moves offsets, and no tokens
    fail_unknown(type);
  }
}

}  // namespace croze::llm
