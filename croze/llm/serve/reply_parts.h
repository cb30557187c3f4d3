// reply_parts.h -- what a model of a conversation writes, taken apart: thoughts, calls of tools,
// and what is said.
//
// Models mark these in their texts.  Understood are `<think>..</think>` (Qwen, DeepSeek, SmolLM),
// `<tool_call>{"name": .., "arguments": {..}}</tool_call>` (Qwen, Hermes) and a reply that is
// nothing but the JSON of a call or of a list of calls, with "arguments" or "parameters" (Llama 3,
// Mistral).  What is marked as a call and is none stays text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croze::llm::serve {

struct ToolCall {
  std::string name;
  std::string arguments;  // an object of JSON, as text
};

struct ReplyParts {
  std::string content, reasoning;
  std::vector<ToolCall> calls;

  bool is_empty() const { return content.empty() && reasoning.empty() && calls.empty(); }
};

class ReplyParser {
 public:
  struct Options {
    bool begins_with_reasoning = false;  // the prompt ends with the mark of it
    bool has_tools = false;              // else no call is looked for
  };
  explicit ReplyParser(const Options& options);

  // What is certain now and was not before.
  ReplyParts push(std::string_view text);
  // The rest, since nothing will follow.
  ReplyParts finish();

 private:
  enum class Mode { Start, Reasoning, Content, Call, Whole };

  bool step(ReplyParts& parts);
  bool step_at_start();
  bool pass_until(std::string_view mark, Mode then, std::string& into);
  void end_call(ReplyParts& parts);

  Options options_;
  Mode mode_;
  std::string held_;
  bool skips_spaces_ = true;  // those between a mark and what is said
};

}  // namespace croze::llm::serve
