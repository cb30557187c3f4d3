// edit.h -- one change of a kernel's form, as data.
//
// An edit changes how a kernel is run and never what it computes.  It names loops by the ids of
// their ranges and loads by their place in the kernel; both are the same in every run, so a list of
// edits can be printed, kept, read back and made again, with the same program as the result.
// legality.h says which edits a kernel takes, transform.h makes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/op.h"

namespace croze {

enum class EditKind : std::uint8_t {
  Split,             // ranges: the loop.  size: of the inner of the two loops that it becomes
  SplitOverlapping,  // the same where the size divides it not: the last inner loop begins earlier
  Merge,             // ranges: outer, inner.  They become one loop
  Pad,               // ranges: the loop.  size: of which its size becomes a multiple
  SplitReduction,    // ranges: the loop.  size: number of partial results, combined at the end
  Bind,              // ranges: the loop.  loop: how it is run from now on
  Reorder,           // ranges: the output loops in their new order, outermost first
  Share,             // ranges: the loops of a reduction, and then of one that is to run in them
  OnePass,     // ranges: of a reduction, and one or several of others that need what it comes to.
               // size: of blocks
  Keep,        // ranges: two loops that compute something alike.  size: lanes that fill its tile
  Tabulate,    // ranges: of a reduction, over which what is the same for all lanes is tabulated.
               // size: lanes that fill the tile
  Panel,       // ranges: lanes and loops of reductions, over which what varies over the lanes and
               // is the same for all rows is computed, in the order in which the tile is laid out
  Accumulate,  // ranges: of a reduction, and output loops over which a tile of its sums extends.
               // size: of turns
  Contract,    // ranges: lanes, and a loop of a reduction, or those that make up its terms, whose
               // products a matrix unit adds up for them; or two output loops, whose tile the
               // threads of a wave make together, and such a loop.  size: number of the unit in
               // Caps::matrix_units, from 1
  Stage,       // load, ranges: what is tabulated, over which loops.  space, size: lanes
  Simplify,    // rewrites index arithmetic to its canonical form
  FillAhead,   // ranges: a loop of a reduction, in which tiles in group memory are filled.  size:
               // slots that each of them has from now on
};

struct Edit {
  EditKind kind = EditKind::Simplify;
  std::vector<std::int64_t> ranges = {};  // ids
  std::int64_t size = 0;                  // > 0 where the kind has one
  LoopKind loop = LoopKind::Loop;         // Bind
  std::int64_t load = 0;                  // Stage: place in loads() of the kernel
  Space space = Space::Thread;            // Stage

  bool operator==(const Edit&) const = default;
};

// "split r3 by 4", "bind r5 lane", "stage load 1 over r2 r5 in thread by 16"; of several, joined by
// "; ".
std::string to_text(const Edit& edit);
std::string to_text(std::span<const Edit> edits);

// Reads what to_text() writes; empty parts are skipped.  Throws Error that names the part it cannot
// read.  Whether a kernel takes the edits is not asked here.
std::vector<Edit> parse_edits(std::string_view text);

}  // namespace croze
