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

LlvmValue WordsInMemory::load(LlvmText& text, const WordInMemory& word, LlvmPlace place,
                              std::int64_t lanes) {
  const LlvmType type{DType::UInt16, lanes};
  if (!word.low_of_pair) {
    place.read_as = type.dtype;
    return llvm_load(text, place, lanes);
  }
  LlvmValue& pair = pairs_[word.low_of_pair.id()];
  if (pair.name.empty()) {
    if (word.is_upper_half) place.offset -= 2;
    place.read_as = DType::UInt32;
    pair = llvm_load(text, place, lanes);
  }
  const LlvmValue halves[] = {pair, {llvm_constant(pair.type, 16), pair.type}};
  const LlvmValue half =
      word.is_upper_half ? llvm_elementwise(text, Op::Shr, pair.type, halves) : pair;
  return llvm_elementwise(text, Op::Cast, type, {&half, 1});
}

}  // namespace croze
