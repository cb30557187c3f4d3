// history.cpp -- a history as text, and back.
#include "croze/llm/train/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

constexpr std::string_view names = "step\tloss\tgradient norm\tlearning rate\tvalidation";

// What stands before the next separator, which is taken off with it.
std::string_view next_field(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

template <typename T>
T number_of(std::string_view field, const std::string& source) {
  T number{};
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), number);
  check(problem == std::errc() && end == field.data() + field.size(),
        "{}: the history of losses is damaged", source);
  return number;
}

}  // namespace

std::string to_text(const TrainingHistory& history) {
  std::string text(names);
  text += '\n';
  for (std::size_t i = 0; i < history.size(); i++) {
    const TrainingStep& s = history[i];
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t", i + 1, s.loss, s.gradient_norm,
                   s.learning_rate);
    if (s.validation) fmt::format_to(std::back_inserter(text), "{}", *s.validation);
    text += '\n';
  }
  return text;
}

TrainingHistory history_from_text(std::string_view text, const std::string& source) {
  check(next_field(text, '\n') == names, "{}: there is no history of losses", source);
  TrainingHistory history;
  while (!text.empty()) {
    std::string_view line = next_field(text, '\n');
    const auto number = number_of<std::size_t>(next_field(line, '\t'), source);
    check(number == history.size() + 1, "{}: the history of losses is damaged", source);
    TrainingStep& s = history.emplace_back();
    s.loss = number_of<float>(next_field(line, '\t'), source);
    s.gradient_norm = number_of<float>(next_field(line, '\t'), source);
    s.learning_rate = number_of<float>(next_field(line, '\t'), source);
    if (!line.empty()) s.validation = number_of<double>(line, source);
  }
  return history;
}

}  // namespace croze::llm
