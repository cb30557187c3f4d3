// runtime.h -- what lives while a template is evaluated: loops, namespaces, and what can be called.
#pragma once

#include <cstdint>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/llm/template/budget.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

class Arguments;
struct Macro;
struct Runtime;

// The variable "loop" of a for.
struct Loop {
  Value items;  // a sequence
  std::size_t index = 0;
};

// The one thing that a template can change: an object with attributes.  They belong to the runtime,
// since one may hold itself.
struct Namespace {
  std::vector<std::pair<std::string, Value>> attributes;
};

// A function of the language: a global one, or a method of `receiver`.
using Function = Value (*)(Runtime& runtime, const Value& receiver, Arguments& arguments);

// A macro in the scope that it was defined in.  Scopes lie on the stack; the serial number tells
// whether that one is still there.
struct BoundMacro {
  const Macro* macro = nullptr;
  std::size_t scope = 0;
  std::uint64_t serial = 0;
};

struct Callable {
  std::string_view name;  // of a function
  Function function = nullptr;
  Value receiver;
  BoundMacro macro;  // if there is no function
};

struct Runtime {
  Budget budget;
  std::tm now{};
  std::deque<Namespace> namespaces;
};

// The function of a table that is called `name`; null if there is none.
template <typename Entry, std::size_t count>
const Entry* find_named(const Entry (&table)[count], std::string_view name) {
  for (const Entry& entry : table) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace croze::llm::jinja
