// request.h -- requests of OpenAI's API as plain structs, every member checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "croze/llm/grammar/grammar.h"
#include "croze/llm/sampling/sampler.h"
#include "croze/llm/serve/fields.h"
#include "croze/llm/template/value.h"

namespace croze::llm::serve {

// What all requests for texts say of them.
struct GenerationFields {
  SamplingOptions sampling;
  std::int64_t choices = 1;      // "n"
  std::int64_t max_tokens = -1;  // negative: until the context is full
  std::vector<std::string> stop;
  bool has_likelihoods = false;  // "logprobs"
  std::int64_t likeliest = 0;    // "top_logprobs"
  std::shared_ptr<const Grammar> grammar;
  bool is_stream = false, includes_usage = false;
};

// Whether an answer has to call tools.
struct ToolChoice {
  bool is_required = false;
  std::string function;     // that has to be called; empty: any
  bool allows_many = true;  // "parallel_tool_calls"
};

struct ChatRequest {
  GenerationFields generation;
  jinja::Value messages, tools;  // as chat templates have them
  ToolChoice tool_choice;
  std::vector<std::pair<std::string, jinja::Value>> variables = {};  // of the template
};

struct CompletionRequest {
  GenerationFields generation;
  std::string prompt;
  std::vector<TokenId> tokens;  // the prompt, if it is given so
};

struct EmbeddingRequest {
  // Each a text or, where it is given so, its tokens.
  std::vector<std::variant<std::string, std::vector<TokenId>>> inputs;
  std::int64_t dimensions = 0;  // of the vectors; 0: all
  bool is_base64 = false;       // how numbers are written
};

// `defaults` are the options of sampling that a request does not name.  Throws Refusal (400) naming
// what is wrong: a member that is missing, of another kind, out of its range or not known.
ChatRequest read_chat_request(const Fields& fields, const SamplingOptions& defaults);
CompletionRequest read_completion_request(const Fields& fields, const SamplingOptions& defaults);
EmbeddingRequest read_embedding_request(const Fields& fields);

// Messages and tools, checked and written as chat templates read them: parts of texts joined,
// arguments of calls as objects.
jinja::Value read_messages(const Fields& fields);
jinja::Value read_tools(const Fields& fields);
// Throws Refusal (400) naming `where` for what is no grammar.
std::shared_ptr<const Grammar> requested_grammar(const std::string& text, const std::string& where);
// What "tool_choice" says; tools there must be where one is to be called.
ToolChoice read_tool_choice(const Fields& fields, const jinja::Value& tools);

}  // namespace croze::llm::serve
