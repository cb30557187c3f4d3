// unicode.cpp -- UTF-8 by the tables of the standard, properties and normal forms by utf8proc.
#include "croze/llm/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

// Lead bytes and the second bytes that may follow them (Unicode, table 3-7); all later ones are
// from 80 to BF.
struct Lead {
  std::uint8_t first, last;  // lead bytes
  std::uint8_t length;
  std::uint8_t low, high;  // of the second byte
};
constexpr Lead leads[] = {{0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
                          {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F},
                          {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF},
                          {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F}};

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

int category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool is_in(int category, int first, int last) { return first <= category && category <= last; }

bool is_ascii(char c) { return static_cast<std::uint8_t>(c) < 0x80; }

constexpr char32_t first_mark = 0x300;

}  // namespace

ScannedChar scan_char(std::string_view bytes) {
  using Kind = ScannedChar::Kind;
  const std::uint8_t first = byte_at(bytes, 0);
  if (first < 0x80) return {Kind::Whole, first, 1};
  const auto* lead = std::ranges::find_if(
      leads, [&](const Lead& l) { return l.first <= first && first <= l.last; });
  if (lead == std::end(leads)) return {};
  auto value = static_cast<char32_t>(first & (0x7F >> lead->length));
  for (std::size_t i = 1; i < lead->length; i++) {
    if (i == bytes.size()) return {Kind::Cut, replacement_character, i};
    const std::uint8_t low = i == 1 ? lead->low : 0x80, high = i == 1 ? lead->high : 0xBF;
    const std::uint8_t byte = byte_at(bytes, i);
    if (byte < low || byte > high) return {Kind::Invalid, replacement_character, i};
    value = value << 6 | (byte & 0x3F);
  }
  return {Kind::Whole, value, lead->length};
}

void append_char(std::string& text, char32_t c) {
  if (c < 0x80) return text.push_back(static_cast<char>(c));
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

bool is_valid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (is_ascii(bytes[at])) {
      at++;
      continue;
    }
    const ScannedChar found = scan_char(bytes.substr(at));
    if (found.kind != ScannedChar::Kind::Whole) return false;
    at += found.length;
  }
  return true;
}

std::string to_valid_utf8(std::string_view bytes) {
  if (is_valid_utf8(bytes)) return std::string(bytes);
  std::string text;
  Utf8Assembler assembler;
  assembler.push(bytes, text);
  assembler.finish(text);
  return text;
}

void Utf8Assembler::push(std::string_view bytes, std::string& text) {
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(at);
    const ScannedChar found = scan_char(rest);
    if (found.kind == ScannedChar::Kind::Cut) break;
    if (found.kind == ScannedChar::Kind::Whole) {
      text += rest.substr(0, found.length);
    } else {
      append_char(text, replacement_character);
    }
    at += found.length;
  }
  pending_.erase(0, at);
}

void Utf8Assembler::finish(std::string& text) {
  if (!pending_.empty()) append_char(text, replacement_character);
  pending_.clear();
}

