// machine_model.h -- what things cost on a processor with vector registers, for choosing tiles.
//
// The unit of all costs is the time of one multiply-add of full registers where nothing waits: two
// start in a cycle, or where the units take a register in two passes, one.  The numbers are those
// of one core of a current x86-64 processor with AVX-512 (manuals of the vendors; uops.info),
// rounded; only their proportions decide, and they are close on AVX2 and NEON.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "croze/device/caps.h"

namespace croze {

struct MachineModel {
  explicit MachineModel(const Caps& caps)
      : registers(caps.vector_registers),
        vector_bytes(caps.vector_bytes),
        passes(caps.datapath_bytes > 0 ? static_cast<double>(caps.vector_bytes) /
                                             static_cast<double>(caps.datapath_bytes)
                                       : 1),
        threads(caps.threads),
        tile_bytes(caps.l2_bytes / 2),
        sums_bytes(caps.l2_bytes),
        turn_bytes(caps.l1_bytes / 2),
        near_bytes(caps.l1_bytes * 2 / 3),
        decoded_bytes(caps.l1_bytes / 6),
        cache_bytes(static_cast<double>(caps.l2_bytes)),
        last_cache_bytes(static_cast<double>(caps.last_cache_bytes)) {}

  // ---- of the device ----

  std::int64_t registers, vector_bytes;
  double passes;  // of a unit over a register
  std::int64_t threads;
  // An operand's tile may fill half of the L2 cache: the other half is for what streams past it.
  std::int64_t tile_bytes;
  // Sums that wait between turns stream through the L2 cache: what it has no room for comes from
  // the next one in time.
  std::int64_t sums_bytes;
  // What is read again and again in a turn of a long reduction may fill half of the L1 cache.
  std::int64_t turn_bytes;
  // What each row tile reads anew stays in the L1 cache up to two thirds of it: rows and sums
  // stream through the rest.
  std::int64_t near_bytes;
  // What is decoded for one use fills a sixth of the L1 cache: it is read soon, and the rows that
  // it meets, what it is made of and what is fetched for the next stand beside it.  Of half as much
  // the loops are too short.
  std::int64_t decoded_bytes;
  static constexpr std::int64_t set_bytes = cache_set_bytes;
  static constexpr double line_bytes = cache_line_bytes;
  static constexpr std::int64_t lines_of_set = 8;  // at least; 12 in newer ones
  double cache_bytes;                              // of the L2 cache of one core
  double last_cache_bytes;                         // of the L3 cache of all

  // The unit of costs is half a cycle, or a whole one.
  double cycles(double count) const { return 2 * count / passes; }

  // ---- arithmetic ----

  // Multiply-adds that must be under way: a latency of 4 cycles, 2 started in each, and a cycle in
  // which one waits for its operands or for the unit.
  double in_flight() const { return 10 / passes; }
  // One on half a register, where a full one takes both halves of the unit in turn: two halves fit
  // into its time, less a tenth for the instructions around twice as many of them.
  static constexpr double half_register = 0.55;
  // On less: the units start two in a cycle, however short.
  static constexpr double quarter_register = 0.5;
  // A matrix unit with rows makes one of them in a cycle, whatever the lanes multiply; a tile of
  // sixteen takes 52 cycles until it can be added to again, so that four have to be under way.
  double unit_row() const { return cycles(1); }
  static constexpr std::int64_t tiles_in_flight = 4;
  // Registers of tiles, and the bytes of a row of one.
  static constexpr std::int64_t tile_registers = 8, tile_row_bytes = 64;
  // One turn of a loop: count, compare and jump are one fused instruction.
  static constexpr double turn = 1;
  // Arithmetic and loads overlap, but not wholly: this part of the lesser of the two shows.
  static constexpr double not_hidden = 0.3;
  // One lane of a vector that is combined to a scalar: a shuffle and an addition, which wait for
  // each other (3 + 4 cycles), and moving the result.
  static constexpr double combine_lane = 8;

  // ---- memory ----

