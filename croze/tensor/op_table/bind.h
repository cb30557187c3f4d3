// bind.h -- makes a C++ function callable with a list of Values: bind<softmax>.
//
// What a parameter accepts, and what it is called in the documentation, follows from its C++ type;
// a Location is left out.  An op whose C++ form differs from PyTorch's is bound through a lambda
// with PyTorch's parameters.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "croze/tensor/op_table.h"

namespace croze {

// ---- reading one value ------------------------------------------------------------------------

// Throw Error saying what was expected.
bool read_flag(const Value& value);
std::int64_t read_integer(const Value& value);
double read_number(const Value& value);
Scalar read_scalar(const Value& value);
std::string_view read_text(const Value& value);
DType read_dtype(const Value& value);
Tensor read_tensor(const Value& value);  // None is no tensor
Operand read_operand(const Value& value);
Shape read_shape(const Value& value);  // one integer is a list of one
std::vector<Tensor> read_tensors(const Value& value);
std::vector<double> read_numbers(const Value& value);
std::vector<TensorIndex> read_indices(const Value& value);
[[noreturn]] void fail_to_read(const Value& value, std::string_view expected);

// How a parameter of type T is read, and its name in the documentation.
template <typename T>
struct Reader;

template <typename T, T (*function)(const Value&)>
struct PlainReader {
  static T read(const Value& value) { return function(value); }
};

template <>
struct Reader<bool> : PlainReader<bool, read_flag> {
  static constexpr std::string_view name = "bool";
};
template <>
struct Reader<std::int64_t> : PlainReader<std::int64_t, read_integer> {
  static constexpr std::string_view name = "int64";
};
template <>
struct Reader<int> {
  static constexpr std::string_view name = "int";
  static int read(const Value& value) { return static_cast<int>(read_integer(value)); }
};
template <>
struct Reader<double> : PlainReader<double, read_number> {
  static constexpr std::string_view name = "double";
};
template <>
struct Reader<Scalar> : PlainReader<Scalar, read_scalar> {
  static constexpr std::string_view name = "Scalar";
};
template <>
struct Reader<std::string_view> : PlainReader<std::string_view, read_text> {
  static constexpr std::string_view name = "text";
};
template <>
struct Reader<DType> : PlainReader<DType, read_dtype> {
  static constexpr std::string_view name = "DType";
};
template <>
struct Reader<Tensor> : PlainReader<Tensor, read_tensor> {
  static constexpr std::string_view name = "Tensor";
};
template <>
struct Reader<Operand> : PlainReader<Operand, read_operand> {
  static constexpr std::string_view name = "Operand";
};
template <>
struct Reader<Shape> : PlainReader<Shape, read_shape> {
  static constexpr std::string_view name = "Shape";
};
template <>
struct Reader<Axes> {
  static constexpr std::string_view name = "Axes";
  static Axes read(const Value& value) {
    return value.get<std::monostate>() ? Axes() : Axes(read_shape(value));
  }
};
template <>
struct Reader<std::vector<Tensor>> : PlainReader<std::vector<Tensor>, read_tensors> {
  static constexpr std::string_view name = "Tensors";
};
template <>
struct Reader<std::vector<double>> : PlainReader<std::vector<double>, read_numbers> {
  static constexpr std::string_view name = "doubles";
};
template <>
struct Reader<std::vector<TensorIndex>> : PlainReader<std::vector<TensorIndex>, read_indices> {
  static constexpr std::string_view name = "indices";
};
template <>
struct Reader<Value> {
  static constexpr std::string_view name = "any";
  static const Value& read(const Value& value) { return value; }
};
template <typename T>
struct Reader<std::optional<T>> {
  static constexpr std::string_view name = Reader<T>::name;
  static std::optional<T> read(const Value& value) {
    if (value.get<std::monostate>()) return std::nullopt;
    return Reader<T>::read(value);
  }
};

// An enumeration is written as a text; its names stand in the order of its members.
template <typename T>
struct EnumNames;  // static constexpr std::array<std::string_view, n> names
enum class PadMode;
template <>
struct EnumNames<PadMode> {
  static constexpr std::array<std::string_view, 4> names = {"constant", "reflect", "replicate",
                                                            "circular"};
};
template <typename T>
requires std::is_enum_v<T>
struct Reader<T> {
  static constexpr std::string_view name = "text";
  static T read(const Value& value) {
    const std::string_view text = read_text(value);
    for (std::size_t i = 0; i < EnumNames<T>::names.size(); i++) {
      if (EnumNames<T>::names[i] == text) return static_cast<T>(i);
    }
    fail_to_read(value, "one of its names");
  }
};

// ---- results ----------------------------------------------------------------------------------

template <typename R>
std::vector<Tensor> result_list(R&& result) {
  using T = std::remove_cvref_t<R>;
  if constexpr (std::is_same_v<T, Tensor>) {
    return {std::forward<R>(result)};
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    return std::forward<R>(result);
  } else if constexpr (requires(const T& r) { r.second; }) {  // a pair
    return {result.first, result.second};
  } else if constexpr (requires { T{Tensor(), Tensor(), Tensor()}; }) {
    auto& [a, b, c] = result;
    return {a, b, c};
  } else {
    auto& [a, b] = result;
    return {a, b};
  }
}

template <typename R>
constexpr std::string_view result_name() {
  return std::is_same_v<R, Tensor> ? "Tensor" : "Tensors";
}

// ---- functions --------------------------------------------------------------------------------

// Parameters as they are read: without references, spans as vectors.
template <typename P>
struct Stored {
  using Type = std::remove_cvref_t<P>;
};
template <typename P>
requires std::is_same_v<std::remove_cvref_t<P>, std::span<const Tensor>>
struct Stored<P> {
  using Type = std::vector<Tensor>;
};
template <typename P>
requires std::is_same_v<std::remove_cvref_t<P>, std::span<const TensorIndex>>
struct Stored<P> {
  using Type = std::vector<TensorIndex>;
};
template <typename P>
inline constexpr bool is_location = std::is_same_v<std::remove_cvref_t<P>, Location>;

template <auto function, typename R, typename... P>
struct Binder {
  static constexpr std::size_t count = (std::size_t{0} + ... + (is_location<P> ? 0 : 1));

