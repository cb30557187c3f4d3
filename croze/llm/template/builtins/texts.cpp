#include "croze/llm/template/builtins/texts.h"

#include <algorithm>

#include "croze/llm/template/characters.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {

Value replaced(std::string_view text, std::string_view from, std::string_view to, std::int64_t most,
               Budget& budget) {
  TextBuilder out(budget);
  budget.reading(text.size());
  std::size_t copied = 0, at = 0;
  for (std::int64_t count = 0; most < 0 || count < most; count++) {
    at = find_text(text, from, at);
    if (at == text.npos) break;
    budget.work(1);
    out.append(text.substr(copied, at - copied));
    out.append(to);
    copied = at + from.size();
    at = copied;
    if (from.empty()) {
      if (at == text.size()) break;
      next_char(text, at);
    }
  }
  out.append(text.substr(copied));
  return out.take();
}

std::vector<std::string_view> lines_of(std::string_view text, bool with_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t c = next_char(text, at);
    const bool ends = (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    if (!ends) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') at++;
    lines.push_back(text.substr(begin, (with_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

Value centered(std::string_view text, std::int64_t width, std::string_view fill, Budget& budget) {
  const std::int64_t missing = std::max<std::int64_t>(width - count_chars(text), 0);
  const std::int64_t left = missing / 2 + (missing & width & 1);
  TextBuilder out(budget);
  out.repeat(fill, left);
  out.append(text);
  out.repeat(fill, missing - left);
  return out.take();
}

}  // namespace croze::llm::jinja
