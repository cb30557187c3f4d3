// llvm_index.cpp -- constants are found where sums end in them.
#include "croze/render/llvm_index.h"

#include <algorithm>

#include "croze/render/program.h"

namespace croze {

UOp without_after(UOp u) {
  while (u.is(Op::After)) u = u.src(0);
  return u;
}

bool fits_its_type(UOp u) {
  if (!is_integer(u.dtype())) return false;
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  const auto divisor = static_cast<std::uint64_t>(std::max<std::int64_t>(u.bounds().multiple, 1));
  return distance(min_value(u.dtype()), u.lo()) >= divisor ||
         distance(u.hi(), max_value(u.dtype())) >= divisor;
}

SplitIndex split_index(UOp place) {
  SplitIndex result{.index = place.src(1)};
  UOp& index = result.index;
  while (index.is(Op::Add) && fits_its_type(index)) {
    if (index.src(1).is_const()) {
      result.offset += index.src(1).const_int();
      index = index.src(0);
    } else if (is_lane(index.src(0)) || is_lane(index.src(1))) {  // lane 0 is 0
      index = index.src(is_lane(index.src(0)) ? 1 : 0);
    } else {
      break;
    }
  }
  return result;
}

}  // namespace croze
