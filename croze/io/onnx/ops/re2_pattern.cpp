// re2_pattern.cpp -- from RE2's syntax to PCRE2's.
//
// RE2 leaves out what cannot be matched in one pass, and most of the rest means the same to both.
// What does not: to PCRE2 some escapes are other sets (\v, \s), scripts take in what is used with
// them, and there are letters, groups and repetitions that RE2 does not have or takes for
// themselves.  So everything that begins with a backslash, a parenthesis or a brace is read here.
// Which groups a match has is not asked for, so none of them captures.
//
// Source: the page on syntax of RE2's documentation.
#include "croze/io/onnx/ops/re2_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "croze/base/error.h"

namespace croze::onnx {
namespace {

constexpr int most_repetitions = 1000;

// In a class; outside of one, in brackets.
constexpr std::string_view digits = "0-9", word_characters = "0-9A-Za-z_",
                           spaces = R"(\t\n\x{0C}\r\x20)";

constexpr std::array<std::string_view, 14> class_names = {
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph",
    "lower", "print", "punct", "space", "upper", "word",  "xdigit"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }

std::string character(std::uint32_t code) { return fmt::format("\\x{{{:X}}}", code); }

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern), rest_(pattern) {}

  std::string translated() {
    while (!rest_.empty()) take_one();
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail({}, "the pattern {} has {}, which is not of RE2's syntax", pattern_, what);
  }
  [[noreturn]] void refuse_escape(std::string_view escape) const {
    refuse("\\" + std::string(escape));
  }

  bool is_next(std::string_view text) const { return rest_.starts_with(text); }
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void literal(char c) {
    const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
    if (is_ascii && !is_word(c)) result_ += '\\';
    result_ += c;
  }

  void take_one() {
    if (is_next("\\Q")) return take_quoted();
    const bool was_repetition = is_repetition_;
    is_repetition_ = false;
    const char c = rest_.front();
    if (c == '*' || c == '+' || c == '?') {
      take_repetition(std::string(1, c), was_repetition);
    } else if (c == '{') {
      const std::string_view count = repetition_count();
      if (count.empty()) {
        literal(take());
      } else {
        take_repetition(std::string(count), was_repetition);
      }
    } else if (c == '\\') {
      take();
      take_escape();
    } else if (c == '(') {
      take_group();
    } else if (c == '[') {
      take_class();
    } else {
      result_ += take();
    }
  }

  void take_quoted() {
    rest_.remove_prefix(2);
    while (!rest_.empty() && !is_next("\\E")) literal(take());
    rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
  }

  // "{2}", "{2,}" or "{2,5}", if that stands next; other braces stand for themselves.
  std::string_view repetition_count() const {
    const std::size_t end = rest_.find('}');
    if (end == rest_.npos) return {};
    const std::string_view inner = rest_.substr(1, end - 1);
    const std::size_t comma = std::min(inner.find(','), inner.size());
    const std::string_view least = inner.substr(0, comma);
    const std::string_view most = inner.substr(std::min(comma + 1, inner.size()));
    const auto is_number = [](std::string_view s) { return std::ranges::all_of(s, is_digit); };
    if (least.empty() || !is_number(least) || !is_number(most)) return {};
    for (std::string_view number : {least, most}) {
      int value = 0;
      const auto [at, error] = std::from_chars(number.data(), number.data() + number.size(), value);
      const bool fits = number.empty() || (error == std::errc() && value <= most_repetitions);
      check(fits, "the pattern {} repeats {} times, more than {}", pattern_, number,
            most_repetitions);
    }
    return rest_.substr(0, end + 1);
  }

  void take_repetition(std::string text, bool was_repetition) {
    if (was_repetition) refuse(fmt::format("a repetition of a repetition ({})", text));
    rest_.remove_prefix(text.size());
    if (is_next("?")) text += take();
    result_ += text;
    is_repetition_ = true;
  }

  // ---- groups ---------------------------------------------------------------------------------

  void take_group() {
    take();
    if (is_next("*")) refuse("(*");
    result_ += "(?";
    if (!is_next("?")) {
      result_ += ':';
      return;
    }
    take();
    if (is_next("P<") || (is_next("<") && !is_next("<=") && !is_next("<!"))) return take_name();
    const std::size_t end = rest_.find_first_of(":)");
    const std::string_view flags = rest_.substr(0, end);
    const bool are_flags = end != rest_.npos && !flags.ends_with('-') &&
                           flags.find_first_not_of("imsU-") == flags.npos &&
                           std::ranges::count(flags, '-') <= 1;
    if (!are_flags || (flags.empty() && rest_.front() == ')')) {
      refuse(fmt::format("(?{}", rest_.substr(0, std::min<std::size_t>(2, rest_.size()))));
    }
    result_ += flags;
    rest_.remove_prefix(end);
    result_ += take();
  }

  void take_name() {
    const std::size_t begin = rest_.find('<') + 1, end = rest_.find('>');
    const std::string_view name = end == rest_.npos ? "" : rest_.substr(begin, end - begin);
    if (name.empty() || !std::ranges::all_of(name, is_word)) refuse("a group with no proper name");
    rest_.remove_prefix(end + 1);
    result_ += ':';
  }

