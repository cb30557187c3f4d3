// parts.h -- the tensors in a value: a Tensor, or whatever holds some.
//
// That is a std::vector, array, map, optional, pair or tuple of such values, or a plain struct of
// them, such as ValuesAndIndices, nested as deep as you like.  Numbers, enumerations, texts and
// shapes may stand among them.  Anything else does not compile, so no tensor is overlooked.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/parts.h"
#include "croze/tensor/tensor.h"

namespace croze {

// What holds no tensor and is compared as a whole.
template <typename T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string> ||
    std::same_as<T, std::string_view> || std::same_as<T, Shape>;

// What for_each_tensor takes; how deep it looks is one level.
template <typename T>
concept HoldsTensors =
    std::derived_from<T, Tensor> || PlainValue<T> || is_optional<T> || has_parts<T>;

// Calls f(tensor) for each tensor in the value, undefined ones too, in the order of the parts.
template <typename T, typename F>
void for_each_tensor(T& value, F&& f) {
  using Value = std::remove_const_t<T>;
  static_assert(HoldsTensors<Value>,
                "tensors stand in vectors, arrays, maps, optionals, tuples and plain structs, "
                "beside numbers and texts (tensor/parts.h): this type is none of these");
  if constexpr (std::derived_from<Value, Tensor>) {
    f(value);
  } else if constexpr (is_optional<Value>) {
    if (value) for_each_tensor(*value, f);
  } else if constexpr (!PlainValue<Value> && has_parts<Value>) {
    for_each_part(value, [&](const auto&, auto& part) { for_each_tensor(part, f); });
  }
}

// The defined tensors in the value.
template <typename T>
std::vector<Tensor> tensors_in(const T& value) {
  std::vector<Tensor> tensors;
  for_each_tensor(value, [&](const Tensor& t) {
    if (t.defined()) tensors.push_back(t);
  });
  return tensors;
}

// A value without its tensors: where others can stand.
template <typename T>
class Form {
 public:
  explicit Form(T value) : value_(std::move(value)) {
    for_each_tensor(value_, [&](Tensor& t) {
      is_defined_.push_back(t.defined());
      t = Tensor();
    });
  }

  // The value with these in place of the defined tensors, of which there were as many.
  T filled(std::span<const Tensor> tensors) const {
    T value = value_;
    std::size_t place = 0, next = 0;
    for_each_tensor(value, [&](Tensor& t) {
      if (is_defined_[place++]) t = tensors[next++];
    });
    return value;
  }

  // By place, whether a tensor was defined there.
  const std::vector<bool>& is_defined() const { return is_defined_; }

 private:
  T value_;
  std::vector<bool> is_defined_;
};

}  // namespace croze
