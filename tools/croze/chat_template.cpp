// chat_template.cpp -- croze chat-template FILE: a conversation as the text that a model is given.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/llm/template/chat_template.h>
#include <croze/llm/template/dict.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "command_line/json.h"
#include "commands.h"

namespace croze::tool {
namespace {

using llm::jinja::Value;

struct Settings {
  std::string file, messages, tools, variables, name;
  bool generation_prompt = false, json = false;
};

Value value_of(const std::string& path) {
  const MappedFile file(path);
  return Value::parse(as_text(file.data()), path);
}

void print_chat(const Settings& settings) {
  const llm::ChatTemplate chat = llm::ChatTemplate::load(settings.file);
  llm::ChatInput input;
  input.messages = value_of(settings.messages);
  if (!settings.tools.empty()) input.tools = value_of(settings.tools);
  if (!settings.variables.empty()) {
    const Value variables = value_of(settings.variables);
    check(variables.dict() != nullptr, "{} is no object", settings.variables);
    for (const auto& [name, value] : variables.dict()->members()) {
      input.variables.emplace_back(name.text(), value);
    }
  }
  input.add_generation_prompt = settings.generation_prompt;
  input.name = settings.name;
  const std::string text = chat.render(input);
  if (settings.json) {
    fmt::print("{}\n", Json{{"templates", chat.names()}, {"text", text}}.dump());
  } else if (isatty(STDOUT_FILENO)) {
    fmt::print("{}\n", printable(text));
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

}  // namespace

void add_chat_template(const Command& program) {
  const Command command =
      program.subcommand("chat-template", "Write a conversation as a model is given it");
  const auto settings = std::make_shared<Settings>();
  command.option("file", settings->file, "GGUF file, tokenizer_config.json or template").required();
  command.option("--messages", settings->messages, "JSON file: a list of messages").required();
  command.option("--tools", settings->tools, "JSON file: a list of tools");
  command.option("--variables", settings->variables, "JSON file: more variables of the template");
  command.option("--name", settings->name, "Which of several templates");
  command.flag("--generation-prompt", settings->generation_prompt,
               "End with what begins an answer");
  command.flag("--json", settings->json, "Print one line of JSON");
  command.action([settings] { print_chat(*settings); });
}

}  // namespace croze::tool
