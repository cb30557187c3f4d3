// llvm_stream.cpp -- results that are written past the caches.
//
// A cache line that is written is read first, unless it is written as a whole by an instruction
// that passes the caches.  That leaves two thirds of what a copy moves, but whoever reads the
// result gets it from memory: so it is done where more passes through the last cache, what is read
// included, than it holds.  What was written first is gone then anyway.
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
// Of the last cache: what is smaller may be read soon, and would be there.
constexpr std::int64_t least_part = 4;

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

// 0 if it is not known.
std::int64_t bytes_of(UOp buffer) {
  const bool is_open = buffer.num_src() > 0;
  return is_open ? 0 : buffer.buffer_elements() * size_of(buffer.dtype());
}

// The buffer that a Load or a Store looks at; null if it is none, or one of the program's own.
UOp accessed(UOp u) {
  if (!u.is(Op::Store) && !u.is(Op::Load)) return UOp();
  const UOp buffer = buffer_of(without_after(u.src(0)));
  return buffer.is(Op::Param) ? buffer : UOp();
}

std::int64_t bytes_accessed(const LinearProgram& program) {
  std::set<std::int64_t> slots;
  std::int64_t bytes = 0;
  for (UOp u : program.instructions) {
    const UOp buffer = accessed(u);
    if (buffer && slots.insert(buffer.slot()).second) bytes += bytes_of(buffer);
  }
  return bytes;
}

}  // namespace

std::vector<std::int64_t> streamed_slots(const LinearProgram& program,
                                         std::int64_t last_cache_bytes) {
  std::set<std::int64_t> streamed, others;
  if (last_cache_bytes == 0 || bytes_accessed(program) < last_cache_bytes) return {};
  const LaneForms forms(program);
  for (UOp u : program.instructions) {
    const UOp buffer = accessed(u);
    if (!buffer) continue;
    const bool streams = u.is(Op::Store) && bytes_of(buffer) >= last_cache_bytes / least_part &&
                         writes_whole_lines(forms, u);
    (streams ? streamed : others).insert(buffer.slot());
  }
  std::vector<std::int64_t> result;
  std::ranges::set_difference(streamed, others, std::back_inserter(result));
  return result;
}

}  // namespace croze
