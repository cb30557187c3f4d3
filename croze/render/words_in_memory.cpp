// words_in_memory.cpp -- one walk over the list; halves meet within a block of it.
#include "croze/render/words_in_memory.h"

#include <vector>

#include "croze/render/joined_bytes.h"

namespace croze {
namespace {

bool are_apart(const LaneForm& at) {
  if (at.lanes == 1 || !at.affine) return false;
  return at.period == 0 ? at.step > 1 : at.step == 0 && at.jump > 1;
}

}  // namespace

WordsInMemory::WordsInMemory(const LinearProgram& program, const LaneForms& forms) {
  std::vector<WordInMemory*> of_block;
  for (UOp u : program.instructions) {
    if (u.is(Op::Loop) || u.is(Op::EndLoop)) of_block.clear();
    const UOp low = low_byte_of_word(u);
    if (!low || !are_apart(forms.of(low.src(0).src(1)))) continue;
    const UOp buffer = buffer_of(low.src(0));
    if (!buffer.is(Op::Param) || program.info.writes(static_cast<std::size_t>(buffer.slot())))
      continue;
    WordInMemory& word =
        words_.emplace(u.id(), WordInMemory{.low = low, .low_of_pair = {}}).first->second;
    for (WordInMemory* other : of_block) {
      const std::int64_t apart = bytes_between(other->low.src(0), low.src(0));
      if (other->low_of_pair || (apart != 2 && apart != -2)) continue;
      (apart > 0 ? word : *other).is_upper_half = true;
      word.low_of_pair = other->low_of_pair = apart > 0 ? other->low : low;
    }
    of_block.push_back(&word);
  }
}

}  // namespace croze
