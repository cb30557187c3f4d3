// load.cpp -- templates and tokens from files.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/io/gguf/header.h"
#include "croze/llm/template/chat_template.h"
#include "croze/llm/template/dict.h"

namespace croze::llm {
namespace {

using jinja::Dict;
using jinja::Value;

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

// What templates call the tokens, as Hugging Face does; how GGUF calls them is another thing.
constexpr std::array<const char*, 7> token_names = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
constexpr std::pair<const char*, const char*> gguf_tokens[] = {
    {"bos_token", "bos"},       {"eos_token", "eos"},     {"unk_token", "unknown"},
    {"sep_token", "seperator"}, {"pad_token", "padding"}, {"cls_token", "cls"},
    {"mask_token", "mask"}};

const std::string& text_member(const Dict& dict, const char* name, const std::string& path) {
  const Value* value = dict.find_name(name);
  check(value && value->is_text(), "{}: a chat template without a text \"{}\"", path, name);
  return value->text();
}

}  // namespace

void ChatTemplate::read_config(std::string_view json, const std::string& path,
                               bool with_templates) {
  const Value config = Value::parse(json, path);
  check(config.dict() != nullptr, "{} is no object", path);
  for (const char* name : token_names) {
    const Value* token = config.dict()->find_name(name);
    if (token && token->dict()) token = token->dict()->find_name("content");
    if (token && token->is_text()) set_token(name, token->text());
  }
  const Value* chat = config.dict()->find_name("chat_template");
  if (!with_templates || !chat || chat->is_none()) return;
  if (chat->is_text()) return add("default", chat->text(), path + ": chat_template");
  check(chat->sequence() != nullptr, "{}: \"chat_template\" is neither a text nor a list", path);
  for (const Value& entry : chat->sequence()->elements) {
    check(entry.dict() != nullptr, "{}: a chat template that is no object", path);
    const std::string& name = text_member(*entry.dict(), "name", path);
    add(name, text_member(*entry.dict(), "template", path),
        fmt::format("{}: chat_template \"{}\"", path, name.substr(0, 80)));
  }
}

ChatTemplate ChatTemplate::from_gguf(const GgufMetadata& metadata) {
  const std::string key = "tokenizer.chat_template", prefix = key + ".";
  ChatTemplate result;
  const auto read = [&](const std::string& name, const std::string& from) {
    result.add(name, metadata.text(from), metadata.source() + ": " + from.substr(0, 120));
  };
  if (metadata.has(key)) read("default", key);
  if (metadata.has("tokenizer.chat_templates")) {
    for (const std::string& name : metadata.texts("tokenizer.chat_templates")) {
      read(name, prefix + name);
    }
  }
  check(!result.templates_.empty(), "{} has no chat template", metadata.source());
  if (!metadata.has("tokenizer.ggml.tokens")) return result;
  const std::vector<std::string>& tokens = metadata.texts("tokenizer.ggml.tokens");
  for (const auto& [variable, name] : gguf_tokens) {
    const std::string id_key = fmt::format("tokenizer.ggml.{}_token_id", name);
    if (!metadata.has(id_key)) continue;
    const std::int64_t id = metadata.integer(id_key);
    check(id >= 0 && id < std::ssize(tokens), "{}: \"{}\" is {}, which is no token",
          metadata.source(), id_key, id);
    result.set_token(variable, tokens[static_cast<std::size_t>(id)]);
  }
  return result;
}

ChatTemplate ChatTemplate::load(const std::string& path) {
  const MappedFile file(path);
  if (as_text(file.data()).starts_with("GGUF")) {
    return from_gguf(read_gguf_header(file.data(), path).metadata);
  }
  const std::size_t slash = path.rfind('/');
  const std::size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  const std::string folder = path.substr(0, name_begin), name = path.substr(name_begin);
  const std::string config = folder + "tokenizer_config.json";
  const std::string source = folder + "chat_template.jinja";
  const bool of_folder = name == "tokenizer_config.json" || name == "tokenizer.json";
  const bool has_source = of_folder && exists(source);
  ChatTemplate result;
  if (!of_folder) result.add("default", as_text(file.data()), path);
  if (has_source) result.add("default", as_text(MappedFile(source).data()), source);
  if (exists(config)) {
    result.read_config(as_text(MappedFile(config).data()), config, of_folder && !has_source);
  }
  check(!result.templates_.empty(), "{}: there is no chat template", path);
  return result;
}

}  // namespace croze::llm
