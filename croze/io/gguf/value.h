// value.h -- the metadata of a GGUF file: values of thirteen types by name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace croze {

// An array of a file: elements of one type, which may be arrays.
struct GgufArray {
  // As in GgufValue: index() is the number of the elements' type.
  std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
               std::vector<std::int16_t>, std::vector<std::uint32_t>, std::vector<std::int32_t>,
               std::vector<float>, std::vector<bool>, std::vector<std::string>,
               std::vector<GgufArray>, std::vector<std::uint64_t>, std::vector<std::int64_t>,
               std::vector<double>>
      elements;

  std::int64_t size() const;
};

// A value, in the type that it has in the file; index() is the number of that type there.
using GgufValue = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                               std::uint32_t, std::int32_t, float, bool, std::string, GgufArray,
                               std::uint64_t, std::int64_t, double>;

// "uint32", "array of string": the type of a value, for messages.
std::string type_name(const GgufValue& value);

// Values by name.  What a name holds is asked for by kind, since writers differ in the width of
// their numbers.  Each function throws Error, saying the name and what is there, if there is no
// such name, if it holds something else, or if a number does not fit the result.
class GgufMetadata {
 public:
  using Map = std::map<std::string, GgufValue, std::less<>>;

  GgufMetadata() = default;
  // `source` is what messages call the file.
  GgufMetadata(std::string source, Map values);

  const std::string& source() const { return source_; }
  const Map& values() const { return values_; }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  const GgufValue& at(std::string_view name) const;

  std::int64_t integer(std::string_view name) const;  // an integer of any width
  double number(std::string_view name) const;         // an integer or a float
  bool flag(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  // Arrays of these.
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<double> numbers(std::string_view name) const;
  const std::vector<bool>& flags(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;

 private:
  [[noreturn]] void fail_kind(std::string_view name, std::string_view wanted) const;

  std::string source_;
  Map values_;
};

}  // namespace croze
