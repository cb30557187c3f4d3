// state.h -- the tensors of a model: its parameters and other state, found by visiting its members.
//
// A model is a plain struct.  Nothing is inherited and nothing registered:
//
//     struct Net {
//       nn::Linear hidden{784, 128};
//       std::vector<nn::Linear> more;
//       nn::Linear output{128, 10};
//       double dropout = 0.5;
//
//       Tensor operator()(const Tensor& x) const { return output(relu(hidden(x))); }
//     };
//
//     Net net;
//     auto p = nn::parameters(net);   // hidden.weight, hidden.bias, more.0.weight, ...
//
// Visited are tensors, and all they stand in: structs, std::vector, std::array, std::optional,
// std::unique_ptr and std::shared_ptr, nested as deep as you like.  Numbers, enumerations, texts
// and functions are passed over.  An aggregate is taken apart by the compiler (members.h); a struct
// that is none, because it has constructors, private or very many members, says what it holds:
//
//     template <typename V>
//     void visit(V&& v) const {
//       v("weight", weight);
//       v("bias", bias);
//     }
//
// A struct of neither kind does not compile, so no parameter is overlooked in silence.
//
// A Tensor of a float dtype is a parameter.  A tensor that is part of the state but is not trained,
// such as a running mean, is declared as nn::Buffer.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nn/members.h"
#include "tensor/tensor.h"

namespace croze {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Names of the form "layers.0.weight", in the order of the members.
using StateDict = std::vector<NamedTensor>;

namespace nn {

// A tensor that belongs to the state of a model and is not trained.
struct Buffer : Tensor {
  Buffer() = default;
  Buffer(const Tensor& t) : Tensor(t) {}
};

// Specialise to true for a type of yours without tensors that visiting should pass over.
template <typename T>
inline constexpr bool has_no_tensors =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_empty_v<T> ||
    std::is_function_v<std::remove_pointer_t<T>> || std::same_as<T, const char*>;
template <>
inline constexpr bool has_no_tensors<std::string> = true;
template <>
inline constexpr bool has_no_tensors<std::string_view> = true;
template <>
inline constexpr bool has_no_tensors<Shape> = true;

namespace detail {

// What visiting a model collects.
struct StateEntry {
  std::string name;
  Tensor tensor;
  bool trained = false;
};

class Collector {
 public:
  // What a struct's own visit() calls for each member.
  template <typename T>
  void operator()(std::string_view name, const T& member) {
    const std::size_t before = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += name;
    collect(member);
    path_.resize(before);
  }

  template <typename T>
  void collect(const T& object);

  std::vector<StateEntry> entries;

 private:
  template <typename R>
  void collect_elements(const R& elements) {
    std::size_t i = 0;
    for (const auto& element : elements) (*this)(std::to_string(i++), element);
  }
  void add(const Tensor& tensor, bool trained) {
    if (tensor.defined()) entries.push_back({path_, tensor, trained && is_float(tensor.dtype())});
  }

  std::string path_;
};

template <typename T>
inline constexpr bool is_list = false;
template <typename T, typename A>
inline constexpr bool is_list<std::vector<T, A>> = true;
template <typename T, std::size_t N>
inline constexpr bool is_list<std::array<T, N>> = true;

template <typename T>
inline constexpr bool is_maybe = false;
template <typename T>
inline constexpr bool is_maybe<std::optional<T>> = true;
template <typename T, typename D>
inline constexpr bool is_maybe<std::unique_ptr<T, D>> = true;
template <typename T>
inline constexpr bool is_maybe<std::shared_ptr<T>> = true;

template <typename T>
void Collector::collect(const T& object) {
  if constexpr (std::derived_from<T, Tensor>) {
    add(object, !std::derived_from<T, Buffer>);
  } else if constexpr (has_no_tensors<T>) {
    return;
  } else if constexpr (is_list<T>) {
    collect_elements(object);
  } else if constexpr (is_maybe<T>) {
    if (object) collect(*object);
  } else if constexpr (requires { object.visit(*this); }) {
    object.visit(*this);
  } else {
    static_assert(std::is_aggregate_v<T>,
                  "this type hides its members: give it a visit() that names them (nn/state.h), or "
                  "specialise nn::has_no_tensors if it has no tensors");
    visit_members(object, *this);
  }
}

template <typename M>
std::vector<StateEntry> entries_of(const M& model) {
  Collector collector;
  collector.collect(model);
  return std::move(collector.entries);
}

StateDict named(const std::vector<StateEntry>& entries, bool only_trained);
std::vector<Tensor> tensors_of(const StateDict& dict);
void load(const std::vector<StateEntry>& entries, const StateDict& dict, bool strict);

}  // namespace detail

// The trained tensors of a model: handles, so assigning to them changes the model.  The same tensor
// standing in two places (shared weights) is listed once, where it comes first.
template <typename M>
StateDict named_parameters(const M& model) {
  return detail::named(detail::entries_of(model), true);
}
template <typename M>
std::vector<Tensor> parameters(const M& model) {
  return detail::tensors_of(named_parameters(model));
}

// All tensors of a model: parameters and buffers.  What is saved.  Shared tensors stand once.
template <typename M>
StateDict state_dict(const M& model) {
  return detail::named(detail::entries_of(model), false);
}

// Assigns to the tensors of the model those of the same names, cast to the model's dtypes, and
// computes them.  Throws Error, having changed nothing, if a shape differs or the model has a
// tensor that `dict` lacks; when `strict`, also if `dict` has one that the model lacks, or has a
// name twice. Not strict: tensors that `dict` lacks stay as they are.
template <typename M>
void load_state_dict(const M& model, const StateDict& dict, bool strict = true) {
  detail::load(detail::entries_of(model), dict, strict);
}

// The tensors numbered in the model's numbers: how many elements its parameters have together.
template <typename M>
std::int64_t parameter_count(const M& model) {
  std::int64_t count = 0;
  for (const Tensor& t : parameters(model)) count += t.numel();
  return count;
}

}  // namespace nn
}  // namespace croze
