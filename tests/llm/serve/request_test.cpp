// Requests: what is read of them, and how each thing that is wrong is named.
#include "croze/llm/serve/request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "croze/llm/serve/refusal.h"
#include "croze/llm/template/chat_template.h"

namespace croze::llm::serve {
namespace {

constexpr const char* hello = R"("messages": [{"role": "user", "content": "Hello"}])";

ChatRequest chat(const std::string& members) {
  return read_chat_request(
      Fields::parse(fmt::format("{{{}{}{}}}", hello, members.empty() ? "" : ", ", members)), {});
}

// The member that a request is refused for.
std::string refused(const std::string& body, bool is_chat = true) {
  try {
    const Fields fields = Fields::parse(body);
    if (is_chat) {
      read_chat_request(fields, {});
    } else {
      read_completion_request(fields, {});
    }
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 400);
    EXPECT_FALSE(refusal.message().empty());
    return refusal.field();
  }
  ADD_FAILURE() << body << " was not refused";
  return {};
}

std::string refused_member(const std::string& members) {
  return refused(fmt::format("{{{}, {}}}", hello, members));
}

TEST(Requests, OptionsOfSampling) {
  const GenerationFields f =
      chat(R"("temperature": 0.5, "top_p": 0.9, "top_k": 7, "min_p": 0.1, "frequency_penalty": 0.25,
              "presence_penalty": -1, "repeat_penalty": 1.5, "repeat_last_n": 9, "seed": 11,
              "logit_bias": {"5": -100, "7": 2.5}, "stop": ["a", "b"], "max_tokens": 3,
              "max_completion_tokens": 4, "stream": true, "stream_options": {"include_usage": true},
              "logprobs": true, "top_logprobs": 2, "n": 1, "user": "me", "model": "any")")
          .generation;
  EXPECT_EQ(f.sampling.temperature, 0.5);
  EXPECT_EQ(f.sampling.top_p, 0.9);
  EXPECT_EQ(f.sampling.top_k, 7);
  EXPECT_EQ(f.sampling.min_p, 0.1);
  EXPECT_EQ(f.sampling.frequency_penalty, 0.25);
  EXPECT_EQ(f.sampling.presence_penalty, -1);
  EXPECT_EQ(f.sampling.repetition_penalty, 1.5);
  EXPECT_EQ(f.sampling.penalty_window, 9);
  EXPECT_EQ(f.sampling.seed, 11u);
  EXPECT_EQ(f.sampling.bias, (std::map<TokenId, float>{{5, -100.f}, {7, 2.5f}}));
  EXPECT_EQ(f.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(f.max_tokens, 4);
  EXPECT_TRUE(f.is_stream && f.includes_usage && f.has_likelihoods);
  EXPECT_EQ(f.likeliest, 2);
  EXPECT_FALSE(f.grammar);
}

TEST(Requests, WhatIsNotNamedIsAsTheServerHasIt) {
  const auto request =
      read_chat_request(Fields::parse(fmt::format("{{{}, \"top_p\": null}}", hello)),
                        {.top_p = 0.5, .temperature = 0});
  EXPECT_EQ(request.generation.sampling.temperature, 0);
  EXPECT_EQ(request.generation.sampling.top_p, 0.5);
  EXPECT_EQ(request.generation.max_tokens, -1);
  EXPECT_FALSE(request.generation.is_stream);
  EXPECT_TRUE(request.tools.is_none());
}

TEST(Requests, WhatIsWrongIsNamed) {
  for (const char* member : {"temperature", "top_p", "min_p", "frequency_penalty"}) {
    EXPECT_EQ(refused_member(fmt::format("\"{}\": -3", member)), member);
    EXPECT_EQ(refused_member(fmt::format("\"{}\": \"x\"", member)), member);
    EXPECT_EQ(refused_member(fmt::format("\"{}\": true", member)), member);
  }
  for (const char* member : {"top_k", "seed", "max_tokens", "n", "top_logprobs"}) {
    EXPECT_EQ(refused_member(fmt::format("\"{}\": 1.5", member)), member);
    EXPECT_EQ(refused_member(fmt::format("\"{}\": -9223372036854775809", member)), member);
  }
  EXPECT_EQ(refused_member(R"("n": 0)"), "n");
  EXPECT_EQ(refused_member(R"("modalities": ["audio"])"), "modalities");
  EXPECT_EQ(refused_member(R"("top_logprobs": 2)"), "top_logprobs");
  EXPECT_EQ(refused_member(R"("stream": 1)"), "stream");
  EXPECT_EQ(refused_member(R"("stop": [1])"), "stop");
  EXPECT_EQ(refused_member(R"("logit_bias": {"x": 1})"), "logit_bias");
  EXPECT_EQ(refused_member(R"("logit_bias": {"1": 101})"), "logit_bias.1");
  EXPECT_EQ(refused_member(R"("temprature": 1)"), "temprature");
  EXPECT_EQ(refused_member(R"("stream_options": {"x": 1})"), "stream_options.x");
  EXPECT_EQ(refused_member(R"("tool_choice": "required")"), "tool_choice");
  EXPECT_EQ(refused_member(R"("tools": [{"type": "function"}])"), "tools[0].function");
  EXPECT_EQ(refused_member(R"("grammar": "root ::= (")"), "grammar");
  EXPECT_EQ(refused_member(R"("grammar": "root ::= ((\"a\"{0,1000}){0,1000}){0,1000}")"),
            "grammar");
  EXPECT_EQ(refused_member(R"("response_format": {"type": "xml"})"), "response_format.type");
  EXPECT_EQ(refused_member(R"("response_format": {"type": "json_schema"})"),
            "response_format.json_schema");
  EXPECT_EQ(refused_member(R"("response_format": {"type": "json_schema", "json_schema":
                              {"schema": {"pattern": "x", "type": "string"}}})"),
            "response_format.json_schema.schema");
}

TEST(Requests, BodiesThatAreNone) {
  for (const char* body : {"", "{", "[]", "3", "\xff", "{\"messages\": }"}) refused(body);
  refused(std::string(100000, '['));
  EXPECT_EQ(refused("{}"), "messages");
  EXPECT_EQ(refused(R"({"messages": []})"), "messages");
  EXPECT_EQ(refused(R"({"messages": [{"role": "cat", "content": ""}]})"), "messages[0].role");
  EXPECT_EQ(refused(R"({"messages": [{"role": "user", "content": 3}]})"), "messages[0].content");
  EXPECT_EQ(refused(R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
            "messages[0].content.type");
  EXPECT_EQ(refused("{}", false), "prompt");
  EXPECT_EQ(refused(R"({"prompt": ["a", "b"]})", false), "prompt");
  EXPECT_EQ(refused(R"({"prompt": "a", "echo": true})", false), "echo");
  EXPECT_EQ(refused(R"({"prompt": "a", "messages": []})", false), "messages");
}

TEST(Requests, MessagesAsTemplatesReadThem) {
  const ChatRequest request = read_chat_request(Fields::parse(R"({"messages": [
        {"role": "developer", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": null, "tool_calls": [
          {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 2}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "3"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "chat_template_kwargs": {"enable_thinking": false}})"),
                                                {});
  const ChatTemplate chat = ChatTemplate::from_source(
      "{% for m in messages %}{{ m.role }}:{{ m.content }};"
      "{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments.x + 1 }}{% "
      "endfor %}"
      "{% endfor %}{{ tools[0].function.name }}{{ enable_thinking }}");
  ChatInput input;
  input.messages = request.messages;
  input.tools = request.tools;
  input.variables = request.variables;
  EXPECT_EQ(chat.render(input), "system:ab;assistant:;f3tool:3;fFalse");
}

TEST(Requests, WhetherToolsAreCalled) {
  const std::string tools = R"("tools": [{"type": "function", "function": {"name": "f"}}], )";
  const auto choice_of = [&](const char* members) { return chat(tools + members).tool_choice; };
  EXPECT_FALSE(choice_of(R"("tool_choice": "auto")").is_required);
  EXPECT_FALSE(choice_of(R"("tool_choice": "none")").is_required);
  EXPECT_TRUE(chat(tools + R"("tool_choice": "none")").tools.is_none());
  const ToolChoice any = choice_of(R"("tool_choice": "required")");
  EXPECT_TRUE(any.is_required && any.function.empty() && any.allows_many);
  EXPECT_FALSE(choice_of(R"("tool_choice": "required", "parallel_tool_calls": false)").allows_many);
  const ToolChoice one =
      choice_of(R"("tool_choice": {"type": "function", "function": {"name": "f"}})");
  EXPECT_TRUE(one.is_required && one.function == "f" && !one.allows_many);
  EXPECT_EQ(refused_member(tools + R"("tool_choice": "perhaps")"), "tool_choice");
  EXPECT_EQ(refused_member(tools + R"("tool_choice": {"type": "x"})"), "tool_choice.type");
  EXPECT_EQ(refused_member(tools + R"("tool_choice": {"type": "function"})"),
            "tool_choice.function");
  EXPECT_EQ(refused_member(tools + R"("tool_choice": "required",
                                      "response_format": {"type": "json_object"})"),
            "tool_choice");
}

TEST(Requests, PromptsOfTokens) {
  const auto request = read_completion_request(
      Fields::parse(R"({"prompt": [1, 2, 3], "logprobs": 0, "grammar": "root ::= \"a\""})"), {});
  EXPECT_EQ(request.tokens, (std::vector<TokenId>{1, 2, 3}));
  EXPECT_TRUE(request.generation.has_likelihoods);
  EXPECT_TRUE(request.generation.grammar);
}

}  // namespace
}  // namespace croze::llm::serve
