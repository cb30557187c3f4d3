// lexer.cpp -- tags, and the white space that goes with them.
//
//     {{ value }}   {% tag %}   {# comment #}   {% raw %} all as it is {% endraw %}
//
// A "-" inside of a bracket removes all white space on that side.  Without it a new line behind a
// tag or a comment is removed ("trim_blocks"), and so is what stands before one on its line if that
// is white space only ("lstrip_blocks"); a "+" keeps it.
#include "croze/llm/template/lexer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "croze/llm/template/characters.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return is_digit_char(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_hex_char(char c) {
  return is_digit_char(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  std::vector<Token> run();

 private:
  // ---- outside of tags
  void read_text();
  void push_text(std::string_view text, Place place);
  void read_comment(std::size_t begin);
  bool read_raw(std::size_t begin);
  void strip_before(std::string_view& text, char sign, bool is_output) const;
  void skip_white_space();
  // Behind a tag or a comment that ended with `sign`.
  void skip_behind(char sign, bool takes_new_line);

  // ---- inside
  void read_inside(TokenKind end);
  bool read_end(TokenKind end);
  void read_token();
  void read_number();
  void read_digits(bool (*is_one)(char));
  void read_string();
  std::size_t read_escape(std::size_t at, std::string& out) const;
  void read_operator();

  bool has(std::string_view what, std::size_t at) const {
    return text_.substr(std::min(at, text_.size()), what.size()) == what;
  }
  char char_at(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  static Place place(std::size_t at) { return {static_cast<std::uint32_t>(at)}; }
  void push(TokenKind kind, std::size_t begin, std::string text) {
    tokens_.push_back({kind, std::move(text), place(begin)});
  }
  [[noreturn]] void fail_here(std::size_t at, std::string_view problem) const {
    source_.fail_at(place(at), problem);
  }

  const Source& source_;
  const std::string_view text_;
  std::size_t at_ = 0;
  bool at_line_begin_ = true;  // behind a tag that took the new line
  std::string open_;           // brackets
  std::vector<Token> tokens_;
};

// ---- outside of tags --------------------------------------------------------------------------

std::vector<Token> Lexer::run() {
  while (at_ < text_.size()) read_text();
  push(TokenKind::End, text_.size(), "");
  return std::move(tokens_);
}

// What a tag does to the text before it.
void Lexer::strip_before(std::string_view& text, char sign, bool is_output) const {
  if (sign == '-') {
    text = stripped(text, Side::Right);
    return;
  }
  if (sign == '+' || is_output) return;
  const std::size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
  if (line == 0 && !at_line_begin_) return;
  if (stripped(text.substr(line), Side::Both).empty()) text = text.substr(0, line);
}

void Lexer::skip_white_space() {
  while (at_ < text_.size()) {
    std::size_t behind = at_;
    if (!is_space(next_char(text_, behind))) return;
    at_ = behind;
  }
}

void Lexer::skip_behind(char sign, bool takes_new_line) {
  if (sign == '-') {
    skip_white_space();
  } else if (sign != '+' && takes_new_line && char_at(at_) == '\n') {
    at_++;
  }
  at_line_begin_ = text_[at_ - 1] == '\n';
}

void Lexer::push_text(std::string_view text, Place place) {
  if (!text.empty()) tokens_.push_back({TokenKind::Text, std::string(text), place});
}

void Lexer::read_text() {
  const std::size_t begin = at_;
  std::size_t tag = text_.find('{', begin);
  while (tag != text_.npos && !has("{{", tag) && !has("{%", tag) && !has("{#", tag)) {
    tag = text_.find('{', tag + 1);
  }
  if (tag == text_.npos) {
    at_ = text_.size();
    return push_text(text_.substr(begin), place(begin));
  }
  const char kind = text_[tag + 1], sign = char_at(tag + 2);
  std::string_view before = text_.substr(begin, tag - begin);
  strip_before(before, sign, kind == '{');
  push_text(before, place(begin));
  at_ = tag + (sign == '-' || sign == '+' ? 3 : 2);
  if (kind == '#') return read_comment(tag);
  if (kind == '%' && read_raw(tag)) return;
  push(kind == '{' ? TokenKind::OutputBegin : TokenKind::TagBegin, tag, "");
  read_inside(kind == '{' ? TokenKind::OutputEnd : TokenKind::TagEnd);
}

void Lexer::read_comment(std::size_t begin) {
  const std::size_t end = text_.find("#}", at_);
  if (end == text_.npos) fail_here(begin, "a comment that does not end");
  const char sign = end > at_ ? text_[end - 1] : '\0';
  at_ = end + 2;
  skip_behind(sign, true);
}

// {% raw %} .. {% endraw %}, whose `{%` has been read; false if this is another tag.
bool Lexer::read_raw(std::size_t begin) {
  const std::size_t inside = at_;
  const auto reads = [&](std::string_view name) {
    skip_white_space();
    if (!has(name, at_) || is_name_char(char_at(at_ + name.size()))) return false;
    at_ += name.size();
    skip_white_space();
    return true;
  };
  const auto reads_end = [&](bool takes_new_line) {
    const char sign = char_at(at_);
    const std::size_t end = at_ + (sign == '-' || (sign == '+' && takes_new_line) ? 1 : 0);
    if (!has("%}", end)) return false;
    at_ = end + 2;
    skip_behind(sign, takes_new_line);
    return true;
  };
  if (!reads("raw") || !reads_end(false)) {
    at_ = inside;
    return false;
  }
  const std::size_t content = at_;
  for (std::size_t tag = content; (tag = text_.find("{%", tag)) != text_.npos; tag += 2) {
    const char sign = char_at(tag + 2);
    at_ = tag + (sign == '-' || sign == '+' ? 3 : 2);
    std::string_view text = text_.substr(content, tag - content);
    strip_before(text, sign, false);
    if (!reads("endraw") || !reads_end(true)) continue;
    push_text(text, place(content));
    return true;
  }
  fail_here(begin, "a raw that does not end");
}

// ---- inside -----------------------------------------------------------------------------------

void Lexer::read_inside(TokenKind end) {
  const std::size_t begin = at_;
  while (true) {
    skip_white_space();
    if (at_ >= text_.size()) fail_here(begin, "a tag that does not end");
    if (open_.empty() && read_end(end)) return;
    read_token();
  }
}

bool Lexer::read_end(TokenKind end) {
  const bool is_output = end == TokenKind::OutputEnd;
  const char sign = char_at(at_);
  const std::size_t bracket = at_ + (sign == '-' || (sign == '+' && !is_output) ? 1 : 0);
  if (!has(is_output ? "}}" : "%}", bracket)) return false;
  push(end, at_, "");
  at_ = bracket + 2;
  skip_behind(sign, !is_output);
  return true;
}

void Lexer::read_token() {
  const char c = text_[at_];
  if (is_digit_char(c)) return read_number();
  if (c == '"' || c == '\'') return read_string();
  if (!is_name_char(c)) return read_operator();
  const std::size_t begin = at_;
  while (is_name_char(char_at(at_))) at_++;
  push(TokenKind::Name, begin, std::string(text_.substr(begin, at_ - begin)));
}

// Digits, with single "_" between them.
void Lexer::read_digits(bool (*is_one)(char)) {
  while (is_one(char_at(at_)) || (char_at(at_) == '_' && is_one(char_at(at_ + 1)))) at_++;
}

void Lexer::read_number() {
  const std::size_t begin = at_;
  const char base = static_cast<char>(char_at(at_ + 1) | 0x20);
  TokenKind kind = TokenKind::Integer;
  if (text_[at_] == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    at_ += 2;
    read_digits(is_hex_char);
  } else {
    read_digits(is_digit_char);
    if (char_at(at_) == '.' && is_digit_char(char_at(at_ + 1))) {
      kind = TokenKind::Float;
      at_++;
      read_digits(is_digit_char);
    }
    const std::size_t sign = char_at(at_ + 1) == '-' || char_at(at_ + 1) == '+' ? 1 : 0;
    if ((char_at(at_) | 0x20) == 'e' && is_digit_char(char_at(at_ + 1 + sign))) {
      kind = TokenKind::Float;
      at_ += 1 + sign;
      read_digits(is_digit_char);
    }
  }
  std::string digits(text_.substr(begin, at_ - begin));
  std::erase(digits, '_');
  push(kind, begin, std::move(digits));
}

void Lexer::read_string() {
  const std::size_t begin = at_;
  const char quote = text_[at_++];
  std::string text;
  while (char_at(at_) != quote || at_ >= text_.size()) {
    if (at_ >= text_.size()) fail_here(begin, "a text in quotes that does not end");
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      at_ = read_escape(at_ + 1, text);
    } else {
      text += text_[at_++];
    }
  }
  at_++;
  push(TokenKind::String, begin, std::move(text));
}

