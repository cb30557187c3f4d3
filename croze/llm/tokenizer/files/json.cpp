// json.cpp -- a tokenizer.json as a whole, and what the tokenizer_config.json beside it says.
#include <new>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/files/json_parts.h"
#include "croze/llm/tokenizer/parts.h"

namespace croze::llm {
namespace {

constexpr int max_depth = 24;

JsonValue parsed(std::string_view text, const std::string& path) {
  const auto keep = [&](int depth, JsonValue::parse_event_t, JsonValue&) {
    check(depth <= max_depth, "{}: nested more than {} deep", path, max_depth);
    return true;
  };
  try {
    return JsonValue::parse(text, keep);
  } catch (const JsonValue::exception& e) {
    fail({}, "{}: not valid JSON: {}", path, shortened(e.what()));
  }
}

std::vector<AddedToken> added_from(const JsonValue& list) {
  std::vector<AddedToken> tokens;
  for (const JsonValue& json : list) {
    const JsonFields fields(json, "an added token");
    AddedToken token;
    token.id = token_id_from(fields.at("id"));
    token.text = fields.text("content");
    token.special = fields.flag_or("special", false);
    token.normalized = fields.flag_or("normalized", !token.special);
    token.single_word = fields.flag_or("single_word", false);
    token.strip_left = fields.flag_or("lstrip", false);
    token.strip_right = fields.flag_or("rstrip", false);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Reads a component if the file has it; a mistake in it names file and component.
template <typename Read>
void component(const JsonFields& fields, const char* name, const std::string& path, Read read) {
  const JsonValue* json = fields.find(name);
  if (!json) return;
  try {
    read(*json);
  } catch (const Error& e) {
    fail({}, "{}: {}: {}", path, name, e.message());
  } catch (const std::bad_alloc&) {
    fail({}, "{}: {}: out of memory", path, name);
  }
}

}  // namespace

void read_special_tokens(std::string_view text, const std::string& path, TokenizerParts& parts) {
  const JsonValue json = parsed(text, path);
  const JsonFields fields(json, path);
  const std::pair<const char*, TokenId*> wanted[] = {{"bos_token", &parts.special.bos},
                                                     {"eos_token", &parts.special.eos},
                                                     {"pad_token", &parts.special.pad}};
  for (const auto& [name, id] : wanted) {
    const JsonValue* value = fields.find(name);
    if (value && value->is_object()) value = JsonFields(*value, name).find("content");
    if (!value || !value->is_string()) continue;
    const auto& wanted_text = value->get_ref<const std::string&>();
    for (const AddedToken& token : parts.added) {
      if (token.text == wanted_text) *id = token.id;
    }
  }
}

TokenizerParts parts_from_json(std::string_view text, const std::string& path) {
  const JsonValue json = parsed(text, path);
  const JsonFields fields(json, path);
  TokenizerParts parts;
  fields.object("model");
  component(fields, "model", path, [&](const JsonValue& j) { parts.model = model_from(j); });
  component(fields, "added_tokens", path, [&](const JsonValue& j) { parts.added = added_from(j); });
  component(fields, "normalizer", path, [&](const JsonValue& j) {
    std::vector<NormalizerStep> steps;
    append_normalizer(j, steps);
    parts.normalizer = Normalizer(std::move(steps));
  });
  component(fields, "pre_tokenizer", path, [&](const JsonValue& j) {
    std::vector<PreTokenizerStep> steps;
    append_pre_tokenizer(j, steps);
    parts.pre_tokenizer = PreTokenizer(std::move(steps));
  });
  parts.decoder = Decoder({DecodeSpaces{}});
  component(fields, "decoder", path, [&](const JsonValue& j) {
    std::vector<DecodeStep> steps;
    append_decoder(j, steps);
    parts.decoder = Decoder(std::move(steps));
  });
  component(fields, "post_processor", path, [&](const JsonValue& j) {
    Surroundings around;
    add_surroundings(j, around);
    parts.before = std::move(around.before);
    parts.behind = std::move(around.behind);
  });
  return parts;
}

}  // namespace croze::llm
