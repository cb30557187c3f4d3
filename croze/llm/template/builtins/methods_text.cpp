// methods_text.cpp -- methods of texts.
#include <algorithm>

#include "croze/base/error.h"
#include "croze/llm/template/builtins/builtins.h"
#include "croze/llm/template/builtins/texts.h"
#include "croze/llm/template/characters.h"
#include "croze/llm/template/operators.h"
#include "croze/llm/template/printing.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

Value made(std::string_view text, Runtime& runtime) {
  TextBuilder out(runtime.budget);
  out.append(text);
  return out.take();
}

template <Side side>
Value strip_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const Value* chars = arguments.find("chars");
  check(!chars || chars->is_none() || chars->is_text(), "characters of type {}",
        chars ? chars->type_name() : "");
  return made(stripped(receiver.text(), side, chars ? chars->text_pointer() : nullptr), runtime);
}

template <std::string (*change)(std::string_view)>
Value change_method(Runtime& runtime, const Value& receiver, Arguments&) {
  return made(change(receiver.text()), runtime);
}

// A letter behind something that is no letter is upper, the others are lower.
std::string titled(std::string_view text) {
  std::string result;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_char(text, at);
    if (inside) {
      append_lower(result, c);
    } else {
      append_upper(result, c);
    }
    inside = is_upper(c) || is_lower(c);
  }
  return result;
}

// ---- parts ------------------------------------------------------------------------------------

// Pieces of a text that is cut from one end; they come in the order of that end.
using Cut = std::vector<std::string_view>;

Cut cut_at_spaces(std::string_view text, std::int64_t most, bool from_right) {
  Cut pieces;
  const Side side = from_right ? Side::Right : Side::Left;
  for (text = stripped(text, side); !text.empty(); text = stripped(text, side)) {
    if (most >= 0 && std::ssize(pieces) == most) {
      pieces.push_back(text);
      break;
    }
    std::size_t begin = 0, end = 0, at = 0;
    // From the right, the last run of what is no space; it is found by walking over all of it.
    if (from_right) {
      begin = text.size();
      while (begin > 0) {
        std::size_t before = begin - 1;
        while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xc0) == 0x80) before--;
        at = before;
        if (is_space(next_char(text, at))) break;
        begin = before;
      }
      pieces.push_back(text.substr(begin));
      text = text.substr(0, begin);
      continue;
    }
    while (at < text.size() && !is_space(next_char(text, at))) end = at;
    pieces.push_back(text.substr(0, end));
    text = text.substr(end);
  }
  return pieces;
}

Cut cut_at(std::string_view text, std::string_view separator, std::int64_t most) {
  Cut pieces;
  while (most < 0 || std::ssize(pieces) < most) {
    const std::size_t at = find_text(text, separator);
    if (at == text.npos) break;
    pieces.push_back(text.substr(0, at));
    text = text.substr(at + separator.size());
  }
  pieces.push_back(text);
  return pieces;
}

// From the right, by the same in reversed texts, which keeps the time linear.
Cut cut_from_right(std::string_view text, std::string_view separator, std::int64_t most) {
  const std::string reversed(text.rbegin(), text.rend());
  const std::string mark(separator.rbegin(), separator.rend());
  Cut pieces;
  std::size_t end = text.size();
  for (const std::string_view piece : cut_at(reversed, mark, most)) {
    pieces.push_back(text.substr(end - piece.size(), piece.size()));
    end -= std::min(end, piece.size() + separator.size());
  }
  return pieces;
}

template <bool from_right>
Value split_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const Value* separator = arguments.find("sep");
  const std::int64_t most = arguments.integer_or("maxsplit", -1);
  const std::string& text = receiver.text();
  runtime.budget.reading(text.size());
  Cut pieces;
  if (!separator || separator->is_none()) {
    pieces = cut_at_spaces(text, most, from_right);
  } else {
    check(separator->is_text() && !separator->text().empty(), "an empty separator");
    pieces = from_right ? cut_from_right(text, separator->text(), most)
                        : cut_at(text, separator->text(), most);
  }
  if (from_right) std::ranges::reverse(pieces);
  runtime.budget.elements(pieces.size());
  std::vector<Value> elements;
  for (const std::string_view piece : pieces) elements.push_back(made(piece, runtime));
  return Value::list(std::move(elements));
}

