// slices.h -- a long text piece by piece, so that what is made of it in between stays small.
#pragma once

#include <algorithm>
#include <string_view>

namespace croze::llm {

// Calls function(slice) for pieces of about a megabyte that end where a line does, if there is one.
template <typename F>
void for_each_slice(std::string_view text, F function) {
  constexpr std::size_t most = std::size_t{1} << 20;
  while (!text.empty()) {
    std::size_t end = std::min(most, text.size());
    if (end < text.size()) {
      const std::size_t line_end = text.rfind('\n', end - 1);
      if (line_end != std::string_view::npos) end = line_end + 1;
    }
    function(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace croze::llm
