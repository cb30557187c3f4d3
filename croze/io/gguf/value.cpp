// value.cpp -- values of metadata in the kinds that are asked for.
#include "croze/io/gguf/value.h"

#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/printable.h"

namespace croze {
namespace {

constexpr std::string_view type_names[] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                           "int32",  "float32", "bool",   "string", "array",
                                           "uint64", "int64",   "float64"};

template <typename T>
constexpr bool is_integer = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
constexpr bool is_number = is_integer<T> || std::floating_point<T>;

template <typename T>
std::optional<std::int64_t> integer_from(const T& value) {
  if constexpr (is_integer<T>) {
    if (std::in_range<std::int64_t>(value)) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t GgufArray::size() const {
  return std::visit([](const auto& list) { return std::ssize(list); }, elements);
}

std::string type_name(const GgufValue& value) {
  const GgufArray* array = std::get_if<GgufArray>(&value);
  if (!array) return std::string(type_names[value.index()]);
  return fmt::format("array of {}", type_names[array->elements.index()]);
}

GgufMetadata::GgufMetadata(std::string source, Map values)
    : source_(std::move(source)), values_(std::move(values)) {}

const GgufValue& GgufMetadata::at(std::string_view name) const {
  const auto it = values_.find(name);
  check(it != values_.end(), "{}: the metadata have no \"{}\"", source_, shortened(name));
  return it->second;
}

void GgufMetadata::fail_kind(std::string_view name, std::string_view wanted) const {
  fail({}, "{}: the metadata \"{}\" are {}, not {}", source_, shortened(name), type_name(at(name)),
       wanted);
}

std::int64_t GgufMetadata::integer(std::string_view name) const {
  const auto found = std::visit([](const auto& v) { return integer_from(v); }, at(name));
  if (!found) fail_kind(name, "an integer that fits 64 bits with a sign");
  return *found;
}

double GgufMetadata::number(std::string_view name) const {
  const auto convert = [&](const auto& value) -> double {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (is_number<T>) return static_cast<double>(value);
    fail_kind(name, "a number");
  };
  return std::visit(convert, at(name));
}

bool GgufMetadata::flag(std::string_view name) const {
  const bool* value = std::get_if<bool>(&at(name));
  if (!value) fail_kind(name, "a bool");
  return *value;
}

const std::string& GgufMetadata::text(std::string_view name) const {
  const std::string* value = std::get_if<std::string>(&at(name));
  if (!value) fail_kind(name, "a text");
  return *value;
}

std::vector<std::int64_t> GgufMetadata::integers(std::string_view name) const {
  const GgufArray* array = std::get_if<GgufArray>(&at(name));
  if (!array) fail_kind(name, "an array of integers");
  const auto convert = [&](const auto& list) {
    using T = typename std::remove_cvref_t<decltype(list)>::value_type;
    std::vector<std::int64_t> result;
    if constexpr (!is_integer<T>) fail_kind(name, "an array of integers");
    result.reserve(list.size());
    for (const auto& element : list) {
      const std::optional<std::int64_t> integer = integer_from<T>(element);
      if (!integer) fail_kind(name, "an array of integers that fit 64 bits with a sign");
      result.push_back(*integer);
    }
    return result;
  };
  return std::visit(convert, array->elements);
}

std::vector<double> GgufMetadata::numbers(std::string_view name) const {
  const GgufArray* array = std::get_if<GgufArray>(&at(name));
  if (!array) fail_kind(name, "an array of numbers");
  const auto convert = [&](const auto& list) -> std::vector<double> {
    using T = typename std::remove_cvref_t<decltype(list)>::value_type;
    if constexpr (is_number<T>) return {list.begin(), list.end()};
    fail_kind(name, "an array of numbers");
  };
  return std::visit(convert, array->elements);
}

const std::vector<bool>& GgufMetadata::flags(std::string_view name) const {
  const GgufArray* array = std::get_if<GgufArray>(&at(name));
  const auto* list = array ? std::get_if<std::vector<bool>>(&array->elements) : nullptr;
  if (!list) fail_kind(name, "an array of flags");
  return *list;
}

const std::vector<std::string>& GgufMetadata::texts(std::string_view name) const {
  const GgufArray* array = std::get_if<GgufArray>(&at(name));
  const auto* list = array ? std::get_if<std::vector<std::string>>(&array->elements) : nullptr;
  if (!list) fail_kind(name, "an array of texts");
  return *list;
}

}  // namespace croze
