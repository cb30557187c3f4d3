// llvm_order.h -- where the vectors of a tile are loaded.
//
// LLVM's selection of instructions puts the first four loads of a stream side by side, whether it
// schedules or not.  Of a tile these are columns of the next turns, and where its sums leave no
// registers for so many they are spilled and reloaded in each turn.  It moves no load over an
// assembler text that may write something, were it empty: where registers are short, one stands
// between products and what is loaded after them.
#pragma once

#include <cstdint>

#include "croze/render/llvm_text.h"

namespace croze {

class LlvmOrder {
 public:
  // Of a processor with so many registers for vectors; 0: LLVM may move loads.
  explicit LlvmOrder(std::int64_t registers) : registers_(registers) {}

  void begin_block() { *this = LlvmOrder(registers_); }
  // A vector is read that stays in a register from turn to turn.
  void read_sum() { sums_++; }
  void multiply() { has_multiplied_ = true; }

  // Stands before the load of a vector.
  void keep_behind_products(LlvmText& text) {
    constexpr std::int64_t side_by_side = 4, factor = 1;
    if (registers_ == 0 || sums_ + side_by_side + factor <= registers_) return;
    if (!has_multiplied_) return;
    has_multiplied_ = false;
    text.line(
        "call void asm sideeffect \"\", \"\"() nounwind willreturn memory(inaccessiblemem: write)");
  }

 private:
  std::int64_t registers_;
  std::int64_t sums_ = 0;        // read in this block
  bool has_multiplied_ = false;  // in this block, since loads were last kept behind it
};

}  // namespace croze
