// operators.h -- what the operators of templates make of values, as Python has it.
#pragma once

#include <vector>

#include "croze/llm/template/ast.h"
#include "croze/llm/template/budget.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// Each throws Error naming the types for values that have no such operator, and for integers that
// do not fit 64 bits, where Python's would grow.
Value arithmetic(Arithmetic::Op op, const Value& a, const Value& b, Budget& budget);
Value negative(const Value& value);
bool compares(Comparison::Op op, const Value& a, const Value& b, Budget& budget);
// Whether a is less than b: of numbers, texts, and lists element by element.
bool is_less(const Value& a, const Value& b, Budget& budget);
bool contains(const Value& whole, const Value& part, Budget& budget);

// The elements of what can be walked over: the keys of a dict, the characters of a text, nothing of
// what is undefined.  Throws Error for all else.
std::vector<Value> elements_of(const Value& value, Budget& budget);
bool has_elements(const Value& value);
// Python's len().  Throws Error for what has no length.
std::int64_t length_of(const Value& value, Budget& budget);

// "%s and %d" % arguments: %s, %r, %d, %i and %%, without flags and widths.
Value formatted_by_percent(std::string_view format, const std::vector<Value>& values,
                           Budget& budget);

}  // namespace croze::llm::jinja
