// transport.h -- how a sum that was made under one number is moved to another.
//
// The terms of some reductions depend on a number that belongs to all terms, their centre: the
// maximum in exp(x - m), the mean in (x - mean)^2.  What terms come to under one centre says what
// they come to under another, so the centre may change while the terms go by (tuple.h).
//
// A law is data, and proven of the real numbers (prove/transport_proof.h):
//     term(x, z) = moved(term(x, y), y, z, 1) + rest(x, y, z)
// where the rests of all terms sum to nothing if y is the centre that the law asks for, and `moved`
// keeps sums: it is linear in the value and the number of terms.  Then it moves what any number of
// terms come to.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "croze/graph/rewrite/rule.h"
#include "croze/graph/uop.h"

namespace croze {

// What the centre is of what the leader, a reduction over the same terms, comes to.
enum class Centre : std::uint8_t {
  Extreme,         // itself: the greatest or least of the terms
  FiniteGreatest,  // itself where that is finite, else 0
  Mean,            // a sum, by the number of its terms
};

// The letters: x is what the leader reduces, y and z are centres before and after, w is what terms
// come to under y, n is how many they are, k is the identity of the op that combines them.
struct Transport {
  std::string_view name;
  Centre centre;
  Pattern term;
  Pattern moved;
  Pattern rest;
  const char* file = __builtin_FILE();
  int line = __builtin_LINE();
};

// Constant data; a tuple names a law by its place here.
std::span<const Transport> transports();
enum TransportLaw : std::int64_t { exponential_law, equality_law, square_law };

// The centre where the leader has come to `leader` after `terms` (Index) terms.
UOp centre_of(const Transport& law, UOp leader, UOp terms);

// `value`, combined by `op` of `terms` terms under the centre `from`, as it is under `to`.
UOp moved(const Transport& law, Op op, UOp value, UOp from, UOp to, UOp terms);

}  // namespace croze