  // ---- classes --------------------------------------------------------------------------------

  void take_class() {
    result_ += take();
    if (is_next("^")) result_ += take();
    in_class_ = true;
    if (is_next("]")) literal(take());
    while (!is_next("]")) {
      if (rest_.empty()) refuse("a class without an end");
      if (is_next("\\")) {
        take();
        take_escape();
      } else if (is_next("[:") && rest_.find(":]") != rest_.npos) {
        take_class_name();
      } else if (is_next("[")) {
        literal(take());
      } else {
        result_ += take();
      }
    }
    in_class_ = false;
    result_ += take();
  }

  void take_class_name() {
    const std::string_view whole = rest_.substr(0, rest_.find(":]") + 2);
    std::string_view name = whole.substr(2, whole.size() - 4);
    if (name.starts_with('^')) name.remove_prefix(1);
    if (std::ranges::find(class_names, name) == class_names.end()) refuse(whole);
    result_ += whole;
    rest_.remove_prefix(whole.size());
  }

  void take_set(std::string_view set, bool is_negated) {
    if (in_class_ && is_negated) {
      result_ += set == digits ? "\\D" : set == spaces ? "\\S\\x{0B}" : "\\W";
    } else {
      result_ += in_class_ ? "" : is_negated ? "[^" : "[";
      result_ += set;
      result_ += in_class_ ? "" : "]";
    }
  }

  // ---- what stands behind a backslash ---------------------------------------------------------

  void take_escape() {
    if (rest_.empty()) refuse("a backslash at its end");
    const char c = take();
    if (static_cast<unsigned char>(c) < 0x80 && !is_word(c)) return literal(c);
    if (const std::optional<std::uint32_t> code = control_code(c)) {
      result_ += character(*code);
      return;
    }
    switch (c) {
      case 'd':
      case 'D': return take_set(digits, c == 'D');
      case 's':
      case 'S': return take_set(spaces, c == 'S');
      case 'w':
      case 'W': return take_set(word_characters, c == 'W');
      case 'x': return take_hexadecimal();
      case 'p':
      case 'P': return take_property(c == 'P');
      default: break;
    }
    if (is_octal(c)) return take_octal(c);
    const bool is_place = c == 'A' || c == 'z' || c == 'b' || c == 'B';
    if (!is_place || in_class_) refuse_escape({&c, 1});
    result_ += '\\';
    result_ += c;
  }

  static std::optional<std::uint32_t> control_code(char c) {
    switch (c) {
      case 'a': return 0x07;
      case 'f': return 0x0C;
      case 'n': return 0x0A;
      case 'r': return 0x0D;
      case 't': return 0x09;
      case 'v': return 0x0B;
      default: return {};
    }
  }

  // Up to three digits; one that is not 0, alone, would be what a group has matched.
  void take_octal(char first) {
    if (first != '0' && (rest_.empty() || !is_octal(rest_.front()))) refuse_escape({&first, 1});
    std::uint32_t code = static_cast<std::uint32_t>(first - '0');
    for (int i = 0; i < 2 && !rest_.empty() && is_octal(rest_.front()); i++) {
      code = code * 8 + static_cast<std::uint32_t>(take() - '0');
    }
    result_ += character(code);
  }

  void take_hexadecimal() {
    const bool in_braces = is_next("{");
    const std::size_t end = in_braces ? rest_.find('}') : 2;
    if (end == rest_.npos || end > rest_.size()) refuse_escape("x");
    const std::string_view number = rest_.substr(in_braces, end - in_braces);
    std::uint32_t code = 0;
    const auto [at, error] =
        std::from_chars(number.data(), number.data() + number.size(), code, 16);
    const bool is_code = error == std::errc() && at == number.data() + number.size();
    if (number.empty() || !is_code || code > 0x10FFFF) refuse_escape("x");
    rest_.remove_prefix(end + in_braces);
    result_ += character(code);
  }

  // A category has one or two letters, "Any" is all, others are scripts.
  void take_property(bool is_negated) {
    if (rest_.empty()) refuse_escape("p");
    std::string_view name = rest_.substr(0, 1);
    std::size_t size = 1;
    if (name == "{") {
      const std::size_t end = rest_.find('}');
      if (end == rest_.npos) refuse_escape("p{");
      name = rest_.substr(1, end - 1);
      size = end + 1;
    }
    if (name.starts_with('^')) {
      is_negated = !is_negated;
      name.remove_prefix(1);
    }
    if (name.empty() || !std::ranges::all_of(name, is_word)) refuse_escape("p");
    const bool is_script = name.size() > 2 && name != "Any";
    result_ += fmt::format("\\{}{{{}{}}}", is_negated ? 'P' : 'p', is_script ? "sc:" : "", name);
    rest_.remove_prefix(size);
  }

  std::string_view pattern_, rest_;
  std::string result_;
  bool in_class_ = false;
  bool is_repetition_ = false;  // what stands before
};

}  // namespace

std::string re2_translated(std::string_view pattern) { return Translator(pattern).translated(); }

}  // namespace croze::onnx
