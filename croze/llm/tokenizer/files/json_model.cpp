// json_model.cpp -- the models of a tokenizer.json.
#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/bpe.h"
#include "croze/llm/tokenizer/files/json_parts.h"
#include "croze/llm/tokenizer/unigram.h"
#include "croze/llm/tokenizer/word_piece.h"

namespace croze::llm {
namespace {

Vocabulary vocabulary_from(const JsonFields& fields) {
  Vocabulary vocabulary;
  for (const auto& [text, id] : fields.object("vocab").items()) {
    vocabulary.add(token_id_from(id), text);
  }
  return vocabulary;
}

TokenId known(const Vocabulary& vocabulary, std::string_view text) {
  const TokenId id = vocabulary.find(text);
  check(id != no_token, "the token \"{}\" is not in the vocabulary", shortened(text));
  return id;
}

// "ab c", or since 2024 ["ab", "c"].
std::pair<std::string_view, std::string_view> pair_from(const JsonValue& json) {
  if (json.is_array()) {
    check(json.size() == 2 && json[0].is_string() && json[1].is_string(),
          "a merge is not two texts");
    return {json[0].get_ref<const std::string&>(), json[1].get_ref<const std::string&>()};
  }
  check(json.is_string(), "a merge is not a text");
  const std::string_view text = json.get_ref<const std::string&>();
  const std::size_t space = text.find(' ');
  check(space != std::string_view::npos && text.find(' ', space + 1) == std::string_view::npos,
        "the merge \"{}\" is not two texts", shortened(text));
  return {text.substr(0, space), text.substr(space + 1)};
}

std::unique_ptr<Model> bpe_from(const JsonFields& fields) {
  Vocabulary vocabulary = vocabulary_from(fields);
  BpeOptions options;
  options.fuse_unknown = fields.flag_or("fuse_unk", false);
  options.byte_fallback = fields.flag_or("byte_fallback", false);
  options.whole_words = fields.flag_or("ignore_merges", false);
  options.prefix = fields.text_or("continuing_subword_prefix", "");
  options.suffix = fields.text_or("end_of_word_suffix", "");
  check(std::max(options.prefix.size(), options.suffix.size()) <= max_mark_bytes,
        "a prefix or suffix is longer than {} bytes", max_mark_bytes);
  const JsonValue* dropout = fields.find("dropout");
  check(!dropout || (dropout->is_number() && dropout->get<double>() == 0),
        "dropout of merges is not supported");
  if (fields.find("unk_token")) options.unknown = known(vocabulary, fields.text("unk_token"));
  std::vector<Merge> merges;
  std::string merged;
  for (const JsonValue& json : fields.array("merges")) {
    const auto [left, right] = pair_from(json);
    merged = left;
    merged += right.starts_with(options.prefix) ? right.substr(options.prefix.size()) : right;
    const auto rank = static_cast<std::uint32_t>(merges.size());
    merges.push_back(
        {known(vocabulary, left), known(vocabulary, right), known(vocabulary, merged), rank});
  }
  return std::make_unique<BpeModel>(std::move(vocabulary), merges, std::move(options));
}

std::unique_ptr<Model> unigram_from(const JsonFields& fields) {
  Vocabulary vocabulary;
  std::vector<double> scores;
  for (const JsonValue& json : fields.array("vocab")) {
    check(json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_number(),
          "token {} is not a text and a score", scores.size());
    vocabulary.add(static_cast<TokenId>(scores.size()), json[0].get<std::string>());
    scores.push_back(json[1].get<double>());
  }
  UnigramOptions options{.byte_fallback = fields.flag_or("byte_fallback", false)};
  if (fields.find("unk_id")) {
    options.unknown = token_id_from(fields.at("unk_id"));
    check(options.unknown < vocabulary.end_id(), "unk_id is {}, with {} tokens", options.unknown,
          vocabulary.end_id());
  }
  const std::vector<bool> takes_part(scores.size(), true);
  return std::make_unique<UnigramModel>(std::move(vocabulary), std::move(scores), takes_part,
                                        options);
}

std::unique_ptr<Model> word_piece_from(const JsonFields& fields) {
  Vocabulary vocabulary = vocabulary_from(fields);
  WordPieceOptions options;
  options.unknown = known(vocabulary, fields.text_or("unk_token", "[UNK]"));
  options.prefix = fields.text_or("continuing_subword_prefix", "##");
  options.max_word_chars = fields.integer_or("max_input_chars_per_word", 100);
  return std::make_unique<WordPieceModel>(std::move(vocabulary), options);
}

// Files of before 2020 do not say it.
std::string type_of(const JsonFields& fields) {
  if (fields.find("type")) return fields.text("type");
  if (fields.find("merges")) return "BPE";
  return fields.at("vocab").is_array() ? "Unigram" : "WordPiece";
}

}  // namespace

std::unique_ptr<Model> model_from(const JsonValue& json) {
  const JsonFields fields(json, "the model");
  const std::string type = type_of(fields);
  if (type == "BPE") return bpe_from(fields);
  if (type == "Unigram") return unigram_from(fields);
  if (type == "WordPiece") return word_piece_from(fields);
  fail({}, "\"{}\" is not supported", shortened(type));
}

}  // namespace croze::llm
