// chat_template.h -- conversations to the text that a model was trained on.
//
// A model that chats comes with a template in the language Jinja, which writes messages, tools and
// the marks between them:
//
//     llm::ChatTemplate chat = llm::ChatTemplate::load("model.gguf");
//     llm::ChatInput input;
//     input.messages = llm::jinja::Value::parse(R"([{"role": "user", "content": "Hello"}])");
//     input.add_generation_prompt = true;
//     std::string text = chat.render(input);
//
// The text is that of Hugging Face's apply_chat_template.  Encode it with parse_special and without
// add_special: the template has written the special tokens.  What users write may hold such tokens,
// too; a template does not keep them apart.
//
// Templates are programs from wherever the model comes from.  They see what they are given here and
// the time, can change nothing, and end by limits on steps and memory.  A ChatTemplate does not
// change after it has been made: threads may share it.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/llm/template/limits.h"
#include "croze/llm/template/value.h"

namespace croze {
class GgufMetadata;
}

namespace croze::llm {

class Tokenizer;

struct ChatInput {
  // Values of a dict for each message: "role", "content" and what else the template reads.
  jinja::Value messages;
  jinja::Value tools;  // none, or a list of JSON schemas
  // Ends with what begins an answer.
  bool add_generation_prompt = false;
  // More variables of the template, as "enable_thinking"; they may also replace tokens,
  // "bos_token".
  std::vector<std::pair<std::string, jinja::Value>> variables;
  // Which of several templates; empty for "tool_use" if there are tools and it exists, else
  // "default".
  std::string name;
  std::optional<std::tm> now;  // what strftime_now tells; by default the local time
  jinja::Limits limits;
};

class ChatTemplate {
 public:
  // Reads templates and the names of special tokens:
  //   a GGUF file;
  //   a tokenizer_config.json, or the tokenizer.json beside it: a chat_template.jinja in the same
  //   folder counts for more than what the configuration has;
  //   a file of any other name: the text of a template.  A tokenizer_config.json beside it is read
  //   for its tokens.
  //
  // Throws Error naming the file, line and column if there is no template, or if it uses what is
  // not supported.
  static ChatTemplate load(const std::string& path);
  // "tokenizer.chat_template" and the others of that name.  Throws Error as load does.
  static ChatTemplate from_gguf(const GgufMetadata& metadata);
  // The text of one template; `name` is what messages call it.  It knows no tokens.
  static ChatTemplate from_source(std::string_view source,
                                  const std::string& name = "chat template");

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // Sets "bos_token" and the like to the special tokens of a tokenizer, where it has them.
  void use_tokens_of(const Tokenizer& tokenizer);

  // "default", "tool_use", ..: what there is.
  std::vector<std::string> names() const;

  // Throws Error naming line and column: what the template itself raises, a value that it uses and
  // that is missing or of another type, what is not supported, or a limit that is reached.
  std::string render(const ChatInput& input) const;

 private:
  struct Named;
  ChatTemplate();
  void add(const std::string& name, std::string_view source, const std::string& what);
  void set_token(const std::string& variable, std::string text);
  void read_config(std::string_view json, const std::string& path, bool with_templates);
  const Named& chosen(const ChatInput& input) const;

  std::vector<std::unique_ptr<const Named>> templates_;
  std::vector<std::pair<std::string, jinja::Value>> tokens_;
};

}  // namespace croze::llm