bool is_whitespace(char32_t c) {
  switch (c) {
    case 0x20:
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000: return true;
    default: return (c >= 0x09 && c <= 0x0D) || (c >= 0x2000 && c <= 0x200A);
  }
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c > 0x20 && c < 0x30) || (c > 0x39 && c < 0x41) || (c > 0x5A && c < 0x61) ||
           (c > 0x7A && c < 0x7F);
  }
  return is_in(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_number(char32_t c) {
  return is_in(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_mark(char32_t c) {
  return c >= first_mark && is_in(category(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing_mark(char32_t c) {
  return c >= first_mark && category(c) == UTF8PROC_CATEGORY_MN;
}

bool is_other(char32_t c) {
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  return is_in(category(c), UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_word(char32_t c) {
  const int kind = category(c);
  return is_in(kind, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NL) || kind == UTF8PROC_CATEGORY_PC;
}

void append_lowered(std::string& text, char32_t c) {
  if (c == 0x130) {
    text += "i\u0307";
  } else if (c < 0x80) {
    text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  } else {
    append_char(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

// utf8proc orders marks by exchanging neighbours, which takes time that is quadratic in the marks
// of one character.  So characters are decomposed one by one and the marks sorted here; composing
// is linear and left to utf8proc.
static std::string normalized_by_tables(std::string_view text, NormalForm form) {
  const bool compat = form == NormalForm::KC || form == NormalForm::KD;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compat ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> chars;
  chars.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::array<utf8proc_int32_t, 32> parts;  // U+FDFA has the most, 18
    int boundary = 0;
    const auto c = static_cast<utf8proc_int32_t>(next_char(text, at));
    const auto count =
        utf8proc_decompose_char(c, parts.data(), std::ssize(parts), options, &boundary);
    ensure(count >= 0 && count <= std::ssize(parts), "U+{:04X} does not decompose", c);
    chars.insert(chars.end(), parts.begin(), parts.begin() + count);
  }
  const auto order = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
  for (auto begin = chars.begin(); begin != chars.end();) {
    auto end = begin + 1;
    if (order(*begin) != 0) {
      end = std::find_if(begin, chars.end(), [&](auto c) { return order(c) == 0; });
      std::stable_sort(begin, end, [&](auto a, auto b) { return order(a) < order(b); });
    }
    begin = end;
  }
  if (form == NormalForm::C || form == NormalForm::KC) {
    const auto compose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                        (options & UTF8PROC_COMPAT));
    const auto count = utf8proc_normalize_utf32(chars.data(), std::ssize(chars), compose);
    ensure(count >= 0 && count <= std::ssize(chars), "the text does not compose");
    chars.resize(static_cast<std::size_t>(count));
  }
  std::string result;
  result.reserve(text.size());
  for (const utf8proc_int32_t c : chars) append_char(result, static_cast<char32_t>(c));
  return result;
}

// Form C leaves characters below U+0300 as they are, and joins none of them with what stands before
// it; the first byte of another character is at least this one.
static std::string composed(std::string_view text) {
  constexpr std::uint8_t begins_0300 = 0xCC;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const auto goes_on = [&](std::size_t at) { return (byte(at) & 0xC0) == 0x80; };
  std::string result;
  result.reserve(text.size());
  for (std::size_t done = 0; done < text.size();) {
    std::size_t first = done;
    while (first < text.size() && byte(first) < begins_0300) first++;
    // What may change: from the character before on, with which a mark may be joined.
    std::size_t begin = first, end = first;
    if (begin > done && first < text.size()) {
      do begin--;
      while (goes_on(begin));
    }
    while (end < text.size() && (byte(end) >= begins_0300 || goes_on(end))) end++;
    result += text.substr(done, begin - done);
    if (end > begin) {
      result += normalized_by_tables(text.substr(begin, end - begin), NormalForm::C);
    }
    done = end;
  }
  return result;
}

// ASCII decomposes into itself, and no mark is moved across it.
static std::string decomposed(std::string_view text, NormalForm form) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const bool as_it_is = is_ascii(text[begin]);
    std::size_t end = begin + 1;
    while (end < text.size() && is_ascii(text[end]) == as_it_is) end++;
    const std::string_view run = text.substr(begin, end - begin);
    if (as_it_is) {
      result += run;
    } else {
      result += normalized_by_tables(run, form);
    }
    begin = end;
  }
  return result;
}

std::string normalized(std::string_view text, NormalForm form) {
  if (std::ranges::all_of(text, is_ascii)) return std::string(text);
  switch (form) {
    case NormalForm::C: return composed(text);
    case NormalForm::D:
    case NormalForm::KD: return decomposed(text, form);
    case NormalForm::KC: break;
  }
  return normalized_by_tables(text, form);
}

std::size_t grapheme_length(std::string_view text) {
  std::size_t at = 0;
  auto before = static_cast<utf8proc_int32_t>(next_char(text, at));
  utf8proc_int32_t state = 0;
  while (at < text.size()) {
    std::size_t end = at;
    const auto c = static_cast<utf8proc_int32_t>(next_char(text, end));
    if (utf8proc_grapheme_break_stateful(before, c, &state)) break;
    before = c;
    at = end;
  }
  return at;
}

}  // namespace croze::llm
