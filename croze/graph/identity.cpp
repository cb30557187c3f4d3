// identity.cpp -- the value that a reduction starts from.
#include <bit>
#include <cmath>
#include <limits>

#include "croze/base/error.h"
#include "croze/graph/eval.h"

namespace croze {
namespace {

// Infinity, or the greatest number where a type has none: rounded to it infinity would be NaN,
// which no reduction ever leaves.
double greatest_of(DType t) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t rounded = bits_of(infinity, t);
  if (!std::isnan(std::bit_cast<double>(rounded))) return infinity;
  // Its NaN stands right behind the greatest number (half.h).
  std::uint64_t pattern = 0;
  store_bits(rounded, t, &pattern);
  pattern--;
  return std::bit_cast<double>(load_bits(&pattern, t));
}

}  // namespace

std::int64_t identity_of(Op op, DType t) {
  switch (op) {
    case Op::Add: return bits_of(std::int64_t{0}, t);
    case Op::Mul: return bits_of(std::int64_t{1}, t);
    case Op::Max: return is_float(t) ? bits_of(-greatest_of(t), t) : min_value(t);
    case Op::Min:
      return is_float(t) ? bits_of(greatest_of(t), t) : t == DType::UInt64 ? -1 : max_value(t);
    default: fail_internal({}, "{} is not a reduction", info(op).name);
  }
}

}  // namespace croze
