// prefetch.h -- which memory a loop fetches for the next turn of the loop around it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// Turns of a loop in which memory can be fetched.
inline constexpr std::int64_t long_loop = 16;

// `places` are read in each turn of `inner`, a reduction that stands in `outer`; their indices are
// sized integers.  Returns the places that are fetched in a turn of `inner` so that after all its
// turns what the next turn of `outer` reads, or where that is little a later one, is near: about a
// cache line a turn, perhaps beyond the buffers.  None where all places move with `outer`: only
// where others stay, because they are used again, are the moving ones rows of a tile, too many for
// the hardware to foresee.
std::vector<UOp> places_of_next_turn(std::span<const UOp> places, UOp inner, UOp outer);

// `places` are read in a turn of the last of the loops `filling`, which fill a tile and come
// outermost first.  Returns the places that are fetched with them so that what the tile is filled
// with soon is near: where that lies pages apart, or comes in order behind a mask and the hardware
// does not see that.
std::vector<UOp> places_of_next_fill(std::span<const UOp> places, std::span<const UOp> filling,
                                     bool is_blind_to_masks);

// Packed numbers at `places` are read in a turn of `inner`, which fills a tile, in each turn of the
// loops `around`, outermost first, anew.  Returns the places that are fetched in as many turns so
// that what the tile is filled with in the next turn of one of the loops around is near.
std::vector<UOp> places_of_later_fill(std::span<const UOp> places, UOp inner,
                                      std::span<const UOp> around);

// The same of rows that `inner` walks along and whose numbers `outer` reads from memory: places in
// a row that comes some turns of `outer` later, or of its last one.  The numbers are read where
// they are in any case.
std::vector<UOp> places_of_later_rows(std::span<const UOp> places, UOp inner, UOp outer);

// A place that is fetched, into the first or the second cache.
struct Fetch {
  UOp place;
  std::int64_t cache = 1;
};

// The instructions on vectors that an op takes: to combine lanes, an exchange and an op for each
// halving.
std::int64_t vector_instructions(UOp u, bool is_vector);

// `places` are read in a turn of `loop`, the innermost, which takes so many vector instructions.
// Returns the places that are fetched with them, if that is much beside what is read: some way
// ahead, or where `outer` goes from row to row and a cache has room for two of these, in the next
// row.  That costs memory no time where a loop before has read these places (`is_read_again`),
// however little is computed.
std::vector<Fetch> places_of_stream(std::span<const UOp> places, UOp loop, UOp outer,
                                    std::int64_t instructions, bool is_read_again = false);

// Whether lanes lie in several cache lines, none beside the next, of memory that does not stay in
// the caches of a core, which is known without loading anything.
bool is_scattered(UOp place);

// Where the lanes of scattered places come to other cache lines, each line once.
std::vector<UOp> lines_of(std::span<const UOp> places);

// Whether a vector of consecutive elements is known without loading anything: lanes are a term of
// the index, and the rest of it is the same for all of them.  What is loaded once for all turns of
// `loop` is known in them; null: nothing is.
bool is_fetchable(UOp place, UOp loop = UOp());

}  // namespace croze
