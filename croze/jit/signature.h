// signature.h -- what a captured step was traced for: the kinds of the tensors that it was called
// with, how they stand in containers, and the numbers and texts beside them.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/tensor/parts.h"
#include "croze/tensor/print.h"
#include "croze/tensor/tensor.h"

namespace croze {

class Signature {
 public:
  // Of inputs that are tensors.
  static Signature of(std::span<const Tensor> inputs);
  // Of inputs that are what tensor/parts.h lists.
  template <typename... Inputs>
  static Signature of_values(const Inputs&... inputs) {
    Signature signature;
    signature.parts_.reserve(sizeof...(Inputs));
    std::size_t i = 0;
    (signature.add("input " + std::to_string(i++), inputs), ...);
    return signature;
  }

  // Throws Error, naming the first part that differs, unless `now` is the same.
  void check_same(const Signature& now) const;
  bool operator==(const Signature&) const = default;

  // The size along an axis of the tensor at this place ("input 0").  Throws Error if there is none.
  std::int64_t shape_at(std::string_view place, std::int64_t axis) const;
  void set_shape_at(std::string_view place, std::int64_t axis, std::int64_t size);

  // Where the tensor of this number stands: "input 1.layers[2]"; and all of them.
  const std::string& place_of_tensor(std::size_t i) const;
  std::vector<std::string> places_of_tensors() const;

 private:
  // A tensor, or what else is to stay as it was: a size, the keys of a map, absence, a number.
  struct Part {
    std::string place;  // "input 1.layers[2]"
    std::string fact;   // of what is no tensor, in words
    Shape shape = {};
    DType dtype = DType::Void;
    int device = -1;

    bool operator==(const Part&) const = default;
    bool is_tensor() const { return dtype != DType::Void; }
    std::string to_text() const;
  };

  const Part& tensor_at(std::string_view place, std::int64_t axis) const;
  template <typename T>
  void add(std::string place, const T& value);
  void add_tensor(std::string place, const Tensor& t);
  void add_fact(std::string place, std::string fact) {
    parts_.push_back({std::move(place), std::move(fact)});
  }

  std::vector<Part> parts_;
};

namespace detail {

template <PlainValue T>
std::string fact_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return fact_of(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, Shape>) {
    return fmt::format("{}", value);
  } else {
    return '"' + std::string(value) + '"';
  }
}

template <typename M>
std::string fact_of_map(const M& map) {
  std::string keys;
  for (const auto& [key, value] : map) keys += (keys.empty() ? "" : ", ") + fact_of(key);
  return "a map of {" + keys + "}";
}

// The place of a part: of an element or a value of a map, and of a member.
template <typename Name>
std::string place_of_part(const std::string& whole, const Name& name) {
  if constexpr (std::integral<Name>) {
    return whole + '[' + std::to_string(name) + ']';
  } else {
    return whole + '.' + std::string(name);
  }
}

}  // namespace detail

template <typename T>
void Signature::add(std::string place, const T& value) {
  if constexpr (std::derived_from<T, Tensor>) {
    add_tensor(std::move(place), value);
  } else if constexpr (PlainValue<T>) {
    add_fact(std::move(place), detail::fact_of(value));
  } else if constexpr (is_optional<T>) {
    if (!value) return add_fact(std::move(place), "absent");
    add(std::move(place), *value);
  } else if constexpr (has_parts<T>) {
    if constexpr (is_map<T>) add_fact(place, detail::fact_of_map(value));
    if constexpr (is_list<T>) add_fact(place, fmt::format("a list of {}", std::size(value)));
    for_each_part(value, [&](const auto& name, const auto& part) {
      add(detail::place_of_part(place, name), part);
    });
  }
}

}  // namespace croze