template <bool from_right>
Value partition_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::string& separator = arguments.text("sep");
  check(!separator.empty(), "an empty separator");
  runtime.budget.reading(receiver.text().size());
  const Cut pieces = from_right ? cut_from_right(receiver.text(), separator, 1)
                                : cut_at(receiver.text(), separator, 1);
  const Value none(""), first = made(pieces[0], runtime);
  if (pieces.size() == 1) {
    return Value::sequence(SequenceKind::Tuple, from_right ? std::vector{none, none, first}
                                                           : std::vector{first, none, none});
  }
  const Value second = made(pieces[1], runtime);
  return Value::sequence(SequenceKind::Tuple,
                         {from_right ? second : first, separator, from_right ? first : second});
}

Value splitlines_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const bool with_ends = arguments.flag_or("keepends", false);
  runtime.budget.reading(receiver.text().size());
  const auto lines = lines_of(receiver.text(), with_ends);
  runtime.budget.elements(lines.size());
  std::vector<Value> elements;
  for (const std::string_view line : lines) elements.push_back(made(line, runtime));
  return Value::list(std::move(elements));
}

Value join_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  TextBuilder out(runtime.budget);
  bool first = true;
  for (const Value& element : elements_of(arguments.take("iterable"), runtime.budget)) {
    check(element.is_text(), "an element of type {} is joined", element.type_name());
    if (!first) out.append(receiver.text());
    first = false;
    out.append(element.text());
  }
  return out.take();
}

// ---- looking for texts ------------------------------------------------------------------------

template <bool at_end>
Value begins_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const Value& wanted = arguments.take("prefix");
  const auto has = [&](const Value& part) {
    check(part.is_text(), "a {} is looked for in a text", part.type_name());
    runtime.budget.reading(part.text().size());
    return at_end ? receiver.text().ends_with(part.text())
                  : receiver.text().starts_with(part.text());
  };
  const Sequence* several = wanted.sequence();
  if (!several) return has(wanted);
  return std::ranges::any_of(several->elements, has);
}

// Where a text stands, in characters; -1 if nowhere.
std::int64_t place_in(const Value& receiver, Arguments& arguments, bool from_right,
                      Runtime& runtime) {
  const std::string& text = receiver.text();
  const std::string& wanted = arguments.text("sub");
  const std::int64_t from = arguments.integer_or("start", 0);
  check(from >= 0 && (from == 0 || !from_right), "a place to begin at that is not supported");
  runtime.budget.reading(text.size());
  if (from > count_chars(text)) return -1;
  std::size_t at = find_text(text, wanted, byte_of_char(text, from));
  if (from_right && at != text.npos) {
    const Cut pieces = wanted.empty() ? Cut{""} : cut_from_right(text, wanted, 1);
    at = text.size() - pieces[0].size() - wanted.size();
  }
  return at == text.npos ? -1 : count_chars(std::string_view(text).substr(0, at));
}

template <bool from_right>
Value find_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  return place_in(receiver, arguments, from_right, runtime);
}

Value index_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::int64_t place = place_in(receiver, arguments, false, runtime);
  check(place >= 0, "the text is not found");
  return place;
}

Value count_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::string& text = receiver.text();
  const std::string& wanted = arguments.text("sub");
  runtime.budget.reading(text.size());
  if (wanted.empty()) return count_chars(text) + 1;
  return std::ssize(cut_at(text, wanted, -1)) - 1;
}

template <bool at_end>
Value without_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  std::string_view text = receiver.text();
  const std::string& part = arguments.text("prefix");
  if (at_end ? text.ends_with(part) : text.starts_with(part)) {
    text = at_end ? text.substr(0, text.size() - part.size()) : text.substr(part.size());
  }
  return made(text, runtime);
}

Value replace_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::string& from = arguments.text("old");
  const std::string& to = arguments.text("new");
  return replaced(receiver.text(), from, to, arguments.integer_or("count", -1), runtime.budget);
}

// ---- shape ------------------------------------------------------------------------------------

enum class Align { Left, Right, Center };

template <Align align>
Value just_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::int64_t width = arguments.integer("width");
  const std::string fill = arguments.text_or("fillchar", " ");
  check(count_chars(fill) == 1, "it is filled with one character");
  if (align == Align::Center) return centered(receiver.text(), width, fill, runtime.budget);
  TextBuilder out(runtime.budget);
  const std::int64_t missing = width - count_chars(receiver.text());
  if (align == Align::Right) out.repeat(fill, missing);
  out.append(receiver.text());
  if (align == Align::Left) out.repeat(fill, missing);
  return out.take();
}

