// words_in_memory.h -- the words of a linear program that lanes load from places apart.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "croze/render/lane_form.h"
#include "croze/render/llvm_memory.h"
#include "croze/render/llvm_text.h"
#include "croze/render/program.h"

namespace croze {

// A word of 16 bits put together of two bytes in memory, one for each lane or for each run of
// lanes, far from that of the next lane.
struct WordInMemory {
  UOp low;  // the Load of its low byte
  // The low byte of a word of 32 bits, of which it is a half and another instruction of the same
  // block the other; null if there is none.  Blocks of packed numbers begin so, with two scales.
  UOp low_of_pair;
  bool is_upper_half = false;
};

// Of memory that the program does not write.  LLVM finds scalars that are put together of bytes by
// itself.
class WordsInMemory {
 public:
  WordsInMemory(const LinearProgram& program, const LaneForms& forms);

  // Null if `u` is none.
  const WordInMemory* find(UOp u) const {
    const auto found = words_.find(u.id());
    return found == words_.end() ? nullptr : &found->second;
  }
  // The words of so many lanes, of which `place` is that of the low bytes.  A pair is loaded once,
  // for both halves.
  LlvmValue load(LlvmText& text, const WordInMemory& word, LlvmPlace place, std::int64_t lanes);

 private:
  std::unordered_map<std::int64_t, WordInMemory> words_;  // by the id of the word
  std::unordered_map<std::int64_t, LlvmValue> pairs_;     // by the id of their low byte
};

}  // namespace croze
