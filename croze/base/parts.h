// parts.h -- what a value is made of: the elements of a container, the members of a struct.
//
// One level deep and without knowing what for.  The tensors of a value (tensor/parts.h) and the
// state of a model (nn/state.h) are found by going on from here.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/members.h"

namespace croze {

// C arrays, std::vector, array and deque.
template <typename T>
inline constexpr bool is_list = std::is_array_v<T>;
template <typename T, typename A>
inline constexpr bool is_list<std::vector<T, A>> = true;
template <typename T, typename A>
inline constexpr bool is_list<std::deque<T, A>> = true;
template <typename T, std::size_t N>
inline constexpr bool is_list<std::array<T, N>> = true;

template <typename T>
inline constexpr bool is_map = false;
template <typename K, typename T, typename C, typename A>
inline constexpr bool is_map<std::map<K, T, C, A>> = true;

template <typename T>
inline constexpr bool is_tuple = false;
template <typename A, typename B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <typename... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

// What refers to a value or to none.
template <typename T>
inline constexpr bool is_owner = false;
template <typename T, typename D>
inline constexpr bool is_owner<std::unique_ptr<T, D>> = true;
template <typename T>
inline constexpr bool is_owner<std::shared_ptr<T>> = true;

// Whether for_each_part takes it apart.
template <typename T>
inline constexpr bool has_parts = is_list<T> || is_map<T> || is_tuple<T> || std::is_aggregate_v<T>;

// Calls f(name, part) for each part of a list, map, tuple or aggregate, const or not, in order.
// The name is an index (std::size_t), a key, or the name of a member (std::string_view).
template <typename T, typename F>
void for_each_part(T& value, F&& f) {
  using Value = std::remove_const_t<T>;
  if constexpr (is_list<Value>) {
    std::size_t i = 0;
    for (auto& element : value) f(i++, element);
  } else if constexpr (is_map<Value>) {
    for (auto& [key, element] : value) f(key, element);
  } else if constexpr (is_tuple<Value>) {
    std::size_t i = 0;
    std::apply([&](auto&... element) { (f(i++, element), ...); }, value);
  } else {
    visit_members(value, f);
  }
}

}  // namespace croze
