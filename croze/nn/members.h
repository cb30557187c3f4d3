// members.h -- visits the members of a plain struct, with their names, without any help from it.
//
// C++20 has no reflection, but an aggregate can be taken apart by three facts:
//
// * How many members?  As many as braces accept initializers that convert to anything.
// * Which?  A structured binding with that many names refers to them in order.
// * What are they called?  The address of a member is a constant, a constant can be a template
//   argument, and compilers spell template arguments out in __PRETTY_FUNCTION__.  For the member
//   `hidden` of the object `some<Net>` the text ends in "Net::hidden)]" (GCC) or ".hidden]"
//   (Clang).
//
// The price is a line per number of members below, so there is a most.  A struct with more, with C
// arrays or base classes, does not compile here; one with constructors or private members is no
// aggregate.  Such a struct names its members itself (state.h).
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace croze::nn {
namespace detail {

inline constexpr std::size_t most_members = 24;

// Converts to whatever an initializer should be; exists for the compiler only.
struct Anything {
  template <typename T>
  operator T() const;
};

template <typename T, std::size_t... I>
constexpr bool takes_initializers(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Anything{})...}; };
}

template <typename T, std::size_t N = 0>
constexpr std::size_t count_members() {
  if constexpr (takes_initializers<T>(std::make_index_sequence<N + 1>())) {
    return count_members<T, N + 1>();
  } else {
    return N;
  }
}

// References to all members of an aggregate that has `Count`.
// long-table: a line per number of members, because a structured binding must spell its names
template <std::size_t Count, typename T>
constexpr auto tie_members(T& object) {
  static_assert(Count <= most_members, "a struct with so many members needs a visit() (state.h)");
  // clang-format off
  if constexpr (Count == 1) { auto& [a] = object; return std::tie(a); }
  else if constexpr (Count == 2) { auto& [a, b] = object; return std::tie(a, b); }
  else if constexpr (Count == 3) { auto& [a, b, c] = object; return std::tie(a, b, c); }
  else if constexpr (Count == 4) { auto& [a, b, c, d] = object; return std::tie(a, b, c, d); }
  else if constexpr (Count == 5) { auto& [a, b, c, d, e] = object; return std::tie(a, b, c, d, e); }
  else if constexpr (Count == 6) { auto& [a, b, c, d, e, f] = object; return std::tie(a, b, c, d, e, f); }
  else if constexpr (Count == 7) { auto& [a, b, c, d, e, f, g] = object; return std::tie(a, b, c, d, e, f, g); }
  else if constexpr (Count == 8) { auto& [a, b, c, d, e, f, g, h] = object; return std::tie(a, b, c, d, e, f, g, h); }
  else if constexpr (Count == 9) { auto& [a, b, c, d, e, f, g, h, i] = object; return std::tie(a, b, c, d, e, f, g, h, i); }
  else if constexpr (Count == 10) { auto& [a, b, c, d, e, f, g, h, i, j] = object; return std::tie(a, b, c, d, e, f, g, h, i, j); }
  else if constexpr (Count == 11) { auto& [a, b, c, d, e, f, g, h, i, j, k] = object; return std::tie(a, b, c, d, e, f, g, h, i, j, k); }
  else if constexpr (Count == 12) { auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l); }
  else if constexpr (Count == 13) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m); }
  else if constexpr (Count == 14) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }
  else if constexpr (Count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
  else if constexpr (Count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
  else if constexpr (Count == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  }
  else if constexpr (Count == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  }
  else if constexpr (Count == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  }
  else if constexpr (Count == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  }
  else if constexpr (Count == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  }
  else if constexpr (Count == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  }
  else if constexpr (Count == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  }
  else if constexpr (Count == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  }
  else { return std::tuple<>(); }
  // clang-format on
}

// An object that is declared and never defined: only addresses inside it are taken.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <typename T>
struct Holder {
  T value;
};
template <typename T>
extern const Holder<T> some;

// Clang before 18 takes an address inside an object as template argument only within a struct.
template <typename T>
struct Address {
  const T* address;
};
template <typename T>
Address(const T*) -> Address<T>;

template <typename T, std::size_t I>
constexpr auto address_of_member() {
  return Address{&std::get<I>(tie_members<count_members<T>()>(some<T>.value))};
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

// `auto`, because a named return type would be spelled out too, behind the argument.
template <auto Member>
constexpr auto spelled_out() {
  return std::string_view(__PRETTY_FUNCTION__);
}

constexpr std::string_view last_identifier(std::string_view text) {
  const auto is_part = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  while (!text.empty() && !is_part(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_part(text[begin - 1])) begin--;
  return text.substr(begin);
}

template <typename T, std::size_t I>
inline constexpr std::string_view name_of_member =
    last_identifier(spelled_out<address_of_member<T, I>()>());

}  // namespace detail

// Calls f(name, member) for each member of an aggregate, in order of declaration.
template <typename T, typename F>
void visit_members(const T& object, F&& f) {
  constexpr std::size_t count = detail::count_members<T>();
  const auto members = detail::tie_members<count>(object);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(detail::name_of_member<T, I>, std::get<I>(members)), ...);
  }
  (std::make_index_sequence<count>());
}

}  // namespace croze::nn
