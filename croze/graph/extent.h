// extent.h -- Extent, a size of a tensor graph: a number, or open.
//
// An open size is an Index expression over Variables of the same graph, never negative.  It stands
// among the numbers of a shape or an argument as one word, so that a shape of numbers costs what it
// did: sizes and amounts are below 2^62, and a word with another top holds an expression.
#pragma once

#include <cstdint>

#include "croze/base/small_vector.h"
#include "croze/graph/uop.h"

namespace croze {

class Extent {
 public:
  constexpr Extent(std::int64_t number = 0) : word_(number) {}
  // An Index node without ranges; of a constant, its number.
  Extent(UOp expression);
  static constexpr Extent of_word(std::int64_t word) { return Extent(word); }
  std::int64_t word() const { return word_; }

  bool is_open() const { return is_open_word(word_); }
  bool is_number(std::int64_t n) const { return word_ == n; }
  // Throws InternalError if it is open.
  std::int64_t number() const;
  // As an Index node of `graph`, which must be the one of the expression if it is open.
  UOp in(Graph& graph) const;
  UOp expression() const;  // of an open one
  // The bounds of what it can be.
  std::int64_t least() const { return is_open() ? expression().lo() : word_; }
  std::int64_t most() const { return is_open() ? expression().hi() : word_; }

  // The same number, or the same expression in its canonical form.
  bool operator==(const Extent&) const = default;

  static bool is_open_word(std::int64_t word) { return word < -(std::int64_t{1} << 62); }

 private:
  std::int64_t word_;
};

Extent operator+(Extent a, Extent b);
Extent operator-(Extent a, Extent b);
Extent operator*(Extent a, Extent b);
Extent operator/(Extent a, Extent b);  // floor

// A shape in which any size may be open.
using Extents = SmallVector<Extent, 8>;

// The arguments of a node that are sizes or amounts.
inline Extent extent_argument(UOp u, std::int64_t i) { return Extent::of_word(u.arg().ints[i]); }

}  // namespace croze