  static constexpr std::array<std::string_view, count> types() {
    std::array<std::string_view, count> result{};
    std::size_t i = 0;
    const auto add = [&]<typename Q>(std::type_identity<Q>) {
      if constexpr (!is_location<Q>) result[i++] = Reader<typename Stored<Q>::Type>::name;
    };
    (add(std::type_identity<P>()), ...);
    return result;
  }
  static constexpr std::array<std::string_view, count> type_names = types();

  template <typename Q>
  static typename Stored<Q>::Type read(const Value*& next) {
    if constexpr (is_location<Q>) {
      return Location::current();
    } else {
      return Reader<typename Stored<Q>::Type>::read(*next++);
    }
  }

  static std::vector<Tensor> call(std::span<const Value> arguments) {
    ensure(arguments.size() == count, "{} arguments for {} parameters", arguments.size(), count);
    const Value* next = arguments.data();
    // Braces fix the order of reading.
    std::tuple<typename Stored<P>::Type...> values{read<P>(next)...};
    return result_list(std::apply(function, values));
  }

  static constexpr BoundFunction bound{call, type_names, result_name<R>()};
};

template <auto function, typename F>
struct BinderOf : BinderOf<function, decltype(&F::operator())> {};  // a lambda
template <auto function, typename R, typename... P>
struct BinderOf<function, R (*)(P...)> : Binder<function, R, P...> {};
template <auto function, typename F, typename R, typename... P>
struct BinderOf<function, R (F::*)(P...) const> : Binder<function, R, P...> {};

template <auto function>
inline constexpr const BoundFunction* bind =
    &BinderOf<function, std::remove_cv_t<decltype(function)>>::bound;

}  // namespace croze
