// tests.cpp -- `value is test`.
#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/template/printing.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

using Test = bool (*)(Runtime& runtime, const Value& value, Arguments& arguments);

template <bool (Value::*property)() const>
bool has_property(Runtime&, const Value& value, Arguments&) {
  return (value.*property)();
}

template <bool wanted>
bool is_flag_of(Runtime&, const Value& value, Arguments&) {
  return value.is_flag() && value.is_true() == wanted;
}

template <Comparison::Op op>
bool compares_with(Runtime& runtime, const Value& value, Arguments& arguments) {
  return compares(op, value, arguments.take("other"), runtime.budget);
}

bool is_divisible(const Value& value, std::int64_t by) {
  check(value.is_integral(), "divisibility of a value of type {}", value.type_name());
  check(by != 0, "a division by zero");
  return by == -1 || value.integer() % by == 0;
}

// All letters are of one case, and there are some.
template <bool (*wanted)(char32_t), bool (*unwanted)(char32_t)>
bool is_of_case(Runtime& runtime, const Value& value, Arguments&) {
  const std::string text = text_of(value, runtime.budget);
  bool found = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_char(text, at);
    if (unwanted(c)) return false;
    found = found || wanted(c);
  }
  return found;
}

bool is_sequence(Runtime&, const Value& value, Arguments&) {
  const Sequence* s = value.sequence();
  return value.is_text() || value.dict() || value.is_undefined() ||
         (s && (s->kind == SequenceKind::List || s->kind == SequenceKind::Tuple ||
                s->kind == SequenceKind::Range));
}

using Op = Comparison::Op;

constexpr std::pair<std::string_view, Test> table[] = {
    {"!=", compares_with<Op::NotEqual>},
    {"<", compares_with<Op::Less>},
    {"<=", compares_with<Op::LessEqual>},
    {"==", compares_with<Op::Equal>},
    {">", compares_with<Op::Greater>},
    {">=", compares_with<Op::GreaterEqual>},
    {"boolean", has_property<&Value::is_flag>},
    {"callable", [](Runtime&, const Value& v, Arguments&) { return v.callable() != nullptr; }},
    {"defined", [](Runtime&, const Value& v, Arguments&) { return !v.is_undefined(); }},
    {"divisibleby",
     [](Runtime&, const Value& v, Arguments& a) { return is_divisible(v, a.integer("num")); }},
    {"eq", compares_with<Op::Equal>},
    {"equalto", compares_with<Op::Equal>},
    {"even", [](Runtime&, const Value& v, Arguments&) { return is_divisible(v, 2); }},
    {"false", is_flag_of<false>},
    {"filter",
     [](Runtime&, const Value& v, Arguments&) { return v.is_text() && has_filter(v.text()); }},
    {"float", has_property<&Value::is_float>},
    {"ge", compares_with<Op::GreaterEqual>},
    {"greaterthan", compares_with<Op::Greater>},
    {"gt", compares_with<Op::Greater>},
    {"in", compares_with<Op::In>},
    {"integer", has_property<&Value::is_integer>},
    {"iterable", [](Runtime&, const Value& v, Arguments&) { return has_elements(v); }},
    {"le", compares_with<Op::LessEqual>},
    {"lessthan", compares_with<Op::Less>},
    {"lower", is_of_case<is_lower, is_upper>},
    {"lt", compares_with<Op::Less>},
    {"mapping", [](Runtime&, const Value& v, Arguments&) { return v.dict() != nullptr; }},
    {"ne", compares_with<Op::NotEqual>},
    {"none", has_property<&Value::is_none>},
    {"number", has_property<&Value::is_number>},
    {"odd", [](Runtime&, const Value& v, Arguments&) { return !is_divisible(v, 2); }},
    {"sameas", [](Runtime&, const Value& v, Arguments& a) { return v.is_same(a.take("other")); }},
    {"sequence", is_sequence},
    {"string", has_property<&Value::is_text>},
    {"true", is_flag_of<true>},
    {"undefined", has_property<&Value::is_undefined>},
    {"upper", is_of_case<is_upper, is_lower>},
};

}  // namespace

bool passes_test(std::string_view name, const Value& value, Arguments arguments, Runtime& runtime) {
  const auto* entry = std::ranges::find(table, name, &std::pair<std::string_view, Test>::first);
  check(entry != std::end(table), "there is no test \"{}\"", name.substr(0, 80));
  try {
    const bool result = entry->second(runtime, value, arguments);
    arguments.finish();
    return result;
  } catch (const Error& e) {
    fail({}, "test \"{}\": {}", name, e.message());
  }
}

}  // namespace croze::llm::jinja
