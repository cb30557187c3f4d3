#include "croze/llm/template/chat_template.h"

#include <algorithm>

#include "croze/base/error.h"
#include "croze/llm/template/ast.h"
#include "croze/llm/template/interpreter.h"
#include "croze/llm/template/parser.h"
#include "croze/llm/template/source.h"
#include "croze/llm/tokenizer/tokenizer.h"

namespace croze::llm {

struct ChatTemplate::Named {
  Named(std::string known_as, std::string_view text, const std::string& what)
      : name(std::move(known_as)), source(text, what), body(jinja::Parser(source).parse()) {}

  std::string name;
  jinja::Source source;
  jinja::Body body;
};

ChatTemplate::ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

void ChatTemplate::add(const std::string& name, std::string_view source, const std::string& what) {
  const bool is_known =
      std::ranges::any_of(templates_, [&](const auto& t) { return t->name == name; });
  check(!is_known, "{}: two templates of this name", what);
  templates_.push_back(std::make_unique<const Named>(name, source, what));
}

ChatTemplate ChatTemplate::from_source(std::string_view source, const std::string& name) {
  ChatTemplate result;
  result.add("default", source, name);
  return result;
}

void ChatTemplate::set_token(const std::string& variable, std::string text) {
  std::erase_if(tokens_, [&](const auto& token) { return token.first == variable; });
  tokens_.emplace_back(variable, std::move(text));
}

void ChatTemplate::use_tokens_of(const Tokenizer& tokenizer) {
  const SpecialTokens& special = tokenizer.special();
  const std::pair<const char*, TokenId> tokens[] = {{"bos_token", special.bos},
                                                    {"eos_token", special.eos},
                                                    {"pad_token", special.pad},
                                                    {"unk_token", special.unknown}};
  for (const auto& [variable, id] : tokens) {
    if (id != no_token) set_token(variable, std::string(tokenizer.token_text(id)));
  }
}

std::vector<std::string> ChatTemplate::names() const {
  std::vector<std::string> names;
  for (const auto& t : templates_) names.push_back(t->name);
  return names;
}

const ChatTemplate::Named& ChatTemplate::chosen(const ChatInput& input) const {
  const auto find = [&](std::string_view name) {
    const auto it =
        std::ranges::find_if(templates_, [&](const auto& t) { return t->name == name; });
    return it == templates_.end() ? nullptr : it->get();
  };
  const Named* found = nullptr;
  if (!input.name.empty()) {
    found = find(input.name);
  } else {
    if (!input.tools.is_none()) found = find("tool_use");
    if (!found) found = find("default");
  }
  check(found != nullptr, "there is no chat template \"{}\"",
        input.name.empty() ? "default" : input.name);
  return *found;
}

std::string ChatTemplate::render(const ChatInput& input) const {
  check(input.messages.sequence() != nullptr, "the messages of a chat are no list but {}",
        input.messages.type_name());
  const Named& chat = chosen(input);
  std::tm now{};
  const std::time_t time = std::time(nullptr);
  localtime_r(&time, &now);
  jinja::Variables variables = {{"messages", input.messages},
                                {"tools", input.tools},
                                {"documents", jinja::Value()},
                                {"add_generation_prompt", input.add_generation_prompt}};
  variables.insert(variables.end(), tokens_.begin(), tokens_.end());
  variables.insert(variables.end(), input.variables.begin(), input.variables.end());
  jinja::Interpreter interpreter(chat.source, input.limits, input.now.value_or(now));
  return interpreter.run(chat.body, variables);
}

}  // namespace croze::llm
