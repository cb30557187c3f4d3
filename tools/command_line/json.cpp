// json.cpp -- values of JSON, and their text.
#include "command_line/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "croze/base/error.h"

namespace croze {
namespace {

using Text = nlohmann::ordered_json;

// Values are made and destroyed by recursion.
constexpr int max_depth = 256;

Json from_text(const Text& text) {
  if (text.is_boolean()) return text.get<bool>();
  if (text.is_number_integer()) return text.get<std::int64_t>();
  if (text.is_number()) return text.get<double>();
  if (text.is_string()) return text.get<std::string>();
  Json json = text.is_array() ? Json::array() : text.is_object() ? Json::object() : Json();
  for (const auto& [name, value] : text.items()) {
    if (text.is_array()) {
      json.push_back(from_text(value));
    } else {
      json[name] = from_text(value);
    }
  }
  return json;
}

}  // namespace

struct Json::ToText {
  Text operator()(std::monostate) const { return nullptr; }
  Text operator()(const auto& plain) const { return plain; }
  Text operator()(const Array& array) const {
    Text text = Text::array();
    for (const Json& e : array.elements) text.push_back(std::visit(*this, e.value_));
    return text;
  }
  Text operator()(const Object& object) const {
    Text text = Text::object();
    for (std::size_t i = 0; i < object.names.size(); i++) {
      text[object.names[i]] = std::visit(*this, object.values[i].value_);
    }
    return text;
  }
};

Json::Json(std::initializer_list<Member> members) : Json(object()) {
  for (const Member& m : members) (*this)[m.name] = m.value;
}

Json Json::array() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json Json::parse(std::string_view text) {
  bool is_too_deep = false;
  const auto see = [&](int depth, Text::parse_event_t, Text&) {
    is_too_deep = is_too_deep || depth > max_depth;
    return !is_too_deep;  // else it is left out
  };
  const Text parsed = Text::parse(text, see, /*allow_exceptions=*/false);
  check(!is_too_deep, "JSON is nested more than {} deep", max_depth);
  check(!parsed.is_discarded(), "this is no JSON: {}", text);
  return from_text(parsed);
}

double Json::number() const {
  const double* number = std::get_if<double>(&value_);
  if (!number) fail_internal({}, "{} is no number", dump());
  return *number;
}

template <>
std::string Json::get<std::string>() const {
  const std::string* text = std::get_if<std::string>(&value_);
  if (!text) fail_internal({}, "{} is no text", dump());
  return *text;
}

const std::vector<std::string>& Json::names() const {
  const Object* object = std::get_if<Object>(&value_);
  if (!object) fail_internal({}, "{} is no object", dump());
  return object->names;
}

bool Json::contains(std::string_view name) const {
  const Object* object = std::get_if<Object>(&value_);
  return object && std::ranges::find(object->names, name) != object->names.end();
}

const Json& Json::operator[](std::string_view name) const {
  if (!contains(name)) fail_internal({}, "{} has no member {}", dump(), name);
  const auto& [names, values] = std::get<Object>(value_);
  return values[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  if (!contains(name)) {
    if (!std::holds_alternative<Object>(value_)) fail_internal({}, "{} is no object", dump());
    auto& [names, values] = std::get<Object>(value_);
    names.emplace_back(name);
    values.emplace_back();
  }
  return const_cast<Json&>(std::as_const(*this)[name]);
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array();
  elements().push_back(std::move(element));
}

const std::vector<Json>& Json::elements() const& {
  if (const Object* object = std::get_if<Object>(&value_)) return object->values;
  const Array* array = std::get_if<Array>(&value_);
  if (!array) fail_internal({}, "{} is no array", dump());
  return array->elements;
}

std::vector<Json>& Json::elements() & {
  return const_cast<std::vector<Json>&>(std::as_const(*this).elements());
}

std::string Json::dump(int indent) const {
  return std::visit(ToText(), value_).dump(indent, ' ', false, Text::error_handler_t::replace);
}

}  // namespace croze
