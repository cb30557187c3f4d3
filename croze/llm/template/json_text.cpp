// json_text.cpp -- json.dumps() of Python.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "croze/base/error.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/template/printing.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, TextBuilder& out) : style_(style), out_(out) {}

  void append(const Value& value);

 private:
  void append_text(std::string_view text);
  void append_escaped(char32_t c);
  void append_elements(const Sequence& sequence);
  void append_members(const Dict& dict);
  void append_number(double number);
  std::string key_text(const Value& key);
  // What stands before an element and behind the last one.
  void open(char bracket);
  void begin_element(bool is_first);
  void close(char bracket);
  void new_line();

  const JsonStyle& style_;
  TextBuilder& out_;
  std::int64_t level_ = 0;
};

void JsonWriter::append(const Value& value) {
  out_.budget().work(1);
  if (value.is_none()) return out_.append("null");
  if (value.is_flag()) return out_.append(value.is_true() ? "true" : "false");
  if (value.is_integer()) return out_.append(std::to_string(value.integer()));
  if (value.is_float()) return append_number(value.number());
  if (value.is_text()) return append_text(value.text());
  if (value.dict()) return append_members(*value.dict());
  const Sequence* sequence = value.sequence();
  const bool is_array =
      sequence && (sequence->kind == SequenceKind::List || sequence->kind == SequenceKind::Tuple);
  check(is_array, "a value of type {} has no form as JSON", value.type_name());
  append_elements(*sequence);
}

void JsonWriter::append_number(double number) {
  if (std::isnan(number)) return out_.append("NaN");
  if (std::isinf(number)) return out_.append(number > 0 ? "Infinity" : "-Infinity");
  out_.append(float_text(number));
}

void JsonWriter::append_escaped(char32_t c) {
  constexpr std::string_view named = "\b\f\n\r\t", names = "bfnrt";
  const std::size_t place = c < 0x20 ? named.find(static_cast<char>(c)) : named.npos;
  if (place != named.npos) {
    out_.append('\\');
    return out_.append(names[place]);
  }
  auto number = static_cast<std::uint32_t>(c);
  if (number >= 0x10000) {  // as two surrogates
    number -= 0x10000;
    out_.append(fmt::format("\\u{:04x}", 0xd800 + (number >> 10)));
    number = 0xdc00 + (number & 0x3ff);
  }
  out_.append(fmt::format("\\u{:04x}", number));
}

void JsonWriter::append_text(std::string_view text) {
  out_.append('"');
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_char(text, at);
    if (c == '"' || c == '\\') out_.append('\\');
    if (c < 0x20 || (style_.ascii && c > 0x7e)) {
      append_escaped(c);
    } else {
      out_.append(text.substr(begin, at - begin));
    }
  }
  out_.append('"');
}

void JsonWriter::new_line() {
  if (style_.indent < 0) return;
  out_.append('\n');
  std::int64_t spaces;
  if (__builtin_mul_overflow(style_.indent, level_, &spaces)) spaces = INT64_MAX;
  out_.repeat(" ", spaces);
}

void JsonWriter::open(char bracket) {
  out_.append(bracket);
  level_++;
}

void JsonWriter::begin_element(bool is_first) {
  if (!is_first) out_.append(style_.between);
  new_line();
}

void JsonWriter::close(char bracket) {
  level_--;
  new_line();
  out_.append(bracket);
}

void JsonWriter::append_elements(const Sequence& sequence) {
  if (sequence.elements.empty()) return out_.append("[]");
  open('[');
  bool first = true;
  for (const Value& element : sequence.elements) {
    begin_element(first);
    first = false;
    append(element);
  }
  close(']');
}

std::string JsonWriter::key_text(const Value& key) {
  if (key.is_text()) return key.text();
  check(key.is_none() || key.is_number(), "a key of type {} has no form as JSON", key.type_name());
  TextBuilder text(out_.budget());
  JsonWriter(style_, text).append(key);
  return text.take();
}

void JsonWriter::append_members(const Dict& dict) {
  if (dict.members().empty()) return out_.append("{}");
  std::vector<std::pair<std::string, const Value*>> members;
  for (const auto& [key, value] : dict.members()) members.emplace_back(key_text(key), &value);
  if (style_.sorted) {
    out_.budget().work(static_cast<std::int64_t>(members.size()));
    std::ranges::stable_sort(members, {}, &std::pair<std::string, const Value*>::first);
  }
  open('{');
  bool first = true;
  for (const auto& [name, value] : members) {
    begin_element(first);
    first = false;
    append_text(name);
    out_.append(style_.colon);
    append(*value);
  }
  close('}');
}

}  // namespace

void append_json(const Value& value, const JsonStyle& style, TextBuilder& out) {
  JsonWriter(style, out).append(value);
}

}  // namespace croze::llm::jinja
