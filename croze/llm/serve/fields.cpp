#include "croze/llm/serve/fields.h"

#include <fmt/format.h>

#include <utility>

#include "croze/base/printable.h"
#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {

using jinja::Value;

Fields::Fields(const Value& object, std::string where) : object_(object), where_(std::move(where)) {
  if (object_.dict()) return;
  const std::string name = where_.empty() ? "" : where_.substr(0, where_.size() - 1);
  throw Refusal(400, fmt::format("{} is not an object of JSON", name.empty() ? "the body" : name),
                name);
}

Fields Fields::parse(std::string_view json) {
  Value value;
  try {
    value = Value::parse(json, "the body");
  } catch (const Error& e) {
    throw Refusal(400, e.message());
  }
  return Fields(value);
}

std::string Fields::path(std::string_view name) const { return where_ + std::string(name); }

void Fields::refuse(std::string_view name, const std::string& problem) const {
  throw Refusal(400, fmt::format("{}: {}", path(name), problem), path(name));
}

const Value* Fields::find(std::string_view name) const {
  known_.emplace(name);
  const Value* value = object_.dict()->find_name(name);
  return value && !value->is_none() ? value : nullptr;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t lowest,
                                            std::int64_t highest) const {
  const Value* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_integer() || value->integer() < lowest || value->integer() > highest) {
    refuse(name, fmt::format("an integer from {} to {} is wanted", lowest, highest));
  }
  return value->integer();
}

std::optional<double> Fields::number(std::string_view name, double lowest, double highest) const {
  const Value* value = find(name);
  if (!value) return std::nullopt;
  const bool is_number = value->is_integer() || value->is_float();
  if (!is_number || !(value->number() >= lowest && value->number() <= highest)) {
    refuse(name, fmt::format("a number from {} to {} is wanted", lowest, highest));
  }
  return value->number();
}

bool Fields::flag(std::string_view name, bool otherwise) const {
  const Value* value = find(name);
  if (!value) return otherwise;
  if (!value->is_flag()) refuse(name, "true or false is wanted");
  return value->is_true();
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const Value* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_text()) refuse(name, "a text is wanted");
  return value->text();
}

std::string Fields::required_text(std::string_view name) const {
  auto value = text(name);
  if (!value) refuse(name, "it is missing");
  return *std::move(value);
}

std::vector<std::string> Fields::texts(std::string_view name, std::size_t most) const {
  const Value* value = find(name);
  if (!value) return {};
  if (value->is_text()) return {value->text()};
  const jinja::Sequence* sequence = value->sequence();
  if (!sequence || sequence->elements.size() > most) {
    refuse(name, fmt::format("a text or at most {} texts are wanted", most));
  }
  std::vector<std::string> result;
  for (const Value& element : sequence->elements) {
    if (!element.is_text()) refuse(name, "one of the texts is none");
    result.push_back(element.text());
  }
  return result;
}

const jinja::Sequence* Fields::list(std::string_view name) const {
  const Value* value = find(name);
  if (!value) return nullptr;
  if (!value->sequence()) refuse(name, "a list is wanted");
  return value->sequence();
}

std::optional<Fields> Fields::object(std::string_view name) const {
  const Value* value = find(name);
  if (!value) return std::nullopt;
  return Fields(*value, path(name) + ".");
}

void Fields::ignore(std::span<const std::string_view> names) const {
  for (const std::string_view name : names) known_.emplace(name);
}

void Fields::check_all_known() const {
  for (const auto& [key, value] : object_.dict()->members()) {
    if (!known_.contains(key.text())) {
      refuse(shortened(key.text()), "there is no such parameter");
    }
  }
}

}  // namespace croze::llm::serve