  // A load of consecutive elements: two start in a cycle, and one that crosses a cache line counts
  // for two; operands stand anywhere in their lines.
  static constexpr double load = 0.8;
  // The same of what the L2 cache holds, which gives a datapath's width a cycle, three quarters of
  // it lastingly.
  static constexpr double far_load = 2.7;
  // The same of what only the L3 cache holds: 16 bytes a cycle.
  double farther_load() const { return cycles(static_cast<double>(vector_bytes) / 16); }
  // The same with a mask, which has to be made first: as below.
  double masked_load() const { return vector_bytes == 64 ? 1.1 : 3; }
  // What a mask costs that is another one in each turn of a reduction: comparisons, how they are
  // joined, and a look whether any lane is there.
  double make_mask() const { return vector_bytes == 64 ? 2 : 4; }
  // A vector of a loop of which the last one is not full, when all are masked: making the mask is
  // two instructions where there are registers for masks, and a handful, and slow stores, where
  // not.
  double masked_vector() const { return vector_bytes == 64 ? 1.3 : 2; }
  // A store with a mask: where there are no registers for masks some processors write lane by lane.
  double masked_store() const { return vector_bytes == 64 ? 1 : 24; }
  // A scalar spread over a register: no line is crossed.  AVX-512's multiply-adds take it from
  // memory themselves, elsewhere it is an instruction that takes a load's time.
  double broadcast() const { return vector_bytes == 64 ? 0.6 : 1; }
  // The same under a gate: two selects, of the address and of the value, stand before it.
  static constexpr double gated_broadcast = 2.5;
  // Lanes that are every other element: a shuffle of two vectors.
  static constexpr double every_other = 1;
  // A lane that is loaded by itself: a load and a shuffle; and under a gate.
  static constexpr double load_lane = 2, gated_lane = 4;
  // A lane that is stored by itself: a shuffle and a store.
  static constexpr double store_lane = 2;
  // The same where all lanes share a set of the L1 cache: each throws out the line of another
  // before the next row comes to it.
  static constexpr double store_colliding_lane = 32;
  // A vector that is stored to a line and a page that have not been seen for many others: neither
  // the first TLB nor the L1 cache has them, and the line is fetched to be written to.
  static constexpr double store_far_line = 28;
  // An element that is copied to a tile by itself: a load and a store, and where they are.
  static constexpr double copy_element = 3;
  // One that is copied in a square of vectors, which is transposed in registers: three shuffles for
  // each vector of eight, and a load and a store.
  static constexpr double turn_element = 1;
  // A shuffle of two vectors, of which two start in a cycle, by a table that is loaded.
  static constexpr double exchange = 1.5;
  // An exponential or the like: some twenty instructions.  Random words: twenty rounds of four.
  static constexpr double transcendental = 20, threefry = 80;
  // A quotient or a root of a full register: 16 cycles of a unit that takes one at a time.
  double quotient() const { return cycles(16.0 * static_cast<double>(vector_bytes) / 64); }
  // What all lanes multiply, made unsigned for an instruction that wants it so: a loaded vector and
  // one logical operation, on units that else wait for loads.
  static constexpr double shift = 0.5;
  // Lanes whose places, or the gates of them, follow from a division: a quotient, a remainder and
  // comparisons for each axis, of indices of 64 bits, which take two registers.
  static constexpr double divide_lanes = 40;
  // A copy pays from so many uses of the tile on; below, filling it dominates.
  static constexpr std::int64_t least_reuse = 4;
  // The same of what is copied as it lies, because it lies far apart or collides: filling the tile
  // takes as long as a use, and saves the others misses that they hide in part.
  static constexpr std::int64_t least_copy_reuse = 16;
  // The same of rows of which a tile reads a piece of a line at each step.  A step takes as long as
  // the tile has sums, so what it waits for shows the sooner the fewer registers hold them.
  std::int64_t least_row_reuse() const { return registers / 2; }
  // One that is loaded in order, a vector at a time.
  static constexpr double load_element = load / 16;
  // Starting a launch: handing it to threads that look for work, and waiting for the last of them,
  // more than a microsecond.
  static constexpr double launch = 4200;
  // A call of a nest that is compiled for itself: arguments, and a result to wait for.
  static constexpr double call = 100;
  // With all threads at it, a byte of so many that are passed over again and again: on its way from
  // the L2 cache of each thread or its share of the L3 cache, 64 and 16 bytes a cycle, or from
  // memory, which the threads have in common, 4.  Of more than the caches hold a part is found
  // there.
  double cycles_per_byte(double bytes) const {
    const auto shared = static_cast<double>(threads);
    if (bytes <= cache_bytes * shared) return 1.0 / 64 / shared;
    const double held = std::min(1.0, all_caches() / bytes);
    return held / 16 / shared + (1 - held) / 4;
  }
  // What the threads have of the L3 cache: 16 times their L2 cache, or all of a smaller one where
  // they are few; of a larger one other machines on the same processor have their part.
  double all_caches() const {
    constexpr double of_die = 32 << 20;
    return std::max(16 * cache_bytes, std::min(last_cache_bytes, of_die));
  }
  // A line from beyond the L2 cache that the hardware does not foresee: it takes some 200 cycles,
  // and a dozen are under way.
  double far_line() const { return cycles(200.0 / 12); }
  // A write fetches what stood there, and later brings back what was written.
  static constexpr double write_accesses = 2;
  bool fits_caches(double bytes) const { return bytes <= all_caches(); }
  // A byte of memory that is used for the first time: a page of 4 KiB is faulted in and zeroed,
  // some 2000 cycles.
  static constexpr double touch_byte = 0.5;
  // Rows that lie so far apart are not fetched ahead by the hardware, which follows a stream within
  // a page of 4 KiB and needs some of it to see one ...
  static constexpr std::int64_t far_bytes = 512;
  // ... and so many of them at once take all entries of the first TLB.
  static constexpr std::int64_t many_rows = 64;

