#include "croze/llm/serve/forced_calls.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "croze/base/printable.h"
#include "croze/llm/grammar/json_schema.h"
#include "croze/llm/serve/refusal.h"
#include "croze/llm/template/dict.h"

namespace croze::llm::serve {
namespace {

using jinja::Value;

// Parameters refer to their own parts, so they are a document of their own.
Value schema_of_arguments(const Value* parameters, const std::string& name) {
  std::vector<std::pair<std::string, Value>> members{{"type", "object"}};
  if (parameters && parameters->dict()) {
    for (const auto& [key, value] : parameters->dict()->members()) {
      members.emplace_back(key.text(), value);
    }
  }
  members.emplace_back("$id", name);
  return Value::dict(std::move(members));
}

Value schema_of_call(const std::string& name, Value arguments) {
  return Value::dict({{"type", "object"},
                      {"properties", Value::dict({{"name", Value::dict({{"const", name}})},
                                                  {"arguments", std::move(arguments)}})},
                      {"required", Value::list({"name", "arguments"})}});
}

// Each is tried alone, so that a mistake is told of the tool that has it.
Value schema_of_tool(const jinja::Dict& function, const std::string& where) {
  const std::string& name = function.find_name("name")->text();
  Value arguments = schema_of_arguments(function.find_name("parameters"), name);
  try {
    json_schema_grammar(arguments);
  } catch (const Error& e) {
    throw Refusal(400, fmt::format("{}: {}", where, e.message()), where);
  }
  return schema_of_call(name, std::move(arguments));
}

Value schema_of_calls(const Value& tools, const std::string& function) {
  std::vector<Value> calls;
  const auto& elements = tools.sequence()->elements;
  for (std::size_t i = 0; i < elements.size(); i++) {
    const jinja::Dict& tool = *elements[i].dict()->find_name("function")->dict();
    if (!function.empty() && tool.find_name("name")->text() != function) continue;
    calls.push_back(schema_of_tool(tool, fmt::format("tools[{}].function.parameters", i)));
  }
  if (calls.empty()) {
    throw Refusal(400, fmt::format("tool_choice: there is no tool {}", shortened(function)),
                  "tool_choice");
  }
  return Value::dict({{"anyOf", Value::list(std::move(calls))}});
}

}  // namespace

std::string forced_calls_grammar(const Value& tools, const ForcedCalls& forced) {
  std::string text = fmt::format("root ::= {}calls ws\n",
                                 forced.begins_with_reasoning ? R"(thoughts "</think>" ws )" : "");
  if (forced.begins_with_reasoning) text += "thoughts ::= ([^<] | \"<\" [^/<])*\n";
  if (forced.is_marked) {
    text += "marked ::= \"<tool_call>\" call \"</tool_call>\"\n";
    text += forced.can_be_many ? "calls ::= marked (\"\\n\" marked)*\n" : "calls ::= marked\n";
  } else {
    text += "calls ::= call";
    text += forced.can_be_many ? " | \"[\" call (\",\" call)* \"]\"\n" : "\n";
  }
  return text + json_schema_grammar(schema_of_calls(tools, forced.function), "call");
}

}  // namespace croze::llm::serve
