#include "croze/llm/template/budget.h"

#include "croze/base/error.h"

namespace croze::llm::jinja {

void Budget::work(std::int64_t steps) {
  check(steps <= steps_, "the template takes more than {} steps", limits_.steps);
  steps_ -= steps;
}

void Budget::memory(std::int64_t bytes) {
  check(bytes <= bytes_, "the template makes texts and lists of more than {} bytes", limits_.bytes);
  bytes_ -= bytes;
}

void Budget::elements(std::size_t count) {
  work(static_cast<std::int64_t>(count));
  memory(static_cast<std::int64_t>(count * sizeof(Value)));
}

void TextBuilder::repeat(std::string_view text, std::int64_t count) {
  if (text.empty() || count <= 0) return;
  std::int64_t bytes;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(text.size()), count, &bytes)) {
    bytes = INT64_MAX;
  }
  budget_.memory(bytes);
  text_.reserve(text_.size() + static_cast<std::size_t>(bytes));
  for (std::int64_t i = 0; i < count; i++) text_ += text;
}

}  // namespace croze::llm::jinja
