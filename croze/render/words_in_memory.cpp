// words_in_memory.cpp -- one walk over the list finds them, another one what lies side by side.
#include "croze/render/words_in_memory.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "croze/render/joined_bytes.h"

namespace croze {
namespace {

constexpr std::int64_t half_bytes = 2;

bool are_apart(const LaneForm& at) {
  if (at.lanes == 1 || !at.affine) return false;
  return at.period == 0 ? at.step > 1 : at.step != 1 && at.step >= 0 && at.jump > 1;
}

bool has_two_behind(UOp low) {
  const UOp place = low.src(0);
  return place.src(1).hi() + 2 * half_bytes <= buffer_of(place).least_elements();
}

bool is_bits_of_half(UOp u) { return u.is(Op::Bitcast) && u.dtype() == DType::Float16; }

}  // namespace

WordsInMemory::WordsInMemory(const LinearProgram& program, const LaneForms& forms) {
  for (UOp u : program.instructions) add(u, program, forms);
  find_pairs(program);
}

void WordsInMemory::add(UOp u, const LinearProgram& program, const LaneForms& forms) {
  const bool is_half = u.is(Op::Cast) && u.dtype() == DType::Float32 && is_bits_of_half(u.src(0));
  if (is_half) {
    if (const WordInMemory* word = find_word(u.src(0).src(0))) halves_.emplace(u.id(), *word);
  }
  const UOp low = low_byte_of_word(u);
  if (!low || !are_apart(forms.of(low.src(0).src(1)))) return;
  const UOp buffer = buffer_of(low.src(0));
  const bool is_read_only =
      buffer.is(Op::Param) && !program.info.writes(static_cast<std::size_t>(buffer.slot()));
  if (is_read_only) words_.emplace(u.id(), WordInMemory{low, has_two_behind(low)});
}

void WordsInMemory::find_pairs(const LinearProgram& program) {
  std::vector<WordInMemory*> of_block;
  for (UOp u : program.instructions) {
    if (u.is(Op::Loop) || u.is(Op::EndLoop)) of_block.clear();
    const auto found = halves_.find(u.id());
    if (found == halves_.end()) continue;
    WordInMemory& half = found->second;
    for (WordInMemory* other : of_block) {
      const std::int64_t apart = bytes_between(other->low.src(0), half.low.src(0));
      if (other->low_of_pair || (apart != half_bytes && apart != -half_bytes)) continue;
      (apart > 0 ? half : *other).is_upper = true;
      half.low_of_pair = other->low_of_pair = apart > 0 ? other->low : half.low;
      break;
    }
    of_block.push_back(&half);
  }
}

// Where an instruction gathers twice as much, the bytes behind the word are loaded with it.
LlvmValue WordsInMemory::load_word(LlvmText& text, const WordInMemory& word, LlvmPlace place,
                                   std::int64_t lanes) const {
  const LlvmType type{DType::UInt16, lanes}, wider{DType::UInt32, lanes};
  const bool are_equal = place.run != 0 && place.step == 0;
  const bool gathers = word.has_two_behind && !are_equal && llvm_gathers(text, wider);
  place.read_as = gathers ? wider.dtype : type.dtype;
  const LlvmValue loaded = llvm_load(text, place, lanes);
  return gathers ? llvm_elementwise(text, Op::Cast, type, {&loaded, 1}) : loaded;
}

LlvmValue WordsInMemory::load_half(LlvmText& text, const WordInMemory& half, LlvmPlace place,
                                   std::int64_t lanes) {
  const bool are_equal = place.run != 0 && place.step == 0;
  const std::int64_t run = are_equal ? place.run : 1, per_word = half.low_of_pair ? 2 : 1;
  LlvmValue& widened = widened_[(half.low_of_pair ? half.low_of_pair : half.low).id()];
  if (widened.name.empty()) {
    if (half.is_upper) place.offset -= half_bytes;
    if (are_equal) {
      place.step = place.jump;
      place.run = place.jump = 0;
    }
    if (half.low_of_pair) place.read_as = DType::UInt32;
    const LlvmValue words = half.low_of_pair ? llvm_load(text, place, lanes / run)
                                             : load_word(text, half, place, lanes / run);
    const LlvmType bits{DType::Float16, lanes / run * per_word};
    const LlvmValue all = text.define(bits, "bitcast {} to {}", words.text(), bits.text());
    widened = llvm_elementwise(text, Op::Cast, bits.with(DType::Float32), {&all, 1});
  }
  const LlvmType type{DType::Float32, lanes};
  if (run == 1 && per_word == 1) return widened;
  std::string chosen;
  for (std::int64_t k = 0; k < lanes; k++)
    chosen += fmt::format("{}i32 {}", k ? ", " : "", k / run * per_word + (half.is_upper ? 1 : 0));
  return text.define(type, "shufflevector {}, {} poison, <{} x i32> <{}>", widened.text(),
                     widened.type.text(), lanes, chosen);
}

}  // namespace croze
