// printing.cpp -- str() and repr() of Python.
#include "croze/llm/template/printing.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "croze/base/error.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/dict.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

// What a text holds decides which quotes stand around it.
void append_quoted(std::string_view text, TextBuilder& out) {
  const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out.append(quote);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_char(text, at);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out.append('\\');
      out.append(static_cast<char>(c));
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out.append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else if (is_printable(c)) {
      out.append(text.substr(begin, at - begin));
    } else {
      const auto number = static_cast<std::uint32_t>(c);
      out.append(number < 0x100     ? fmt::format("\\x{:02x}", number)
                 : number < 0x10000 ? fmt::format("\\u{:04x}", number)
                                    : fmt::format("\\U{:08x}", number));
    }
  }
  out.append(quote);
}

void append_elements(const Sequence& sequence, TextBuilder& out) {
  bool first = true;
  for (const Value& element : sequence.elements) {
    if (!first) out.append(", ");
    first = false;
    append_repr(element, out);
  }
}

void append_sequence(const Value& value, TextBuilder& out) {
  const Sequence& sequence = *value.sequence();
  switch (sequence.kind) {
    case SequenceKind::List:
      out.append('[');
      append_elements(sequence, out);
      return out.append(']');
    case SequenceKind::Tuple:
      out.append('(');
      append_elements(sequence, out);
      return out.append(sequence.elements.size() == 1 ? ",)" : ")");
    case SequenceKind::Keys:
    case SequenceKind::Values:
    case SequenceKind::Items:
      out.append(value.type_name());
      out.append("([");
      append_elements(sequence, out);
      return out.append("])");
    case SequenceKind::Range:
    case SequenceKind::Iterator: break;
  }
  fail({}, "a value of type {} has no text", value.type_name());
}

void append_dict(const Dict& dict, TextBuilder& out) {
  out.append('{');
  bool first = true;
  for (const auto& [key, member] : dict.members()) {
    if (!first) out.append(", ");
    first = false;
    append_repr(key, out);
    out.append(": ");
    append_repr(member, out);
  }
  out.append('}');
}

}  // namespace

std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = scientific.find('e');
  const int exponent = std::atoi(std::string(scientific.substr(e + 1)).c_str());
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto fixed =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed);
  std::string text(buffer, fixed.ptr);
  if (text.find('.') == text.npos) text += ".0";
  return text;
}

void append_repr(const Value& value, TextBuilder& out) {
  out.budget().work(1);
  if (value.is_none()) return out.append("None");
  if (value.is_flag()) return out.append(value.is_true() ? "True" : "False");
  if (value.is_integer()) return out.append(std::to_string(value.integer()));
  if (value.is_float()) return out.append(float_text(value.number()));
  if (value.is_undefined()) return out.append("Undefined");
  if (value.is_text()) return append_quoted(value.text(), out);
  if (value.sequence()) return append_sequence(value, out);
  if (value.dict()) return append_dict(*value.dict(), out);
  fail({}, "a value of type {} has no text", value.type_name());
}

void append_text(const Value& value, TextBuilder& out) {
  if (value.is_undefined()) return;
  if (value.is_text()) return out.append(value.text());
  append_repr(value, out);
}

std::string text_of(const Value& value, Budget& budget) {
  TextBuilder out(budget);
  append_text(value, out);
  return out.take();
}

}  // namespace croze::llm::jinja
