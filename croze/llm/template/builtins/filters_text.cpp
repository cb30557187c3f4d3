// filters_text.cpp -- filters that make texts.
#include <algorithm>

#include "croze/base/error.h"
#include "croze/llm/template/access.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/builtins/texts.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/template/printing.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

Value made(std::string_view text, Budget& budget) {
  TextBuilder out(budget);
  out.append(text);
  return out.take();
}

Value string_filter(Runtime& runtime, const Value& value, Arguments&) {
  return value.is_text() ? value : Value(text_of(value, runtime.budget));
}

Value trim_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const Value* chars = arguments.find("chars");
  const std::string text = text_of(value, runtime.budget);
  check(!chars || chars->is_none() || chars->is_text(), "characters of type {}",
        chars ? chars->type_name() : "");
  return made(stripped(text, Side::Both, chars ? chars->text_pointer() : nullptr), runtime.budget);
}

template <std::string (*change)(std::string_view)>
Value change_filter(Runtime& runtime, const Value& value, Arguments&) {
  return made(change(text_of(value, runtime.budget)), runtime.budget);
}

// A word begins behind white space, a "-" or an opening bracket.
std::string title_words(std::string_view text) {
  std::string result;
  bool begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_char(text, at);
    if (begins) {
      append_upper(result, c);
    } else {
      append_lower(result, c);
    }
    begins = is_space(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) !=
                                             std::string_view::npos);
  }
  return result;
}

Value replace_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const std::string from = text_of(arguments.take("old"), runtime.budget);
  const std::string to = text_of(arguments.take("new"), runtime.budget);
  const std::int64_t most = arguments.integer_or("count", -1);
  return replaced(text_of(value, runtime.budget), from, to, most, runtime.budget);
}

Value indent_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  Budget& budget = runtime.budget;
  const Value* width = arguments.find("width");
  const bool indents_first = arguments.flag_or("first", false);
  const bool indents_blank = arguments.flag_or("blank", false);
  TextBuilder space(budget);
  if (width && width->is_text()) {
    space.append(width->text());
  } else {
    check(!width || width->is_integral(), "a width that is no number");
    space.repeat(" ", width ? width->integer() : 4);
  }
  // A new line at the end makes sure of a line, and keeps an empty one that is there.
  const std::string text = text_of(value, budget) + "\n";
  TextBuilder out(budget);
  bool first = true;
  for (const std::string_view line : lines_of(text, false)) {
    if (!first) out.append('\n');
    const bool indents = first ? indents_first : indents_blank || !line.empty();
    if (indents) out.append(space.text());
    out.append(line);
    first = false;
  }
  return out.take();
}

Value join_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  const std::string between = [&] {
    const Value* d = arguments.find("d");
    return d ? text_of(*d, runtime.budget) : std::string();
  }();
  const Value* attribute = arguments.find("attribute");
  TextBuilder out(runtime.budget);
  bool first = true;
  for (const Value& element : elements_of(value, runtime.budget)) {
    if (!first) out.append(between);
    first = false;
    const bool by_path = attribute && !attribute->is_none();
    append_text(by_path ? path_of(element, *attribute, runtime) : element, out);
  }
  return out.take();
}

Value escape_filter(Runtime& runtime, const Value& value, Arguments&) {
  TextBuilder out(runtime.budget);
  for (const char c : text_of(value, runtime.budget)) {
    switch (c) {
      case '&': out.append("&amp;"); break;
      case '<': out.append("&lt;"); break;
      case '>': out.append("&gt;"); break;
      case '\'': out.append("&#39;"); break;
      case '"': out.append("&#34;"); break;
      default: out.append(c);
    }
  }
  return out.take();
}

Value format_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  return formatted_by_percent(text_of(value, runtime.budget), arguments.rest(), runtime.budget);
}

Value center_filter(Runtime& runtime, const Value& value, Arguments& arguments) {
  return centered(text_of(value, runtime.budget), arguments.integer_or("width", 80), " ",
                  runtime.budget);
}

constexpr NamedFunction table[] = {
    {"capitalize", change_filter<capitalized>},
    {"center", center_filter},
    {"e", escape_filter},
    {"escape", escape_filter},
    {"format", format_filter},
    {"indent", indent_filter},
    {"join", join_filter},
    {"lower", change_filter<lowered>},
    {"replace", replace_filter},
    {"safe", string_filter},
    {"string", string_filter},
    {"title", change_filter<title_words>},
    {"trim", trim_filter},
    {"upper", change_filter<uppered>},
};

}  // namespace

std::span<const NamedFunction> text_filters() { return table; }

}  // namespace croze::llm::jinja
