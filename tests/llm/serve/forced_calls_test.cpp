// Grammars that force calls: what they write is read as calls of the tools that were asked for.
#include "croze/llm/serve/forced_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "croze/llm/grammar/grammar.h"
#include "croze/llm/serve/refusal.h"
#include "croze/llm/serve/reply_parts.h"
#include "llm/grammar/reading.h"

namespace croze::llm::serve {
namespace {

using test::accepts;

const jinja::Value& tools() {
  static const jinja::Value value = jinja::Value::parse(R"([
    {"type": "function", "function": {"name": "f", "parameters":
      {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["x"],
       "$defs": {"n": {"type": "integer"}}}}},
    {"type": "function", "function": {"name": "g", "parameters":
      {"properties": {"y": {"$ref": "#/$defs/n"}}, "required": ["y"],
       "$defs": {"n": {"type": "boolean"}}}}},
    {"type": "function", "function": {"name": "h"}}])");
  return value;
}

bool is_allowed(const ForcedCalls& forced, std::string_view text) {
  return accepts(Grammar::parse(forced_calls_grammar(tools(), forced)), text);
}

constexpr const char* call_f = R"({"name": "f", "arguments": {"x": 1}})";
constexpr const char* call_g = R"({"name": "g", "arguments": {"y": true}})";

TEST(ForcedCallsTest, EachToolHasItsOwnArguments) {
  for (const char* text : {call_f, call_g, R"({"name":"h","arguments":{}})",
                           R"({"name":"h","arguments":{"z": [1]}})"}) {
    EXPECT_TRUE(is_allowed({}, text)) << text;
  }
  for (const char* text : {"", "Hello", R"({"name": "f", "arguments": {"x": true}})",
                           R"({"name": "g", "arguments": {"y": 1}})",
                           R"({"name": "i", "arguments": {}})", R"({"name": "f"})"}) {
    EXPECT_FALSE(is_allowed({}, text)) << text;
  }
  EXPECT_TRUE(is_allowed({.function = "g"}, call_g));
  EXPECT_FALSE(is_allowed({.function = "g"}, call_f));
}

TEST(ForcedCallsTest, OneOrMany) {
  const std::string two = fmt::format("[{}, {}]", call_f, call_g);
  EXPECT_TRUE(is_allowed({}, two));
  EXPECT_FALSE(is_allowed({.can_be_many = false}, two));
  const std::string marked = fmt::format("<tool_call>\n{}\n</tool_call>", call_f);
  EXPECT_TRUE(is_allowed({.can_be_many = false, .is_marked = true}, marked));
  EXPECT_TRUE(is_allowed({.is_marked = true}, marked + "\n" + marked));
  EXPECT_FALSE(is_allowed({.can_be_many = false, .is_marked = true}, marked + "\n" + marked));
  EXPECT_FALSE(is_allowed({.is_marked = true}, call_f));
}

TEST(ForcedCallsTest, ThoughtsComeFirstWhereThePromptBeginsThem) {
  const std::string text = fmt::format("1 < 2, so f</think>\n\n{}", call_f);
  EXPECT_FALSE(is_allowed({.begins_with_reasoning = true}, call_f));
  EXPECT_FALSE(is_allowed({.begins_with_reasoning = true}, text + "</think>"));
  EXPECT_TRUE(
      is_allowed({.begins_with_reasoning = true}, fmt::format("1 < 2, so f</think>\n{}", call_f)));
}

TEST(ForcedCallsTest, WhateverIsWrittenIsReadAsCalls) {
  for (const bool is_marked : {false, true}) {
    const Grammar grammar = Grammar::parse(forced_calls_grammar(tools(), {.is_marked = is_marked}));
    for (unsigned seed = 0; seed < 100; seed++) {
      const std::string text = test::random_text(grammar, seed);
      ReplyParser parser({.has_tools = true});
      ReplyParts parts = parser.push(text), rest = parser.finish();
      EXPECT_EQ(parts.content + rest.content, "") << text;
      EXPECT_GE(parts.calls.size() + rest.calls.size(), 1u) << text;
    }
  }
}

TEST(ForcedCallsTest, WhatCannotBeForcedIsNamed) {
  const auto refused = [](const jinja::Value& list, const std::string& function) {
    try {
      forced_calls_grammar(list, {.function = function});
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.status(), 400);
      return refusal.field();
    }
    return std::string();
  };
  EXPECT_EQ(refused(tools(), "i"), "tool_choice");
  const jinja::Value wrong = jinja::Value::parse(R"([{"type": "function", "function":
      {"name": "f", "parameters": {"properties": {"x": {"type": "integer", "minimum": 3}}}}}])");
  EXPECT_EQ(refused(wrong, ""), "tools[0].function.parameters");
}

}  // namespace
}  // namespace croze::llm::serve
