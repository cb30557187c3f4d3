// tile_cost.h -- what a register tile of a contraction costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "croze/codegen/choose/access.h"
#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/matrix_unit.h"

namespace croze {

// A matrix unit that takes the products of a loop of the reduction, as many as it turns, at once.
struct UnitTerms {
  std::int64_t unit = 0;  // number in Caps::matrix_units, from 1; 0: none
  UOp depth;              // the loop
};

struct RegisterTile {
  UOp lane;  // the loop cut into lanes: an output loop, or one of the reduction
  bool in_reduction = false;
  std::int64_t lanes = 1;
  UOp columns,
      rows;  // output loops unrolled; columns is `lane`, or one of which each gets a vector
  std::int64_t num_columns = 1, num_rows = 1;  // accumulators: vectors, rows
  bool overlaps = false;  // columns, at the end of a loop that is no multiple of their lanes
  // Iterations of the outermost loop of the reduction that go at a time over all tiles of a block,
  // whose sums wait in memory meanwhile; 0: a tile is reduced in one go.
  std::int64_t turn = 0;
  // Rows are read in order from wherever they are for each tile of columns, which threads share:
  // there are no blocks of them.
  bool streams_rows = false;
  bool columns_feed = false;  // threads share the columns, not blocks of rows
  UnitTerms by_unit;          // which multiplies, if one does
  double cost = std::numeric_limits<double>::infinity();
};

// What is tiled: a reduction and the loops around it.
struct Contraction {
  Contraction(const KernelState& k, UOp reduce, UnitTerms by_unit = {});

  UnitTerms by_unit;
  const MatrixUnit* unit;    // null: none
  std::vector<UOp> loops;    // of the output, those that may run in any order
  std::vector<UOp> reduced;  // but for the terms of a unit
  std::vector<UOp> loads;
  std::vector<UOp> computed;  // of the operands; the last operation is one with the sum
  bool can_take_turns;        // sums may wait in a tile between turns
  bool can_overlap;           // an iteration may be run twice
  UOp stored;                 // the place written
  std::int64_t inner_turns;   // of the reduction in one of its outermost loop
  double turns;               // of the reduction, per element
  MachineModel machine;
  std::int64_t full;  // lanes of a full register

  // Terms that an instruction takes.
  std::int64_t terms() const { return unit ? unit->depth : 1; }
  // Rows that it makes: of more than one its operands are copied to where it finds them.
  std::int64_t rows_at_once() const { return unit ? unit->rows : 1; }
  bool makes_tiles() const { return rows_at_once() > 1; }
  // Bytes of rows in a turn, of each.
  std::int64_t bytes_of_turn() const {
    return unit ? terms() * size_of(unit->a) : machine.vector_bytes / full;
  }
  bool fits_registers(std::int64_t rows, std::int64_t columns, std::int64_t temporaries) const;
  // Of what one reads of a lane.
  std::int64_t bytes_of(UOp place) const { return size_of(place.dtype()) * terms(); }
  // Whether what lanes read is the unit's b, and the same for all rows, and what all lanes read its
  // a, and the same for all columns; or there is no unit.
  bool suits_unit(const RegisterTile& t) const;
};

// How many loops of a reduction, innermost last, are left where those of a window become copies of
// a tile's code, which has so many multiply-adds.
std::size_t loops_that_turn(std::span<const UOp> reduced, std::int64_t multiply_adds);

// Costs by the machine model: multiply-adds against loads, and what is copied, fetched and put
// aside around them.
class TileCost {
 public:
  explicit TileCost(const Contraction& contraction) : c_(contraction) {}

  // The tile in each way that the reduction may go over it: turn and streams_rows differ.
  std::vector<RegisterTile> ways(RegisterTile t) const;
  // Cycles of one turn of the reduction over a tile.
  double cycles(const RegisterTile& t) const;
  // Whether the threads had better share the columns: each block of rows fills all panels anew,
  // which a short one does not make up for, nor a long one where all rows stay in the L2 cache.
  // Those that are read in order come in time from other caches, too.  Those that lie in pieces do
  // not even from the L2 cache: long blocks of them are copied.
  bool columns_feed(const RegisterTile& t) const;
  // Whether rows that stream are fetched ahead, by a loop that is long enough.
  bool fetches_rows(const RegisterTile& t) const;
  // What the threads do more than their share of the tiles of columns.
  double unevenness(const RegisterTile& t) const;
  // The part of the lanes that does work when the loop's size is not a multiple of them.  An open
  // loop may turn once: a constant one gives the lanes if there is one.
  static double used_part(UOp range, std::int64_t lanes);

