// conversation.cpp -- messages to prompts.
#include "croze/llm/generate/conversation.h"

#include <utility>

namespace croze::llm {

std::vector<TokenId> chat_prompt(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                 std::span<const Message> messages) {
  using jinja::Value;
  std::vector<Value> list;
  for (const Message& m : messages) {
    list.push_back(Value::dict({{"role", m.role}, {"content", m.content}}));
  }
  ChatInput input;
  input.messages = Value::list(std::move(list));
  input.add_generation_prompt = true;
  return tokenizer.encode(chat.render(input), {.add_special = false, .parse_special = true});
}

}  // namespace croze::llm
