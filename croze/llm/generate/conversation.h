// conversation.h -- messages by turns, as a chat template writes them for a model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "croze/llm/template/chat_template.h"
#include "croze/llm/tokenizer/tokenizer.h"

namespace croze::llm {

struct Message {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

// The prompt of the answer to the last of the messages.  Throws Error as ChatTemplate::render does.
std::vector<TokenId> chat_prompt(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                 std::span<const Message> messages);

}  // namespace croze::llm
