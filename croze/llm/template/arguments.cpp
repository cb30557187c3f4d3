#include "croze/llm/template/arguments.h"

#include <algorithm>
#include <cstddef>

#include "croze/base/error.h"

namespace croze::llm::jinja {

const Value* Arguments::find(std::string_view name) {
  if (next_ < positional_.size()) return &positional_[next_++];
  const auto it = std::ranges::find(named_, name, &std::pair<std::string, Value>::first);
  if (it == named_.end()) return nullptr;
  taken_.push_back(std::move(it->second));
  named_.erase(it);
  return &taken_.back();
}

const Value& Arguments::take(std::string_view name) {
  const Value* value = find(name);
  check(value != nullptr, "the argument \"{}\" is missing", name);
  return *value;
}

std::int64_t Arguments::integer(std::string_view name) {
  const Value& value = take(name);
  check(value.is_integral(), "the argument \"{}\" is no integer but {}", name, value.type_name());
  return value.integer();
}

std::int64_t Arguments::integer_or(std::string_view name, std::int64_t otherwise) {
  const Value* value = find(name);
  if (!value || value->is_none()) return otherwise;
  check(value->is_integral(), "the argument \"{}\" is no integer but {}", name, value->type_name());
  return value->integer();
}

bool Arguments::flag_or(std::string_view name, bool otherwise) {
  const Value* value = find(name);
  return value ? value->is_true() : otherwise;
}

const std::string& Arguments::text(std::string_view name) {
  const Value& value = take(name);
  check(value.is_text(), "the argument \"{}\" is no text but {}", name, value.type_name());
  return value.text();
}

std::string Arguments::text_or(std::string_view name, std::string_view otherwise) {
  const Value* value = find(name);
  if (!value || value->is_none()) return std::string(otherwise);
  check(value->is_text(), "the argument \"{}\" is no text but {}", name, value->type_name());
  return value->text();
}

std::vector<Value> Arguments::rest() {
  std::vector<Value> values(positional_.begin() + static_cast<std::ptrdiff_t>(next_),
                            positional_.end());
  next_ = positional_.size();
  return values;
}

void Arguments::finish() const {
  check(next_ == positional_.size(), "{} arguments more than it takes", positional_.size() - next_);
  check(named_.empty(), "it has no argument \"{}\"", named_.empty() ? "" : named_[0].first);
}

}  // namespace croze::llm::jinja
