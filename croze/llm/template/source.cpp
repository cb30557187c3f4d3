#include "croze/llm/template/source.h"

#include <algorithm>
#include <utility>

#include "croze/llm/template/characters.h"
#include "croze/llm/tokenizer/unicode.h"

namespace croze::llm::jinja {

Source::Source(std::string_view text, std::string name) : name_(std::move(name)) {
  check(text.size() <= max_bytes, "{}: a template of {} bytes, more than {}", name_, text.size(),
        max_bytes);
  const std::string valid = to_valid_utf8(text);
  for (std::size_t i = 0; i < valid.size(); i++) {
    if (valid[i] != '\r') {
      text_ += valid[i];
    } else if (i + 1 == valid.size() || valid[i + 1] != '\n') {
      text_ += '\n';
    }
  }
  if (text_.ends_with('\n')) text_.pop_back();
}

void Source::fail_at(Place place, std::string_view problem) const {
  const std::string_view before = std::string_view(text_).substr(0, place.offset);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  fail({}, "{}: line {}, column {}: {}", name_, 1 + std::ranges::count(before, '\n'),
       1 + count_chars(before.substr(line_begin)), problem);
}

}  // namespace croze::llm::jinja
