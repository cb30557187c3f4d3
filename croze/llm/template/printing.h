// printing.h -- values as texts, as Python writes them.
#pragma once

#include <cstdint>
#include <string>

#include "croze/llm/template/budget.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// The shortest decimal number that reads as this one: "1.0", "1e+16", "inf".
std::string float_text(double number);

// What `{{ value }}` prints: a text as it is, nothing for what is undefined, else as repr.  Throws
// Error for what has no text that is the same twice: functions, iterators, namespaces.
void append_text(const Value& value, TextBuilder& out);
std::string text_of(const Value& value, Budget& budget);

// As a literal: texts between quotes.
void append_repr(const Value& value, TextBuilder& out);

struct JsonStyle {
  bool ascii = false;          // \u00e9 for what is not ASCII
  std::int64_t indent = -1;    // spaces of each level; negative: all on one line
  bool sorted = false;         // members by name
  std::string between, colon;  // what stands between elements, and behind a name
};

// As JSON, as Python's json.dumps writes it.  Throws Error for what has no form as JSON.
void append_json(const Value& value, const JsonStyle& style, TextBuilder& out);

}  // namespace croze::llm::jinja
