// joined_bytes.cpp -- low byte | high byte << 8, as words lie in memory.
#include "croze/render/joined_bytes.h"

#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

// The byte that is widened to a word; null if it is none.
UOp loaded_byte(UOp u) {
  const bool is_widened = u.is(Op::Cast) && u.src(0).dtype() == DType::UInt8;
  if (!is_widened || !u.src(0).is(Op::Load)) return {};
  const UOp place = u.src(0).src(0);
  return place.is(Op::Index) && place.num_src() == 2 ? u.src(0) : UOp();
}

}  // namespace

std::int64_t bytes_between(UOp first, UOp second) {
  if (first.src(0) != second.src(0)) return 0;
  LinearForm apart = LinearForm::of(second.src(1));
  apart.add(LinearForm::of(first.src(1)), -1);
  return apart.terms.empty() ? apart.constant : 0;
}

UOp low_byte_of_word(UOp u) {
  if (!u.is(Op::Or) || u.dtype() != DType::UInt16) return {};
  const int at = u.src(0).is(Op::Shl) ? 0 : 1;
  const UOp shifted = u.src(at), low = loaded_byte(u.src(1 - at));
  if (!low || !shifted.is(Op::Shl) || !shifted.src(1).is_const(8)) return {};
  const UOp high = loaded_byte(shifted.src(0));
  return high && bytes_between(low.src(0), high.src(0)) == 1 ? low : UOp();
}

}  // namespace croze