  // ---- limits of what is tried ----

  // Iterations in a turn of a long reduction from which sums are worth a tile.
  static constexpr std::int64_t shortest_turn = 16;

  // What rows that divide their loop are worth beside some that overlap: blocks and tasks divide
  // it, too.
  static constexpr double overlap = 1.05;
  // Lanes doing nothing beyond this part cost more than a narrower vector or another loop.
  static constexpr double least_used = 0.6;
  // What is taken for the part of the lanes that does work where the size is known at launch only.
  static constexpr double used_if_open = 0.6;
  // Multiply-adds in the body of the innermost loop: what the cache of decoded instructions holds
  // with their loads.
  static constexpr std::int64_t most_unrolled = 160;
  // The same where they are several turns of a loop that is long enough without: what counting and
  // addresses take is a few percent of so many.
  static constexpr std::int64_t most_in_turn = 96;
  // The same of code that is gone through once for all that is nearby: it comes from the L1 cache,
  // decoded anew, which keeps up with multiply-adds that each load a vector.
  static constexpr std::int64_t most_straight = 512;
  // Element visits below which a kernel is done before a tile is set up.
  static constexpr std::int64_t least_work = 1 << 13;
  // Lanes below which a vector is not worth its making.
  static constexpr std::int64_t least_lanes = 4;
  // Columns and rows of a register tile: more never fit in 32 registers.
  static constexpr std::int64_t most_columns = 4, most_rows = 14;
  // The same where the reduction has the lanes, and both operands are vectors.
  static constexpr std::int64_t most_outputs = 8;
  // A reduction no longer than this is unrolled inside of a tile: a window of a convolution.
  static constexpr std::int64_t longest_window = 7;
  // Row tiles and column tiles from which blocks of them are worth a loop of their own.
  static constexpr std::int64_t least_blocked_rows = 4, least_blocked_columns = 8;
  // Rows that make up for a panel of columns that is filled for them.
  static constexpr std::int64_t least_panel_rows = 128;
  // The same where each thread fills the panels of all columns by itself, which lie side by side.
  static constexpr std::int64_t least_fed_rows = 64;
  // What the threads may do more than their share where tiles are not cut for it.
  static constexpr double most_uneven = 1.05;
  double unevenness(double tasks) const {
    const auto shared = static_cast<double>(threads);
    return std::ceil(tasks / shared) * shared / tasks;
  }
  // Blocks left to each thread, so that a slow one is made up for.
  static constexpr std::int64_t blocks_per_thread = 2;
  std::int64_t wanted_blocks() const { return threads == 1 ? 1 : blocks_per_thread * threads; }
  // The same of tasks, which have nothing to load again.
  static constexpr std::int64_t tasks_per_thread = 8;
  // Handing out so many costs nothing that shows.
  static constexpr std::int64_t most_tasks_per_thread = 64;

  // Registers that hold what is computed on the way to an operand.
  static constexpr std::int64_t most_temporaries = 2;

  // Accumulators that leave room for a row of loaded columns and for two scalars.
  bool fits_registers(std::int64_t rows, std::int64_t columns, std::int64_t temporaries = 0) const {
    return rows * columns + columns + 2 + temporaries <= registers;
  }
  // The same of tiles: a row of them is loaded, and one of the rows' operand at a time.
  static bool fits_tile_registers(std::int64_t rows, std::int64_t columns) {
    return rows * columns + columns + 1 <= tile_registers;
  }
  // Of one multiply-add on `lanes` of the `full` lanes of a register.
  double multiply_add(std::int64_t lanes, std::int64_t full) const {
    if (lanes == full || passes < 2) return 1;
    return lanes * 2 == full ? half_register : quarter_register;
  }
};

}  // namespace croze
