// members.h -- visits the members of a plain struct, with their names, without any help from it.
//
// C++20 has no reflection, but an aggregate can be taken apart by three facts:
//
// * How many members?  As many as braces accept initializers that convert to anything.  They are
//   counted from the first number that suffices, for a member without a default constructor needs
//   one, to the last that is accepted.  A C array takes an initializer for each element and a base
//   class takes one too, so both are told apart from members by what else they accept.
// * Which?  A structured binding with that many names refers to them in order.  It does not compile
//   with any other number of names, so no miscount goes unnoticed.
// * What are they called?  The address of a member is a constant, a constant can be a template
//   argument, and compilers spell template arguments out in __PRETTY_FUNCTION__.  For the member
//   `hidden` of the object `some<Net>` the text ends in "Net::hidden)]" (GCC) or ".hidden]"
//   (Clang).
//
// The price is a line per number of members below, so there is a most.  A struct with more, with
// references, with members that can be neither copied nor moved, or with base classes that hold
// something, is refused; one with constructors or private members is no aggregate.  A model of such
// a kind names its members itself (nn/state.h).
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace croze {
namespace detail {

inline constexpr std::size_t most_members = 24;
inline constexpr std::size_t most_initializers = 64;  // of members and the elements of C arrays

// Converts to whatever an initializer should be; exists for the compiler only, as do the next two.
// (It has a body for clang, which looks for one where T is of an anonymous namespace.)
struct Anything {
  template <typename T>
  operator T() const {
    __builtin_unreachable();
  }
};

// Converts to the base classes of T; to the empty ones.
template <typename T>
struct BaseOf {
  template <typename U>
  requires(std::is_base_of_v<U, T> && !std::same_as<U, T>) operator U() const;
};
template <typename T>
struct EmptyBaseOf {
  template <typename U>
  requires(std::is_base_of_v<U, T> && !std::same_as<U, T> && std::is_empty_v<U>) operator U() const;
};

template <typename T, typename First, std::size_t... I, std::size_t... J>
constexpr bool accepts(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{(static_cast<void>(I), First{})..., (static_cast<void>(J), Anything{})...}; };
}

// Whether T{..} takes `FirstCount` initializers of type First, then `Count` of Anything.
template <typename T, std::size_t Count, typename First = Anything, std::size_t FirstCount = 0>
inline constexpr bool takes_initializers = accepts<T, First>(std::make_index_sequence<FirstCount>(),
                                                             std::make_index_sequence<Count>());

template <typename T, std::size_t... I, std::size_t... J, std::size_t... K>
constexpr bool accepts_nested(std::index_sequence<I...>, std::index_sequence<J...>,
                              std::index_sequence<K...>) {
  return requires {
    T{(static_cast<void>(I), Anything{})...,
      {(static_cast<void>(J), Anything{})...},
      (static_cast<void>(K), Anything{})...};
  };
}

// The same for `Before` initializers, a list of `Inside`, and `After`.
template <typename T, std::size_t Before, std::size_t Inside, std::size_t After>
inline constexpr bool takes_nested = accepts_nested<T>(std::make_index_sequence<Before>(),
                                                       std::make_index_sequence<Inside>(),
                                                       std::make_index_sequence<After>());

// The most initializers that T{..} takes; 0 if there is no such number.
template <typename T, std::size_t N = 1>
constexpr std::size_t count_initializers() {
  if constexpr (N > most_initializers) {
    return 0;
  } else if constexpr (!takes_initializers<T, N>) {
    return count_initializers<T, N + 1>();
  } else if constexpr (takes_initializers<T, N + 1>) {
    return count_initializers<T, N + 1>();
  } else {
    return N;
  }
}

// How many of the `Total` initializers of T begin with base classes: as many as take a `Base`.
template <typename T, typename Base, std::size_t Total, std::size_t N = 0>
constexpr std::size_t count_bases() {
  if constexpr (N < Total) {
    if constexpr (takes_initializers<T, Total - N - 1, Base, N + 1>) {
      return count_bases<T, Base, Total, N + 1>();
    } else {
      return N;
    }
  } else {
    return N;
  }
}

// How many initializers the member takes whose first one is number `At`: the elements of a C array,
// else 1.  In place of a whole array there may be empty braces or, if its elements have no default,
// braces around all of them; neither leaves places to what is no array.
template <typename T, std::size_t Total, std::size_t At, std::size_t Size = 1>
constexpr std::size_t initializers_of_member() {
  if constexpr (At + Size > Total) {
    return 1;
  } else if constexpr (takes_nested<T, At, 0, Total - At - Size>) {
    return Size;
  } else if constexpr (Size > 1 && takes_nested<T, At, Size, Total - At - Size> &&
                       !takes_nested<T, At, Size, Total - At - Size + 1>) {
    return Size;
  } else {
    return initializers_of_member<T, Total, At, Size + 1>();
  }
}

template <typename T, std::size_t Total, std::size_t At>
constexpr std::size_t count_members_from() {
  if constexpr (At >= Total) {
    return 0;
  } else {
    return 1 + count_members_from<T, Total, At + initializers_of_member<T, Total, At>()>();
  }
}

// 0 for what is refused, so that the compiler says no more about it.
template <typename T>
constexpr std::size_t count_members() {
  if constexpr (std::is_empty_v<T>) {
    return 0;
  } else {
    constexpr std::size_t total = count_initializers<T>();
    constexpr std::size_t bases = count_bases<T, BaseOf<T>, total>();
    constexpr std::size_t members = count_members_from<T, total, bases>();
    constexpr bool has_only_empty_bases = bases == count_bases<T, EmptyBaseOf<T>, total>();
    static_assert(total > 0,
                  "the members of this struct cannot be counted: it has very many, references, or "
                  "some that can be neither copied nor moved; a model may name them in a visit() "
                  "(nn/state.h)");
    static_assert(members <= most_members,
                  "this struct has more than 24 members; a model may name them in a visit() "
                  "(nn/state.h)");
    static_assert(has_only_empty_bases,
                  "this struct has a base class with members; a model may name them in a visit() "
                  "(nn/state.h)");
    return members <= most_members && has_only_empty_bases ? members : 0;
  }
}

// References to all members of an aggregate that has `Count`.
// long-table: a line per number of members, because a structured binding must spell its names
template <std::size_t Count, typename T>
constexpr auto tie_members(T& object) {
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

// Calls f(name, member) for each member of an aggregate, const or not, in order of declaration.
template <typename T, typename F>
void visit_members(T& object, F&& f) {
  using Struct = std::remove_const_t<T>;
  constexpr std::size_t count = detail::count_members<Struct>();
  const auto members = detail::tie_members<count>(object);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(detail::name_of_member<Struct, I>, std::get<I>(members)), ...);
  }
  (std::make_index_sequence<count>());
}

}  // namespace croze
