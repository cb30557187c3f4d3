// json.h -- a JSON value, for what programs report.  Its text is the affair of nlohmann/json, whose
// header is slow to compile and is seen by json.cpp alone.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace croze {

class Json {
 public:
  struct Member;  // a name and its value

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  // An object, its members in this order: Json{{"name", "relu"}, {"inputs", 1}}.
  Json(std::initializer_list<Member> members);
  template <typename T>
  Json(std::span<const T> elements);
  template <typename T>
  Json(const std::vector<T>& elements) : Json(std::span<const T>(elements)) {}
  template <typename T>
  Json(const std::map<std::string, T>& members);

  static Json array();
  static Json object();
  // Throws Error if `text` is no JSON, or nested hundreds of levels deep.
  static Json parse(std::string_view text);

  // The number or flag as any arithmetic type, or the text as std::string.  InternalError if it is
  // none.
  template <typename T>
  T get() const;
  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_flag() const { return std::holds_alternative<bool>(value_); }
  bool is_float() const { return std::holds_alternative<double>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }

  // The member of this name.  One that is missing is made, and null becomes an object; of a
  // constant it is an InternalError.
  Json& operator[](std::string_view name);
  const Json& operator[](std::string_view name) const;
  bool contains(std::string_view name) const;
  // Of an object.
  const std::vector<std::string>& names() const;

  // Null becomes an array.
  void push_back(Json element);
  // Of an array, or the values of an object in the order of its names.
  const std::vector<Json>& elements() const&;
  std::vector<Json>& elements() &;
  void elements() && = delete;  // they would be gone

  // On one line, or with `indent` spaces a level.  Bytes that are no UTF-8 are replaced.
  std::string dump(int indent = -1) const;

 private:
  struct ToText;
  struct Array {
    std::vector<Json> elements;
  };
  struct Object {
    std::vector<std::string> names;
    std::vector<Json> values;
  };

  double number() const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

template <typename T>
Json::Json(std::span<const T> elements) : Json(array()) {
  for (const T& e : elements) push_back(e);
}

template <typename T>
Json::Json(const std::map<std::string, T>& members) : Json(object()) {
  for (const auto& [name, value] : members) (*this)[name] = value;
}

template <>
std::string Json::get<std::string>() const;

template <typename T>
T Json::get() const {
  static_assert(std::is_arithmetic_v<T>);
  if (const auto* flag = std::get_if<bool>(&value_)) return static_cast<T>(*flag);
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return static_cast<T>(*integer);
  return static_cast<T>(number());
}

}  // namespace croze
