// budget.h -- what a template may use.  Templates come with models from anywhere, and a few lines
// of one can ask for any time and any memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "croze/llm/template/limits.h"
#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// Counts down; each function throws Error when too little is left.
class Budget {
 public:
  explicit Budget(const Limits& limits)
      : limits_(limits), steps_(limits.steps), bytes_(limits.bytes) {}

  void work(std::int64_t steps);
  // Memory that is about to be taken.  What is given back does not count: a template that takes a
  // little again and again ends by the same limit.
  void memory(std::int64_t bytes);
  // Looking at so many bytes of texts.
  void reading(std::size_t bytes) { work(1 + static_cast<std::int64_t>(bytes / 16)); }
  // Making so many elements.
  void elements(std::size_t count);

 private:
  const Limits limits_;
  std::int64_t steps_, bytes_;
};

// A text that is being made.
class TextBuilder {
 public:
  explicit TextBuilder(Budget& budget) : budget_(budget) {}

  void append(std::string_view text) {
    budget_.memory(static_cast<std::int64_t>(text.size()));
    text_ += text;
  }
  void append(char c) { append(std::string_view(&c, 1)); }
  // The text so many times; none if `count` is negative.
  void repeat(std::string_view text, std::int64_t count);

  std::size_t size() const { return text_.size(); }
  const std::string& text() const { return text_; }
  Budget& budget() const { return budget_; }
  std::string take() { return std::move(text_); }

 private:
  Budget& budget_;
  std::string text_;
};

}  // namespace croze::llm::jinja
