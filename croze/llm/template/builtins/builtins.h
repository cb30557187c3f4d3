// builtins.h -- the filters, tests, methods and functions that templates find.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "croze/llm/template/arguments.h"
#include "croze/llm/template/runtime.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

struct NamedFunction {
  std::string_view name;
  Function function;
};

// `value|name(arguments)`.  Throws Error if there is no such filter.
Value apply_filter(std::string_view name, const Value& value, Arguments arguments,
                   Runtime& runtime);
bool has_filter(std::string_view name);
// `value is name(arguments)`.  Throws Error if there is no such test.
bool passes_test(std::string_view name, const Value& value, Arguments arguments, Runtime& runtime);

// A global function; null if there is none of that name.
std::shared_ptr<const Callable> global_function(std::string_view name);

// The tables, by what they are of; the receiver of a filter is the value that it is given.
std::span<const NamedFunction> text_filters();
std::span<const NamedFunction> sequence_filters();
std::span<const NamedFunction> value_filters();
std::span<const NamedFunction> text_methods();

}  // namespace croze::llm::jinja
