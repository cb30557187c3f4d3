#include "croze/llm/template/characters.h"

#include <string.h>
#include <utf8proc.h>

#include <algorithm>

#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {
namespace {

auto category_of(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

// Where the character that ends before `end` begins.
std::size_t char_before(std::string_view text, std::size_t end) {
  do {
    end--;
  } while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return end;
}

}  // namespace

bool is_space(char32_t c) { return is_whitespace(c) || (c >= 0x1c && c <= 0x1f); }

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_upper(char32_t c) { return utf8proc_isupper(static_cast<utf8proc_int32_t>(c)) != 0; }
bool is_lower(char32_t c) { return utf8proc_islower(static_cast<utf8proc_int32_t>(c)) != 0; }

bool is_letter(char32_t c) {
  const auto category = category_of(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_digit(char32_t c) { return category_of(c) == UTF8PROC_CATEGORY_ND; }

void append_upper(std::string& text, char32_t c) {
  append_char(text, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}

void append_lower(std::string& text, char32_t c) { append_lowered(text, c); }

std::string uppered(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) append_upper(result, next_char(text, at));
  return result;
}

std::string lowered(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) append_lower(result, next_char(text, at));
  return result;
}

std::string capitalized(std::string_view text) {
  std::string result;
  std::size_t at = 0;
  if (!text.empty()) append_upper(result, next_char(text, at));
  return result + lowered(text.substr(at));
}

std::int64_t count_chars(std::string_view text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

std::size_t byte_of_char(std::string_view text, std::int64_t number) {
  std::size_t at = 0;
  for (; number > 0 && at < text.size(); number--) next_char(text, at);
  return at;
}

std::string_view stripped(std::string_view text, Side side, const std::string* chars) {
  const auto goes = [&](std::string_view one) {
    std::size_t at = 0;
    return chars ? chars->find(one) != chars->npos : is_space(next_char(one, at));
  };
  while (side != Side::Right && !text.empty()) {
    std::size_t end = 0;
    next_char(text, end);
    if (!goes(text.substr(0, end))) break;
    text.remove_prefix(end);
  }
  while (side != Side::Left && !text.empty()) {
    const std::size_t begin = char_before(text, text.size());
    if (!goes(text.substr(begin))) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::size_t find_text(std::string_view text, std::string_view needle, std::size_t from) {
  if (from > text.size()) return text.npos;
  if (needle.empty()) return from;
  // One byte is found as soon; and the address sanitizer looks at all of the text for memmem, each
  // time that something near is found.
  if (needle.size() == 1) return text.find(needle[0], from);
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  if (!found) return text.npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace croze::llm::jinja
