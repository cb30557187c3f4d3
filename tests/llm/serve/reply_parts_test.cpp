// Replies taken apart: the same however they are cut into pieces.
#include "croze/llm/serve/reply_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace croze::llm::serve {
namespace {

ReplyParts parsed(std::string_view text, ReplyParser::Options options, std::size_t piece) {
  ReplyParser parser(options);
  ReplyParts all;
  const auto add = [&](ReplyParts parts) {
    all.content += parts.content;
    all.reasoning += parts.reasoning;
    std::ranges::move(parts.calls, std::back_inserter(all.calls));
  };
  for (std::size_t i = 0; i < text.size(); i += piece) add(parser.push(text.substr(i, piece)));
  add(parser.finish());
  return all;
}

struct Expected {
  std::string content, reasoning;
  std::vector<std::string> calls;  // name and arguments
};

void expect(std::string_view text, ReplyParser::Options options, const Expected& expected) {
  for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
    const ReplyParts parts = parsed(text, options, piece);
    EXPECT_EQ(parts.content, expected.content) << text << " by " << piece;
    EXPECT_EQ(parts.reasoning, expected.reasoning) << text << " by " << piece;
    std::vector<std::string> calls;
    for (const ToolCall& call : parts.calls) calls.push_back(call.name + call.arguments);
    EXPECT_EQ(calls, expected.calls) << text << " by " << piece;
  }
}

constexpr ReplyParser::Options plain{}, tools{.has_tools = true},
    thinking{.begins_with_reasoning = true};

TEST(ReplyParts, TextsStayAsTheyAre) {
  expect("Hello <b>you</b>", plain, {"Hello <b>you</b>", "", {}});
  expect("a < b and <thin", plain, {"a < b and <thin", "", {}});
  expect("", plain, {});
  expect("<tool_call>{\"name\": \"f\"}</tool_call>", plain,
         {"<tool_call>{\"name\": \"f\"}</tool_call>", "", {}});
}

TEST(ReplyParts, Thoughts) {
  expect("<think>\nWell.</think>\n\nYes.", plain, {"Yes.", "Well.", {}});
  expect("Well.</think>Yes.", thinking, {"Yes.", "Well.", {}});
  expect("<think>no end", plain, {"", "no end", {}});
  expect("say <think>", plain, {"say <think>", "", {}});
}

TEST(ReplyParts, CallsBetweenMarks) {
  expect("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": [1, \"<\"]}}\n</tool_call>", tools,
         {"", "", {"f{\"x\":[1,\"<\"]}"}});
  expect(
      "Look: <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>\n"
      "<tool_call>{\"name\": \"g\"}</tool_call>",
      tools, {"Look: ", "", {"f{}", "g{}"}});
  expect("<think>a</think><tool_call>{\"name\": \"f\"}</tool_call>", tools, {"", "a", {"f{}"}});
  expect("<tool_call>{\"name\": \"f\", \"arguments\": {}}", tools, {"", "", {"f{}"}});
}

TEST(ReplyParts, CallsThatAreTheWholeReply) {
  expect(R"({"name": "f", "parameters": {"x": 1}})", tools, {"", "", {"f{\"x\":1}"}});
  expect(R"( [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}])", tools,
         {"", "", {"f{}", "g{}"}});
  expect(R"({"answer": 42})", tools, {R"({"answer": 42})", "", {}});
}

TEST(ReplyParts, WhatIsNoCallIsText) {
  expect("<tool_call>f(1)</tool_call> so", tools, {"<tool_call>f(1)</tool_call>so", "", {}});
  const std::string deep = "<tool_call>" + std::string(100000, '[') + "</tool_call>";
  ReplyParser parser(tools);
  EXPECT_EQ(parser.push(deep).content, deep);
}

}  // namespace
}  // namespace croze::llm::serve