 private:
  // Loops of the reduction that are not copies of the tile's code.
  std::span<const UOp> loops_that_turn(const RegisterTile& t) const;
  // Of a turn: multiply-adds, with what is computed for them, and loads.
  double multiplying(const RegisterTile& t) const;
  double loading(const RegisterTile& t) const;
  std::int64_t vectors_of_columns() const;
  // The longest turn in which the columns of the tile stay in the L1 cache; 0 if there is none.
  // Rows that a few tiles read come from memory, where they are better read in one go.
  std::int64_t near_turn(const RegisterTile& t) const;
  // The longest turn whose columns take so many bytes at most; 0 if there is none.
  std::int64_t turn_within(double bytes_of_one, std::int64_t most) const;
  // What the columns of a tile take in one iteration of the outermost loop of the reduction.
  double panel_bytes(const RegisterTile& t) const;
  // The turn of a tile that streams its rows: 0 if the panel of all its columns stays in the L2
  // cache, else the longest of which it does; none if it cannot.  The rows are more than their
  // half of that cache and read in order.
  std::optional<std::int64_t> streaming_turn(const RegisterTile& t) const;
  bool has_streaming_rows(const RegisterTile& t) const;
  // What a load reads in the whole kernel.
  double all_bytes(UOp load) const;
  static std::int64_t row_tiles(const RegisterTile& t);
  static double column_tiles(const RegisterTile& t);
  std::int64_t bytes_of_sums(const RegisterTile& t) const;
  // Loading a vector from where it stays from one tile to the next: columns from one tile of rows
  // to the next, other vectors until all of them have been read.
  double distance_cost(UOp load, const RegisterTile& t) const;
  // Room that columns lack in the L1 cache where rows that are vectors, too, pass through it.
  double bytes_beside(const RegisterTile& t) const;
  // Whether what lies in lines that are far apart is read by so many that a copy pays.
  bool is_copied(UOp load, const RegisterTile& t) const;
  // Rows that come from beyond the L2 cache: they are fetched ahead, and only so fast.
  double streaming_cost(const RegisterTile& t) const;
  // Fetching so many elements of what a load reads, all threads being at it.
  double fetching_cost(UOp load, double elements) const;
  // Fetching them where the L2 cache of a thread does not hold all of it, else 0: the next one
  // gives them only so fast, and where each step of the reduction is far from the last, the
  // hardware foresees none of the lines but those that follow the first of so many groups side by
  // side.
  double fetching_from_afar(UOp load, double elements, double groups) const;
  // Fetching them from the L3 cache.
  double fetching_farther(UOp load, double elements) const;
  // What is copied to where the tile reads it in order: columns that do not lie side by side, or do
  // so in lines that are far apart, rows that neither do nor go on along the reduction.  What is no
  // column and stays where it is is fetched anew by tiles that have it in common with no other.
  double copying_cost(const RegisterTile& t) const;
  static bool are_rows(UOp place, const RegisterTile& t);
  // Whether the lines of all rows that a tile reads at a time share a set of the L1 cache.
  bool do_rows_collide(UOp place, const RegisterTile& t) const;
  // Whether lines of rows that are read in order do not stay in the L1 cache until the next step,
  // or are as many streams with those fetched ahead as the hardware does not follow.
  bool are_too_many_rows(UOp place, const RegisterTile& t) const;
  // Whether what a turn reads of such rows are pieces of pages, in the sets of
  // which the L2 cache has no room for those of a block.
  bool do_pieces_of_rows_collide(UOp place, const RegisterTile& t) const;
  bool is_row_copied(UOp place, const RegisterTile& t) const;
  double copying_a_row(UOp place) const;
  double fetching_columns(UOp load, const RegisterTile& t) const;
  // Whether the terms that a unit takes at once do not lie side by side in rows, which are copied
  // for all columns then, block by block.
  bool copies_terms_of_rows(const RegisterTile& t) const;
  // Whether columns lie side by side, and those of each of many steps of the reduction far from the
  // others.
  bool are_columns_in_lines(UOp place, const RegisterTile& t) const;
  // Whether rows lie side by side, and those of each of many steps of the reduction far from the
  // others: a tile reads a piece of a line at each step.
  bool are_rows_in_pieces(UOp place, const RegisterTile& t) const;
  // Whether enough tiles read such rows that they are copied, block by block.
  bool copies_pieces(const RegisterTile& t) const;
  // Tiles that read what is copied or fetched: those of a block, where there are any.
  double uses_in_block(UOp load, const RegisterTile& t) const;
  // Tiles of rows that stay in the L2 cache, if each thread is left some blocks; all, if there are
  // no blocks.
  double rows_of_block(const RegisterTile& t) const;
  // Tiles of columns whose sums wait together.
  double columns_of_block(const RegisterTile& t) const;
  // Of the loops that the tile does not cut.
  double other_iterations(const RegisterTile& t) const;
  // Read in order as the reduction goes.
  bool follows_reduction(UOp place) const;
  double copying_a_vector(UOp place, const RegisterTile& t) const;
  // The same of the terms that a unit takes, which come to lie side by side.
  double copying_terms(UOp place, const RegisterTile& t) const;
  // Making unsigned what all lanes multiply.
  double shifting(const RegisterTile& t) const;
  // Whether the lanes are two elements apart.
  static bool are_every_other(UOp place, const RegisterTile& t);
  // Whether where it lies, or whether it is there, takes divisions that lanes have results of their
  // own of.
  bool divides(UOp place, UOp lane) const;
  // Tiles that read what one tile reads at a place: columns are copied for the loop over rows, rows
  // for all others.
  double uses(UOp place, const RegisterTile& t) const;
  // Whether lanes that lie apart, or some of which lie nowhere, can be copied side by side: a panel
  // that many rows read.
  bool can_copy_columns(UOp place, const RegisterTile& t) const;
  // Loading and storing the sums once in a turn: they come from a cache, and others go there in
  // their place.  The L2 cache has room for those of a block beside all else if they are half of
  // it.
  double waiting_cost(const RegisterTile& t) const;
  // Loads of a place in one turn, or computations of a value.
  static std::int64_t copies(UOp u, const RegisterTile& t);
  // What is computed of the operands in one turn before they are multiplied, on vectors or for each
  // row by itself.
  double operand_work(const RegisterTile& t) const;
  // Whether it is what all rows read.
  static bool are_columns(UOp place, const RegisterTile& t);
  // Of the columns that a tile reads at a place, in all iterations of the reduction or of a turn.
  double bytes_of_columns(UOp place, const RegisterTile& t) const;
  // Once per tile.
  double store_cost(const RegisterTile& t) const;
  static bool pads_lanes(UOp place, const RegisterTile& t);
  // Whether the place is gated, or will be where a loop is padded.
  static bool is_gated(UOp place, const RegisterTile& t);
  // The mask is another one in each turn if the gate is.  Those of a window that became copies of
  // the code are made once, and loaded: there are too many for registers.
  double masked_load(UOp place, std::span<const UOp> loops) const;
  double masked_load(UOp place) const { return masked_load(place, c_.reduced); }
  double load_cost(UOp place, const RegisterTile& t) const;
  Along along(UOp place, UOp range) const;

  // What is known of a place, whatever the tile: thousands of tiles ask.
  struct PlaceFacts {
    UOp place;
    RangeSet divided;                          // loops that its divisions vary over
    std::int64_t far_steps = 1;                // of the reduction, each far from the others
    bool follows_last = false;                 // it goes on along the innermost of its loops
    std::vector<std::pair<UOp, Along>> along;  // by loop
  };
  PlaceFacts& facts_of(UOp place) const;

  const Contraction& c_;
  mutable std::vector<PlaceFacts> facts_;
};

}  // namespace croze
