// filters.cpp -- filters by name, and those of any value: what is missing, numbers, JSON.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "croze/base/error.h"
#include "croze/llm/template/access.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/printing.h"

namespace croze::llm::jinja {
namespace {

Value default_filter(Runtime&, const Value& value, Arguments& arguments) {
  const Value* otherwise = arguments.find("default_value");
  const bool if_false = arguments.flag_or("boolean", false);
  const bool is_missing = value.is_undefined() || (if_false && !value.is_true());
  return !is_missing ? value : otherwise ? *otherwise : Value("");
}

Value attr_filter(Runtime&, const Value& value, Arguments& arguments) {
  const std::string& name = arguments.text("name");
  if (const auto method = method_of(value, name)) return method;
  const Namespace* space = value.space();
  if (space) {
    for (const auto& [attribute, member] : space->attributes) {
      if (attribute == name) return member;
    }
  }
  return Value::undefined(fmt::format("a value of type {} has no attribute \"{}\"",
                                      value.type_name(), name.substr(0, 80)));
}

// ---- numbers ----------------------------------------------------------------------------------

// A text without white space around it and "_" between digits.
std::string number_text(std::string_view text) {
  std::string result(stripped(text, Side::Both));
  std::erase(result, '_');
  if (result.starts_with('+')) result.erase(0, 1);
  return result;
}

std::optional<double> float_from(std::string_view text) {
  const std::string clean = number_text(text);
  double number = 0;
  const char* end = clean.data() + clean.size();
  const auto read = std::from_chars(clean.data(), end, number);
  if (clean.empty() || read.ptr != end || read.ec != std::errc()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> integer_from(std::string_view text, int base) {
  std::string clean = number_text(text);
  const bool is_negative = clean.starts_with('-');
  const std::size_t begin = is_negative ? 1 : 0;
  const char kind = clean.size() > begin + 2 && clean[begin] == '0'
                        ? static_cast<char>(clean[begin + 1] | 0x20)
                        : '\0';
  const bool has_prefix =
      (base == 16 && kind == 'x') || (base == 8 && kind == 'o') || (base == 2 && kind == 'b');
  if (has_prefix) clean.erase(begin, 2);
  std::int64_t number = 0;
  const char* end = clean.data() + clean.size();
  const auto read = std::from_chars(clean.data(), end, number, base);
  if (clean.empty() || read.ptr != end) return std::nullopt;
  check(read.ec == std::errc(), "an integer that does not fit 64 bits");
  return number;
}

std::int64_t truncated(double number) {
  check(std::isfinite(number) && std::abs(number) < 0x1p63, "an integer that does not fit 64 bits");
  return static_cast<std::int64_t>(number);
}

Value int_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const Value* otherwise = arguments.find("default");
  const std::int64_t base = arguments.integer_or("base", 10);
  check(base >= 2 && base <= 36, "numbers of base {}", base);
  if (value.is_undefined()) fail({}, "{}", value.problem());
  if (value.is_integral()) return value.integer();
  if (value.is_float()) return truncated(value.number());
  if (value.is_text()) {
    runtime.budget.reading(value.text().size());
    if (const auto integer = integer_from(value.text(), static_cast<int>(base))) return *integer;
    if (const auto number = float_from(value.text())) return truncated(*number);
  }
  return otherwise ? *otherwise : Value(0);
}

Value float_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const Value* otherwise = arguments.find("default");
  if (value.is_undefined()) fail({}, "{}", value.problem());
  if (value.is_number()) return value.number();
  if (value.is_text()) {
    runtime.budget.reading(value.text().size());
    if (const auto number = float_from(value.text())) return *number;
  }
  return otherwise ? *otherwise : Value(0.0);
}

Value abs_filter(Runtime&, const Value& value, Arguments&) {
  if (value.is_float()) return std::abs(value.number());
  check(value.is_integral() && value.integer() != INT64_MIN, "there is no absolute value of {}",
        value.type_name());
  return std::abs(value.integer());
}

// Rounds as Python does: the decimal number that is nearest to the exact value, of two the even
// one.
double rounded(double number, std::int64_t digits) {
  if (!std::isfinite(number) || digits > 400) return number;
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(number / unit) * unit;
  }
  const std::string text = fmt::format("{:.{}f}", number, digits);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

Value round_filter(Runtime&, const Value& value, Arguments& arguments) {
  const std::int64_t precision = arguments.integer_or("precision", 0);
  const std::string method = arguments.text_or("method", "common");
  check(method == "common" || method == "ceil" || method == "floor", "rounding by \"{}\"",
        method.substr(0, 40));
  check(value.is_number(), "rounding of a value of type {}", value.type_name());
  check(precision >= -300 && precision <= 300, "rounding to {} digits", precision);
  if (method == "common") {
    if (value.is_integral() && precision >= 0) return value.integer();
    const double result = rounded(value.number(), precision);
    return value.is_integral() ? Value(truncated(result)) : Value(result);
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = value.number() * unit;
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

// ---- JSON -------------------------------------------------------------------------------------

// As Hugging Face's: without the escapes for HTML that Jinja's own makes.
Value tojson_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  JsonStyle style;
  style.ascii = arguments.flag_or("ensure_ascii", false);
  const Value* indent = arguments.find("indent");
  if (indent && !indent->is_none()) {
    check(indent->is_integral(), "an indent of type {}", indent->type_name());
    style.indent = std::max<std::int64_t>(indent->integer(), 0);
  }
  style.between = style.indent < 0 ? ", " : ",";
  style.colon = ": ";
  if (const Value* separators = arguments.find("separators");
      separators && !separators->is_none()) {
    const Sequence* pair = separators->sequence();
    check(pair && pair->elements.size() == 2 && pair->elements[0].is_text() &&
              pair->elements[1].is_text(),
          "separators that are no pair of texts");
    style.between = pair->elements[0].text();
    style.colon = pair->elements[1].text();
  }
  style.sorted = arguments.flag_or("sort_keys", false);
  TextBuilder out(runtime.budget);
  append_json(value, style, out);
  return out.take();
}

constexpr NamedFunction table[] = {
    {"abs", abs_filter},         {"attr", attr_filter},     {"d", default_filter},
    {"default", default_filter}, {"float", float_filter},   {"int", int_filter},
    {"round", round_filter},     {"tojson", tojson_filter},
};

Function find_filter(std::string_view name) {
  for (const auto& filters : {value_filters(), text_filters(), sequence_filters()}) {
    const auto it = std::ranges::find(filters, name, &NamedFunction::name);
    if (it != filters.end()) return it->function;
  }
  return nullptr;
}

}  // namespace

std::span<const NamedFunction> value_filters() { return table; }

bool has_filter(std::string_view name) { return find_filter(name) != nullptr; }

Value apply_filter(std::string_view name, const Value& value, Arguments arguments,
                   Runtime& runtime) {
  const Function filter = find_filter(name);
  check(filter != nullptr, "there is no filter \"{}\"", name.substr(0, 80));
  try {
    const Value result = filter(runtime, value, arguments);
    arguments.finish();
    return result;
  } catch (const Error& e) {
    fail({}, "filter \"{}\": {}", name, e.message());
  }
}

}  // namespace croze::llm::jinja
