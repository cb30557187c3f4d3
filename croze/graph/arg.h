// arg.h -- the closed set of things that a node can carry beside its sources.
//
// none | one integer | a short vector of integers | a text.  A constant's value is one integer: the
// bits of the value (integers and bool themselves, floats as the bits of the double that holds the
// value exactly).  Records (a range's id, size and kind; a buffer's id) are short vectors with
// named accessors on UOp.  Vectors and texts are interned in the graph, so equality is identity.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace croze {

struct Arg {
  enum class Kind : std::uint8_t { None, Int, Ints, Text };

  Kind kind = Kind::None;
  std::uint32_t size = 0;  // Ints: elements.  Text: bytes.
  union {
    std::int64_t value = 0;
    const std::int64_t* ints;
    const char* chars;
  };

  Arg() = default;
  Arg(std::int64_t v) : kind(Kind::Int), value(v) {}
  Arg(std::span<const std::int64_t> v)
      : kind(Kind::Ints), size(static_cast<std::uint32_t>(v.size())), ints(v.data()) {}
  Arg(std::string_view v)
      : kind(Kind::Text), size(static_cast<std::uint32_t>(v.size())), chars(v.data()) {}

  std::span<const std::int64_t> as_ints() const { return {ints, kind == Kind::Ints ? size : 0}; }
  std::string_view as_text() const { return {chars, kind == Kind::Text ? size : 0}; }
  double as_double() const { return std::bit_cast<double>(value); }

  bool operator==(const Arg& other) const;
};

}  // namespace croze
