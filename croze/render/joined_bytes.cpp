// joined_bytes.cpp -- low byte | high byte << 8, as words lie in memory.
#include "croze/render/joined_bytes.h"

#include <cstdint>

namespace croze {
namespace {

// The byte that is widened to a word; null if it is none.
UOp loaded_byte(UOp u) {
  const bool is_widened = u.is(Op::Cast) && u.src(0).dtype() == DType::UInt8;
  if (!is_widened || !u.src(0).is(Op::Load)) return {};
  const UOp place = u.src(0).src(0);
  return place.is(Op::Index) && place.num_src() == 2 ? u.src(0) : UOp();
}

struct Offset {
  UOp from;
  std::int64_t by = 0;
};

Offset offset_of(UOp index) {
  Offset offset{index};
  for (; offset.from.is(Op::Add) && offset.from.src(1).is_const(); offset.from = offset.from.src(0))
    offset.by += offset.from.src(1).const_int();
  return offset;
}

// Whether the places lie in the same buffer, one behind the other.
bool follow(UOp low, UOp high) {
  const Offset at = offset_of(low.src(1)), next = offset_of(high.src(1));
  return low.src(0) == high.src(0) && at.from == next.from && at.by + 1 == next.by;
}

}  // namespace

UOp low_byte_of_word(UOp u) {
  if (!u.is(Op::Or) || u.dtype() != DType::UInt16) return {};
  const int at = u.src(0).is(Op::Shl) ? 0 : 1;
  const UOp shifted = u.src(at), low = loaded_byte(u.src(1 - at));
  if (!low || !shifted.is(Op::Shl) || !shifted.src(1).is_const(8)) return {};
  const UOp high = loaded_byte(shifted.src(0));
  return high && follow(low.src(0), high.src(0)) ? low : UOp();
}

}  // namespace croze
