// alignment.cpp -- factors of two, from operands to results.
#include "croze/render/ptx/alignment.h"

#include <algorithm>

namespace croze::ptx {
namespace {

std::int64_t factor_of(std::int64_t number) {
  if (number == 0) return Alignments::most;
  const auto bits = static_cast<std::uint64_t>(number);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bits & (~bits + 1), Alignments::most));
}

}  // namespace

Alignments::Alignments(const LinearProgram& program) : known_(program.graph->id_limit(), 1) {
  for (UOp u : program.instructions) known_[u.id()] = static_cast<std::int8_t>(derive(u));
}

std::int64_t Alignments::of(UOp value) const {
  while (value.is(Op::After)) value = value.src(0);
  return known_[value.id()];
}

std::int64_t Alignments::derive(UOp u) const {
  if (!is_integer(u.dtype())) return 1;
  switch (u.op()) {
    case Op::Const: return factor_of(u.arg().value);
    case Op::Range: return is_lane(u) ? most : 1;
    case Op::Cast: return is_integer(u.src(0).dtype()) ? of(u.src(0)) : 1;
    case Op::Neg: return of(u.src(0));
    case Op::Add: return std::min(of(u.src(0)), of(u.src(1)));
    case Op::Mul: return std::min(most, of(u.src(0)) * of(u.src(1)));
    case Op::MulAdd: return std::min(of(u.src(0)) * of(u.src(1)), of(u.src(2)));
    case Op::Where: return std::min(of(u.src(1)), of(u.src(2)));
    case Op::Shl:
      if (!u.src(1).is_const()) return of(u.src(0));
      return std::min(most, of(u.src(0)) << std::min<std::int64_t>(u.src(1).const_int(), 4));
    default: return 1;
  }
}

}  // namespace croze::ptx
