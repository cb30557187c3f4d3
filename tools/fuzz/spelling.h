// spelling.h -- enumerators as C++ source spells them, for test cases that are to be pasted.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "croze/graph/dtype.h"
#include "croze/graph/op.h"

namespace croze::fuzz {
namespace detail {

// The compiler's own name of this function ends in "value = croze::Op::IDiv" and a ';' or ']'.
template <auto value>
constexpr std::string_view enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("value = "));
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <typename E, std::size_t... i>
constexpr auto enumerators(std::index_sequence<i...>) {
  return std::array{enumerator<static_cast<E>(i)>()...};
}

}  // namespace detail

inline std::string_view spelled(Op op) {
  static constexpr auto names = detail::enumerators<Op>(std::make_index_sequence<num_ops>());
  return names[static_cast<std::size_t>(op)];
}

inline std::string_view spelled(DType t) {
  static constexpr auto names = detail::enumerators<DType>(std::make_index_sequence<num_dtypes>());
  return names[static_cast<std::size_t>(t)];
}

}  // namespace croze::fuzz