// What stands behind a backslash, as in a string of Python.  Returns the place behind it.
std::size_t Lexer::read_escape(std::size_t at, std::string& out) const {
  constexpr std::string_view names = "\\'\"abfnrtv", meanings = "\\'\"\a\b\f\n\r\t\v";
  const char c = text_[at];
  if (const std::size_t i = names.find(c); i != names.npos) {
    out += meanings[i];
    return at + 1;
  }
  if (c == '\n') return at + 1;
  std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  std::uint32_t value = 0;
  if (digits > 0) {
    const std::string_view hex = text_.substr(at + 1, digits);
    const bool is_whole = hex.size() == digits && std::ranges::all_of(hex, is_hex_char);
    if (!is_whole) fail_here(at - 1, "an escape that is not whole");
    value = static_cast<std::uint32_t>(std::stoul(std::string(hex), nullptr, 16));
    at += 1 + digits;
  } else if (c >= '0' && c <= '7') {
    for (; digits < 3 && char_at(at) >= '0' && char_at(at) <= '7'; digits++, at++) {
      value = value * 8 + static_cast<std::uint32_t>(text_[at] - '0');
    }
  } else if (c == 'N') {
    fail_here(at - 1, "names of characters are not supported");
  } else {
    out += '\\';
    return at;
  }
  const bool is_char = value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
  if (!is_char) fail_here(at - 1, "an escape that is no character");
  append_char(out, static_cast<char32_t>(value));
  return at;
}

void Lexer::read_operator() {
  constexpr std::array<std::string_view, 27> operators = {
      "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]",
      "(",  ")",  "{",  "}",  ">",  "<",  "=", ".", ":", "|", ",", ";", "!"};
  const auto* const found =
      std::ranges::find_if(operators, [&](std::string_view text) { return has(text, at_); });
  if (found == operators.end() || *found == "!") {
    fail_here(at_, fmt::format("the character \"{}\", which has no meaning here",
                               text_.substr(at_, byte_of_char(text_.substr(at_), 1))));
  }
  constexpr std::string_view opening = "([{", closing = ")]}";
  const char c = found->front();
  if (opening.find(c) != opening.npos) open_ += c;
  if (const std::size_t kind = closing.find(c); kind != closing.npos) {
    if (open_.empty() || open_.back() != opening[kind]) {
      fail_here(at_, fmt::format("a \"{}\" that closes nothing", c));
    }
    open_.pop_back();
  }
  push(TokenKind::Operator, at_, std::string(*found));
  at_ += found->size();
}

}  // namespace

std::vector<Token> tokens_of(const Source& source) { return Lexer(source).run(); }

}  // namespace croze::llm::jinja
