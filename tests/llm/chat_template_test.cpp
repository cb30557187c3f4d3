// What Jinja, set up as Hugging Face does it, makes of templates; golden/make_chat_templates.py
// recorded it.
#include "croze/llm/template/chat_template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "croze/base/bytes.h"
#include "croze/io/gguf/value.h"
#include "croze/io/gzip.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "support/files.h"

namespace croze::llm {
namespace {

using Json = nlohmann::ordered_json;  // of which templates see the order
using jinja::Value;
using test::error_of;

Value value_of(const Json& json) { return Value::parse(json.dump()); }

std::tm recorded_time() {
  std::tm time{};
  time.tm_year = 126, time.tm_mon = 1, time.tm_mday = 3;
  time.tm_hour = 4, time.tm_min = 5, time.tm_sec = 6;
  return time;
}

ChatInput input_of(const Json& chat, const Json& tokens) {
  ChatInput input;
  input.messages = value_of(chat["messages"]);
  if (chat.contains("tools")) input.tools = value_of(chat["tools"]);
  input.add_generation_prompt = chat.value("add_generation_prompt", false);
  for (const Json& variables : {tokens, chat.value("variables", Json::object())}) {
    for (const auto& [name, value] : variables.items()) {
      input.variables.emplace_back(name, value_of(value));
    }
  }
  input.now = recorded_time();
  return input;
}

TEST(ChatTemplates, PrintWhatJinjaPrintsAndRefuseWhatItRefuses) {
  const std::vector<std::byte> bytes =
      GzipReader(CHAT_TEMPLATES "/expected.json.gz").read(std::int64_t{1} << 30);
  const Json recorded = Json::parse(as_text(bytes));
  ASSERT_GT(recorded["cases"].size(), 500u);
  for (const Json& one : recorded["cases"]) {
    const auto source = one["template"].get<std::string>();
    SCOPED_TRACE(one["name"].get<std::string>() + ": " + source);
    const ChatInput input =
        input_of(recorded["chats"][one["chat"].get<std::string>()], recorded["tokens"]);
    std::string printed, problem;
    try {
      printed = ChatTemplate::from_source(source).render(input);
    } catch (const Error& e) {
      problem = e.message();
    }
    if (one["text"].is_null()) {
      EXPECT_NE(problem, "") << "printed " << printed;
    } else {
      EXPECT_EQ(problem, "");
      EXPECT_EQ(printed, one["text"].get<std::string>());
    }
  }
}

}  // namespace
}  // namespace croze::llm
