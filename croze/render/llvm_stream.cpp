// llvm_stream.cpp -- results that are written past the caches.
//
// A cache line that is written is read first, unless it is written as a whole by an instruction
// that passes the caches.  That leaves two thirds of what a copy moves, but whoever reads the
// result gets it from memory: so it is done for what does not stay in the last cache anyway.
//
// The instructions want aligned addresses, and a buffer may be a part of another.  So a program has
// two bodies, and its entry looks at the addresses.
#include "croze/render/llvm_stream.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "croze/render/lane_form.h"

namespace croze {
namespace {

constexpr std::int64_t line_bytes = 64;

UOp without_after(UOp u) {
  while (u.is(Op::After)) u = u.src(0);
  return u;
}

// Whether a Store writes whole cache lines where its buffer begins with one.
bool writes_whole_lines(const LaneForms& forms, UOp store) {
  const UOp place = without_after(store.src(0));
  if (!place.is(Op::Index) || place.num_src() == 3) return false;
  const LaneForm index = forms.of(place.src(1));
  if (index.step != 1 || index.lanes * size_of(store.src(1).dtype()) != line_bytes) return false;
  return multiple_in_first_lane(place.src(1)) % index.lanes == 0;
}

bool is_large(UOp buffer, std::int64_t least_bytes) {
  const bool is_open = buffer.num_src() > 0;
  return !is_open && buffer.buffer_elements() * size_of(buffer.dtype()) >= least_bytes;
}

}  // namespace

std::vector<std::int64_t> streamed_slots(const LinearProgram& program, std::int64_t least_bytes) {
  std::set<std::int64_t> streamed, others;
  if (least_bytes == 0) return {};
  const LaneForms forms(program);
  for (UOp u : program.instructions) {
    if (!u.is(Op::Store) && !u.is(Op::Load)) continue;
    const UOp buffer = buffer_of(without_after(u.src(0)));
    if (!buffer.is(Op::Param)) continue;
    const bool streams =
        u.is(Op::Store) && is_large(buffer, least_bytes) && writes_whole_lines(forms, u);
    (streams ? streamed : others).insert(buffer.slot());
  }
  std::vector<std::int64_t> result;
  std::ranges::set_difference(streamed, others, std::back_inserter(result));
  return result;
}

}  // namespace croze
