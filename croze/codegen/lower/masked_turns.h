// masked_turns.h -- the turns of a loop in which a mask is open.
#pragma once

#include <span>

#include "croze/graph/uop.h"

namespace croze {

// Of a tile some elements may be behind a mask, and others not.
enum class Open { Somewhere, Everywhere };

// The turns from `first` to before `end`; null where the mask sets no limit.
struct MaskedTurns {
  UOp first, end;
};

// Of the turns of `loop` those in which `comparison`, one of indices (compares_indices), holds
// somewhere or everywhere, for whatever its ranges but those in `known` come to.  First and end
// vary over ranges in `known` alone, and may be less than 0 or beyond the last turn.
//
// With `4 * i + row - key < 1` and rows of 0 to 3, keys before `4 * i + row` are masked: the mask
// is open somewhere from key `4 * i` on, and everywhere from `4 * i + 3` on.
[[nodiscard]] MaskedTurns turns_of_mask(UOp comparison, UOp loop, RangeSet known, Open open);

// Both limits.
[[nodiscard]] MaskedTurns both(const MaskedTurns& a, const MaskedTurns& b);

// The turn itself where it is one of `loop`, or else the nearest; null: `otherwise`.
[[nodiscard]] UOp clamped(UOp turn, UOp loop, UOp otherwise);

// How many turns there are from one to before another.
[[nodiscard]] UOp turns_between(UOp first, UOp end);

// The mask outside of which a value is what `op` combines to nothing; null if there is none.
[[nodiscard]] UOp mask_of_value(UOp value, Op op);
// The same of what a reduction combines.
[[nodiscard]] inline UOp mask_of_terms(UOp reduce) {
  return mask_of_value(reduce.src(0), reduce.reduce_op());
}

// Whether it is `index < number`.
[[nodiscard]] bool is_comparison_of_index(UOp u);

// Whether it is `index < index`, or compares integers that are as good as indices, of which one may
// be loaded.
[[nodiscard]] bool compares_indices(UOp u);

// Whether it comes to the same all the while: what it loads no store of the kernel changes.
[[nodiscard]] bool is_settled(UOp comparison, std::span<const UOp> order);

}  // namespace croze
