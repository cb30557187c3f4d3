// words_in_memory.h -- the words and halves of a linear program that lanes load from places apart.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "croze/render/lane_form.h"
#include "croze/render/llvm_memory.h"
#include "croze/render/llvm_text.h"
#include "croze/render/program.h"

namespace croze {

// A word of 16 bits put together of two bytes in memory, one for each lane or for each run of
// lanes, far from that of the next one.
struct WordInMemory {
  UOp low;                      // the Load of its low byte
  bool has_two_behind = false;  // two more bytes lie behind it in all lanes
  // Of a half, the low byte of two halves side by side, of which it is the upper or the lower one
  // and another instruction of the same block the other; null if there is none.  Blocks of packed
  // numbers begin so.
  UOp low_of_pair = {};
  bool is_upper = false;
};

// Of memory that the program does not write.  LLVM finds scalars that are put together of bytes by
// itself.
class WordsInMemory {
 public:
  WordsInMemory(const LinearProgram& program, const LaneForms& forms);

  // Null if `u` is none.  A half is a word whose bits are those of a Float16, as a Float32.
  const WordInMemory* find_word(UOp u) const { return find(words_, u); }
  const WordInMemory* find_half(UOp u) const { return find(halves_, u); }

  // In so many lanes; `place` is that of the low bytes.  Halves are widened once for all lanes of a
  // run, and those of a pair together.
  LlvmValue load_word(LlvmText& text, const WordInMemory& word, LlvmPlace place,
                      std::int64_t lanes) const;
  LlvmValue load_half(LlvmText& text, const WordInMemory& half, LlvmPlace place,
                      std::int64_t lanes);

 private:
  using ById = std::unordered_map<std::int64_t, WordInMemory>;

  static const WordInMemory* find(const ById& all, UOp u) {
    const auto found = all.find(u.id());
    return found == all.end() ? nullptr : &found->second;
  }
  void add(UOp u, const LinearProgram& program, const LaneForms& forms);
  void find_pairs(const LinearProgram& program);

  ById words_, halves_;
  std::unordered_map<std::int64_t, LlvmValue> widened_;  // by the id of the low byte
};

}  // namespace croze
