// fill_ahead.h -- tiles that are filled some turns of a loop before they are read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"

namespace croze {

// Of how many turns the tile holds what is read in them; 1: it is filled in the turn itself.  What
// is for turn t of the loop lies in slot t % slots.
std::int64_t slots_of(UOp tile);

// How many turns before it is read a slot is filled: all that the tile holds but one, and one less
// where units read it behind the items' backs, which may be at work on the turn before.
std::int64_t turns_ahead(UOp tile);

// The loop, if the tile has slots: what fills one in a turn varies over it, and what fills the
// others before the first turn does not.  `nodes` have all writes into the tile.
RangeSet turns_of_slots(UOp tile, std::span<const UOp> nodes);
// Of a write that fills a tile for the first turns their loop, in front of which it has to stand;
// nothing for others.
RangeSet turns_after(UOp write, std::span<const UOp> nodes);
// The turns of all tiles that have slots.
RangeSet turns_filled_ahead(std::span<const UOp> nodes);

// Why the tiles that are filled in the loop cannot be filled ahead; empty if they can.
std::string refuse_fill_ahead(UOp turn, std::span<const UOp> nodes,
                              std::span<const UOp> output_loops);

// The writes that fill tiles in group memory in each turn of the loop.
std::vector<UOp> fills_in(UOp turn, std::span<const UOp> nodes);
// The tiles that they fill, each once: by a store, or by several boxes.
std::vector<UOp> tiles_of(std::span<const UOp> fills);

}  // namespace croze
