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
// Visited are tensors, and all they stand in: structs, C arrays, std::vector, array, deque, map,
// pair, tuple, optional, unique_ptr and shared_ptr, nested as deep as you like.  Numbers,
// enumerations, texts and functions are passed over.  An aggregate is taken apart by the compiler
// (base/members.h); a struct that is none, because it has constructors, private or very many
// members, or base classes that hold something, says what it holds:
//
//     template <typename V>
//     void visit(V&& v) const {
//       nn::visit_members(static_cast<const Base&>(*this), v);  // the members of a plain base
//       v("weight", weight_);
//       v("bias", bias_);
//     }
//
// Where the type is known at run time only, a function that can be overridden does so: `virtual
// void visit(nn::StateVisitor& v) const`.  A struct of neither kind does not compile, so no
// parameter is overlooked in silence.
//
// A Tensor of a float dtype is a parameter.  A tensor that is part of the state but is not trained,
// such as a running mean, is declared as nn::Buffer.
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/parts.h"
#include "croze/tensor/tensor.h"

namespace croze {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Names of the form "layers.0.weight", in the order of the members.
using StateDict = std::vector<NamedTensor>;

// What this very tensor is called among them, not one of equal value; empty if it is not there.
std::string name_in(const StateDict& tensors, const Tensor& tensor);

namespace nn {

using croze::visit_members;

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
template <typename T>
inline constexpr bool has_no_tensors<std::vector<T>> = has_no_tensors<T>;
template <typename T, std::size_t N>
inline constexpr bool has_no_tensors<std::array<T, N>> = has_no_tensors<T>;
template <typename T, std::size_t N>
inline constexpr bool has_no_tensors<T[N]> = has_no_tensors<T>;

namespace detail {

// What visiting a model collects.
struct StateEntry {
  std::string name;
  Tensor tensor;
  bool trained = false;
};

}  // namespace detail

// What a struct's own visit() is given: called with the name of a member and the member.
class StateVisitor {
 public:
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

  std::vector<detail::StateEntry> entries;

 private:
  template <typename T>
  void collect_struct(const T& object);
  void add(const Tensor& tensor, bool trained) {
    if (tensor.defined()) entries.push_back({path_, tensor, trained && is_float(tensor.dtype())});
  }

  std::string path_;
};

namespace detail {

template <typename C>
std::type_identity<C> owner_of(void (C::*)(StateVisitor&) const);

// Whether the visit() of T is that of a base class to which T adds members.
template <typename T>
constexpr bool inherits_too_small_a_visit() {
  if constexpr (requires { owner_of(&T::template visit<StateVisitor&>); }) {
    using Owner = typename decltype(owner_of(&T::template visit<StateVisitor&>))::type;
    return sizeof(T) > sizeof(Owner);
  } else {
    return false;
  }
}

// Whether the visit() of T is a template, which cannot be virtual.
template <typename T>
inline constexpr bool has_visit_template = requires {
  &T::template visit<StateVisitor&>;
};

}  // namespace detail

template <typename T>
void StateVisitor::collect(const T& object) {
  if constexpr (std::derived_from<T, Tensor>) {
    add(object, !std::derived_from<T, Buffer>);
  } else if constexpr (has_no_tensors<T>) {
    return;
  } else if constexpr (is_list<T> || is_map<T> || is_tuple<T>) {
    for_each_part(object, [&](const auto& name, const auto& part) {
      if constexpr (std::integral<std::remove_cvref_t<decltype(name)>>) {
        (*this)(std::to_string(name), part);
      } else {
        (*this)(name, part);
      }
    });
  } else if constexpr (is_optional<T> || is_owner<T>) {
    if (object) collect(*object);
  } else {
    collect_struct(object);
  }
}

template <typename T>
void StateVisitor::collect_struct(const T& object) {
  if constexpr (requires { object.visit(*this); }) {
    static_assert(!detail::inherits_too_small_a_visit<T>(),
                  "this type inherits a visit() that does not name the members it adds: give it "
                  "one of its own (nn/state.h)");
    static_assert(!std::is_polymorphic_v<T> || std::is_final_v<T> || !detail::has_visit_template<T>,
                  "the visit() of a type with virtual functions must be one of them: `virtual void "
                  "visit(nn::StateVisitor& v) const` (nn/state.h)");
    object.visit(*this);
  } else {
    static_assert(std::is_aggregate_v<T>,
                  "this type hides its members: give it a const visit() that names them "
                  "(nn/state.h), or specialise nn::has_no_tensors if it has no tensors");
    if constexpr (std::is_aggregate_v<T>) visit_members(object, *this);
  }
}

namespace detail {

template <typename M>
std::vector<StateEntry> entries_of(const M& model) {
  StateVisitor visitor;
  visitor.collect(model);
  return std::move(visitor.entries);
}

StateDict named(const std::vector<StateEntry>& entries, bool only_trained);
// Throws Error, naming the function that was called, if there are none.
void check_some(const std::vector<StateEntry>& entries, std::string_view function, Location at);
std::vector<Tensor> tensors_of(const StateDict& dict);
void load(const std::vector<StateEntry>& entries, const StateDict& dict, bool strict, Location at);

}  // namespace detail

// The trained tensors of a model: handles, so assigning to them changes the model.  The same tensor
// standing in two places (shared weights) is listed once, where it comes first.  Throws Error if
// the model has members and no tensor is found among them.
template <typename M>
StateDict named_parameters(const M& model, Location at = Location::current()) {
  const std::vector<detail::StateEntry> entries = detail::entries_of(model);
  if (!std::is_empty_v<M>) detail::check_some(entries, "parameters", at);
  return detail::named(entries, true);
}
template <typename M>
std::vector<Tensor> parameters(const M& model, Location at = Location::current()) {
  return detail::tensors_of(named_parameters(model, at));
}

// All tensors of a model: parameters and buffers.  What is saved.  Shared tensors stand once.
// Throws Error if the model has members and no tensor is found among them.
template <typename M>
StateDict state_dict(const M& model, Location at = Location::current()) {
  const std::vector<detail::StateEntry> entries = detail::entries_of(model);
  if (!std::is_empty_v<M>) detail::check_some(entries, "state_dict", at);
  return detail::named(entries, false);
}

// Assigns to the tensors of the model those of the same names, cast to the model's dtypes, and
// computes them.  Throws Error, having changed nothing, if a shape differs, the model has no
// tensors or, when `strict`, if the model has a tensor that `dict` lacks, `dict` has one that the
// model lacks, or has a name twice.  Not strict: tensors that `dict` lacks stay as they are.
template <typename M>
void load_state_dict(const M& model, const StateDict& dict, bool strict = true,
                     Location at = Location::current()) {
  detail::load(detail::entries_of(model), dict, strict, at);
}

// How many elements the parameters of a model have together.
template <typename M>
std::int64_t parameter_count(const M& model) {
  std::int64_t count = 0;
  for (const NamedTensor& p : detail::named(detail::entries_of(model), true)) {
    count += p.tensor.numel();
  }
  return count;
}

}  // namespace nn
}  // namespace croze
