#include "croze/llm/tokenizer/normalizer.h"

#include <utility>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/byte_level.h"

namespace croze::llm {
namespace {

template <typename Append>
std::string each_char(std::string_view text, Append append) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append(next_char(text, at), result);
  return result;
}

std::string without(std::string_view text, bool (*is_removed)(char32_t)) {
  return each_char(text, [&](char32_t c, std::string& result) {
    if (!is_removed(c)) append_char(result, c);
  });
}

std::string lowered(std::string_view text) {
  return each_char(text, [](char32_t c, std::string& result) { append_lowered(result, c); });
}

std::string stripped(std::string_view text, const StripSpaces& sides) {
  const auto is_space = [&](char32_t c) { return sides.only_plain ? c == ' ' : is_whitespace(c); };
  std::size_t begin = 0, end = text.size();
  for (std::size_t next = begin; sides.left && begin < text.size(); begin = next) {
    if (!is_space(next_char(text, next))) break;
  }
  while (sides.right && end > begin) {
    std::size_t last = end - 1;
    while ((static_cast<std::uint8_t>(text[last]) & 0xC0) == 0x80) last--;
    std::size_t at = last;
    if (!is_space(next_char(text, at))) break;
    end = last;
  }
  return std::string(text.substr(begin, end - begin));
}

// The blocks of Chinese characters as BERT has them.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string cleaned(std::string_view text) {
  return each_char(text, [](char32_t c, std::string& result) {
    const bool is_line = c == '\t' || c == '\n' || c == '\r';
    if (is_line || is_whitespace(c)) {
      if (is_line || !is_other(c)) result += ' ';
    } else if (c != 0 && c != replacement_character && !is_other(c)) {
      append_char(result, c);
    }
  });
}

std::string spaced(std::string_view text) {
  return each_char(text, [](char32_t c, std::string& result) {
    if (is_chinese(c)) result += ' ';
    append_char(result, c);
    if (is_chinese(c)) result += ' ';
  });
}

// Replacements that lengthen a text, one after another, have to stop somewhere.
std::size_t max_bytes_after(std::size_t bytes) { return (64 << 10) + 64 * bytes; }

struct Apply {
  std::string text;
  std::size_t max_bytes;

  std::string operator()(const ToNormalForm& step) const { return normalized(text, step.form); }
  std::string operator()(const Lowercase&) const { return lowered(text); }
  std::string operator()(const StripAccents&) const { return without(text, is_mark); }
  std::string operator()(const StripSpaces& step) const { return stripped(text, step); }
  std::string operator()(const Prepend& step) const {
    return text.empty() ? text : step.text + text;
  }
  std::string operator()(const ReplaceText& step) const {
    return replaced(text, step.from, step.to, max_bytes);
  }
  std::string operator()(const ReplacePattern& step) const {
    std::string result;
    for (const MatchedPart& part : step.from.parts(text)) {
      result += part.is_match ? std::string_view(step.to)
                              : std::string_view(text).substr(part.begin, part.end - part.begin);
      check(result.size() <= max_bytes, "replacing makes a text of more than {} bytes", max_bytes);
    }
    return result;
  }
  std::string operator()(const ReplaceChars& step) const {
    return step.table.normalized(text, max_bytes);
  }
  std::string operator()(const BytesAsChars&) const {
    std::string result;
    append_bytes_as_chars(text, result);
    return result;
  }
  std::string operator()(const BertText& step) const {
    std::string result = step.clean ? cleaned(text) : text;
    if (step.space_cjk) result = spaced(result);
    if (step.strip_accents) result = without(normalized(result, NormalForm::D), is_nonspacing_mark);
    return step.lowercase ? lowered(result) : result;
  }
};

}  // namespace

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::size_t max_bytes) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) return result;
    result += to;
    at = found + from.size();
    check(result.size() <= max_bytes, "replacing makes a text of more than {} bytes", max_bytes);
  }
}

std::string Normalizer::normalized(std::string text) const {
  const std::size_t max_bytes = max_bytes_after(text.size());
  for (const NormalizerStep& step : steps_) {
    text = std::visit(Apply{std::move(text), max_bytes}, step);
  }
  return text;
}

}  // namespace croze::llm
