// forced_calls.h -- grammars of answers that have to be calls of tools.
#pragma once

#include <string>

#include "croze/llm/template/value.h"

namespace croze::llm::serve {

struct ForcedCalls {
  std::string function;     // that has to be called; empty: any of the tools
  bool can_be_many = true;  // else there is one call
  bool is_marked = false;   // as <tool_call>..</tool_call>; else the answer is nothing but JSON
  bool begins_with_reasoning = false;  // the prompt ends with the mark of it
};

// The grammar, as Grammar::parse reads it, of the answers that ReplyParser takes for such calls,
// whose arguments are what the tools say.  `tools` are a list as requests have it.  Throws Refusal
// (400) naming the member if there is no such tool, or if its parameters are no schema that
// json_schema_grammar() understands.
std::string forced_calls_grammar(const jinja::Value& tools, const ForcedCalls& forced);

}  // namespace croze::llm::serve
