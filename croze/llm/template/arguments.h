// arguments.h -- what a function, filter or test of a template is called with.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/llm/template/value.h"

namespace croze::llm::jinja {

// A function takes its parameters in their order, each from the arguments without a name as long as
// there are some, and by its name then.  Throws Error for what is missing or of another type.
class Arguments {
 public:
  using Named = std::vector<std::pair<std::string, Value>>;

  Arguments() = default;
  Arguments(std::vector<Value> positional, Named named)
      : positional_(std::move(positional)), named_(std::move(named)) {}

  // Null if it is not given.
  const Value* find(std::string_view name);
  const Value& take(std::string_view name);

  std::int64_t integer(std::string_view name);
  std::int64_t integer_or(std::string_view name, std::int64_t otherwise);
  bool flag_or(std::string_view name, bool otherwise);
  const std::string& text(std::string_view name);
  std::string text_or(std::string_view name, std::string_view otherwise);

  // Whether there is one without a name that has not been taken.
  bool has_positional() const { return next_ < positional_.size(); }
  // The same arguments for another call; of these none has been taken.
  Arguments copy() const { return {positional_, named_}; }
  // All that has not been taken.
  std::vector<Value> rest();
  Named rest_named() { return std::exchange(named_, {}); }
  // Throws Error if something has not been taken.
  void finish() const;

 private:
  std::vector<Value> positional_;
  std::size_t next_ = 0;
  Named named_;
  std::deque<Value> taken_;  // of those with a name: pointers to them are given out
};

}  // namespace croze::llm::jinja
