#include "croze/llm/tokenizer/files/json_fields.h"

#include <limits>

#include "croze/base/error.h"

namespace croze::llm {

JsonFields::JsonFields(const JsonValue& object, std::string_view what)
    : object_(object), what_(what) {
  check(object.is_object(), "{} is not an object", what);
}

const JsonValue* JsonFields::find(const char* name) const {
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const JsonValue& JsonFields::at(const char* name) const {
  const JsonValue* value = find(name);
  check(value != nullptr, "{} has no \"{}\"", what_, name);
  return *value;
}

void JsonFields::fail_kind(const char* name, const char* kind) const {
  fail({}, "\"{}\" of {} is not {}", name, what_, kind);
}

const std::string& JsonFields::text(const char* name) const {
  const JsonValue& value = at(name);
  if (!value.is_string()) fail_kind(name, "a text");
  return value.get_ref<const std::string&>();
}

std::string JsonFields::text_or(const char* name, std::string_view otherwise) const {
  return find(name) ? text(name) : std::string(otherwise);
}

bool JsonFields::flag_or(const char* name, bool otherwise) const {
  const JsonValue* value = find(name);
  if (!value) return otherwise;
  if (!value->is_boolean()) fail_kind(name, "true or false");
  return value->get<bool>();
}

std::int64_t JsonFields::integer(const char* name) const {
  const JsonValue& value = at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX) {
    fail_kind(name, "a number that counts");
  }
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::integer_or(const char* name, std::int64_t otherwise) const {
  return find(name) ? integer(name) : otherwise;
}

const JsonValue& JsonFields::array(const char* name) const {
  const JsonValue& value = at(name);
  if (!value.is_array()) fail_kind(name, "an array");
  return value;
}

const JsonValue& JsonFields::object(const char* name) const {
  const JsonValue& value = at(name);
  if (!value.is_object()) fail_kind(name, "an object");
  return value;
}

std::int32_t token_id_from(const JsonValue& value) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()) - 1;
  check(value.is_number_unsigned() && value.get<std::uint64_t>() <= largest,
        "{} is no number of a token",
        shortened(value.dump(-1, ' ', false, JsonValue::error_handler_t::replace)));
  return value.get<std::int32_t>();
}

}  // namespace croze::llm
