// stop_strings.cpp -- holds back what may become one of the texts.
#include "croze/llm/generate/stop_strings.h"

#include <algorithm>
#include <utility>

namespace croze::llm {

std::size_t begun(std::string_view text, std::string_view stop) {
  std::size_t length = std::min(text.size(), stop.size());
  while (length > 0 && !stop.starts_with(text.substr(text.size() - length))) length--;
  return length;
}

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, "");
}

std::string StopStrings::push(std::string_view text) {
  if (is_stopped_) return {};
  held_ += text;
  std::size_t first = std::string::npos, unsure = 0;
  for (const std::string& stop : stops_) {
    first = std::min(first, held_.find(stop));
    unsure = std::max(unsure, begun(held_, stop));
  }
  is_stopped_ = first != std::string::npos;
  const std::size_t shown = is_stopped_ ? first : held_.size() - unsure;
  std::string result = held_.substr(0, shown);
  held_ = is_stopped_ ? "" : held_.substr(shown);
  return result;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace croze::llm
