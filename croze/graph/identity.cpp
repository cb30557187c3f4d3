// identity.cpp -- the value that a reduction starts from.
#include <limits>

#include "croze/base/error.h"
#include "croze/graph/eval.h"

namespace croze {

std::int64_t identity_of(Op op, DType t) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case Op::Add: return bits_of(std::int64_t{0}, t);
    case Op::Mul: return bits_of(std::int64_t{1}, t);
    case Op::Max: return is_float(t) ? bits_of(-infinity, t) : min_value(t);
    case Op::Min:
      return is_float(t) ? bits_of(infinity, t) : t == DType::UInt64 ? -1 : max_value(t);
    default: fail_internal({}, "{} is not a reduction", info(op).name);
  }
}

}  // namespace croze