Value zfill_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::int64_t width = arguments.integer("width");
  std::string_view text = receiver.text();
  TextBuilder out(runtime.budget);
  const std::int64_t missing = width - count_chars(text);
  if (text.starts_with('-') || text.starts_with('+')) {
    out.append(text[0]);
    text.remove_prefix(1);
  }
  out.repeat("0", missing);
  out.append(text);
  return out.take();
}

// Whether the text has characters, all of a kind.
template <bool (*is_one)(char32_t)>
Value all_method(Runtime& runtime, const Value& receiver, Arguments&) {
  const std::string& text = receiver.text();
  runtime.budget.reading(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (!is_one(next_char(text, at))) return false;
  }
  return !text.empty();
}

bool is_letter_or_digit(char32_t c) { return is_letter(c) || is_number(c); }

template <bool upper>
Value case_method(Runtime& runtime, const Value& receiver, Arguments&) {
  return passes_test(upper ? "upper" : "lower", receiver, {}, runtime);
}

// "{} and {name}".format(..): fields without attributes, conversions and formats.
Value format_method(Runtime& runtime, const Value& receiver, Arguments& arguments) {
  const std::string_view format = receiver.text();
  const std::vector<Value> values = arguments.rest();
  const Arguments::Named named = arguments.rest_named();
  TextBuilder out(runtime.budget);
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.size(); at++) {
    const char c = format[at];
    if (c != '{' && c != '}') {
      out.append(c);
      continue;
    }
    if (format.substr(at + 1).starts_with(c)) {
      out.append(c);
      at++;
      continue;
    }
    const std::size_t end = format.find('}', at);
    check(c == '{' && end != format.npos, "a brace of a format that stands alone");
    const std::string_view field = format.substr(at + 1, end - at - 1);
    const bool is_place = std::ranges::all_of(field, [](char d) { return d >= '0' && d <= '9'; });
    check(field.find_first_of(".[!:{") == field.npos && (!is_place || field.size() < 4),
          "the field \"{}\" of a format is not supported", field.substr(0, 40));
    at = end;
    if (is_place) {
      const std::size_t place =
          field.empty() ? next++ : static_cast<std::size_t>(std::stoul(std::string(field)));
      check(place < values.size(), "a format with more values than are given");
      append_text(values[place], out);
    } else {
      const auto it = std::ranges::find(named, field, &std::pair<std::string, Value>::first);
      check(it != named.end(), "the value \"{}\" of a format is missing", field.substr(0, 40));
      append_text(it->second, out);
    }
  }
  return out.take();
}

constexpr NamedFunction table[] = {
    {"capitalize", change_method<capitalized>},
    {"center", just_method<Align::Center>},
    {"count", count_method},
    {"endswith", begins_method<true>},
    {"find", find_method<false>},
    {"format", format_method},
    {"index", index_method},
    {"isalnum", all_method<is_letter_or_digit>},
    {"isalpha", all_method<is_letter>},
    {"isdecimal", all_method<is_digit>},
    {"isdigit", all_method<is_digit>},
    {"islower", case_method<false>},
    {"isnumeric", all_method<is_number>},
    {"isspace", all_method<is_space>},
    {"isupper", case_method<true>},
    {"join", join_method},
    {"ljust", just_method<Align::Left>},
    {"lower", change_method<lowered>},
    {"lstrip", strip_method<Side::Left>},
    {"partition", partition_method<false>},
    {"removeprefix", without_method<false>},
    {"removesuffix", without_method<true>},
    {"replace", replace_method},
    {"rfind", find_method<true>},
    {"rjust", just_method<Align::Right>},
    {"rpartition", partition_method<true>},
    {"rsplit", split_method<true>},
    {"rstrip", strip_method<Side::Right>},
    {"split", split_method<false>},
    {"splitlines", splitlines_method},
    {"startswith", begins_method<false>},
    {"strip", strip_method<Side::Both>},
    {"title", change_method<titled>},
    {"upper", change_method<uppered>},
    {"zfill", zfill_method},
};

}  // namespace

std::span<const NamedFunction> text_methods() { return table; }

}  // namespace croze::llm::jinja
