// warp_model.h -- what things cost on a device whose items run in warps, for choosing tiles.
//
// The unit is a cycle of one compute unit.  The numbers are those of current GPUs (manuals of the
// vendors, and published measurements of their parts), rounded; only their proportions decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "croze/device/caps.h"
#include "croze/graph/matrix_unit.h"

namespace croze {

struct WarpModel {
  explicit WarpModel(const Caps& caps)
      : warp(caps.warp_items),
        units(std::max<std::int64_t>(1, caps.threads)),
        registers(caps.item_registers),
        unit_registers(caps.unit_registers),
        most_items(caps.max_items),
        group_memory(caps.group_memory),
        near_cache(caps.l1_bytes),
        far_cache(caps.l2_bytes),
        shuffles(caps.shuffles_items),
        most_slots(caps.copies_async ? 4 : 1) {}

  // ---- of the device ----

  std::int64_t warp, units, registers, unit_registers, most_items, group_memory;
  std::int64_t near_cache, far_cache;  // bytes: of a unit, of all of them together
  bool shuffles;
  // That a tile in group memory may have (edits/warps/fill_ahead.h): from then on more only take
  // room.
  std::int64_t most_slots;

  // Whether items of a group may each have so many values in registers.  A unit is to run as many
  // as are usual.
  bool has_room(std::int64_t values, std::int64_t items) const {
    const std::int64_t taken = values + other_registers;
    const std::int64_t of_all = taken * std::max(items, usual_items);
    return taken <= registers && (unit_registers == 0 || of_all <= unit_registers);
  }
  // Groups that are at work on a unit at once.
  std::int64_t resident_groups(std::int64_t items, std::int64_t values, std::int64_t bytes) const {
    std::int64_t groups = resident_items / items;
    if (unit_registers > 0)
      groups = std::min(groups, unit_registers / (items * (values + other_registers)));
    return std::clamp<std::int64_t>(group_memory / std::max<std::int64_t>(1, bytes), 1,
                                    std::max<std::int64_t>(1, groups));
  }

  // ---- arithmetic ----

  // Items whose multiply-adds a unit starts in a cycle.
  static constexpr double multiply_adds = 128;
  // The same of matrix units: the more, the shorter factors are, but twice as many where none of
  // their 32 or 64 bits is left out; and twice as many of those that need no items to read and
  // wait.
  static double unit_multiply_adds(const MatrixUnit& unit) {
    const auto bytes = static_cast<double>(size_of(unit.a));
    if (bytes > 2 && unit.factor_bits == 0) return 2 * multiply_adds;
    return (unit.reads_group_memory && !unit.keeps_sums ? 4096 : 2048) / bytes;
  }
  // Arithmetic and loads overlap, but not wholly: this part of the lesser of the two shows.
  static constexpr double not_hidden = 0.3;
  // The same where a unit goes on behind the items' backs while they copy and meet.
  static constexpr double not_hidden_behind = 0.1;
  // Instructions around those of a step: addresses, counting, the jump.
  static constexpr double around_step = 4;
  // Warps that hide how long each waits for its results.
  static constexpr double hiding_warps = 8;
  // All items of a group meet: what the last one waits for, and finding out.
  static constexpr double meeting = 40;
  // An item has what another one of its warp has: until it is there.
  static constexpr double shuffle = 24;

  // Until all of so many items have what these come to together.  Warps shuffle, meet, read what
  // each warp has written, and shuffle again; else all meet after each step.
  double combining(std::int64_t items) const {
    const double steps = std::log2(static_cast<double>(items));
    if (!shuffles) return steps * meeting;
    return steps * shuffle + (items > warp ? 2 * meeting : 0);
  }

  // A launch behind another one, until its groups are at work.
  static constexpr double launch = 3000;

  // ---- memory ----

  // Bytes that a unit reads from group memory by itself in a cycle.
  static constexpr double group_bytes = 128;
  // A word of each item of a warp, all banks at once, or one word for all of them.
  static constexpr double group_load = 1;
  // Bytes that are fetched where any of them are asked for.
  static constexpr std::int64_t sector_bytes = 32;
  // Bytes of a unit's share of the cache that all units have in common.
  static constexpr double far_bytes = 24;
  // The same of memory behind it.
  static constexpr double memory_bytes = 16;
  // Until an element of memory is there that nobody has asked for before, ...
  static constexpr double far_latency = 600;
  // ... and one that the warps beside have looked at, too.
  static constexpr double near_latency = 50;
  // Loads of an item that are on their way at once: so many turns of a short loop are unrolled.
  static constexpr double loads_in_flight = 4;
  // Instructions by which an element is copied: where from, where to, a load and a store.
  static constexpr double copy_instructions = 6;

  // What is done in each turn of a loop whose turns read from tiles: to compute takes so many
  // cycles, to copy takes `issuing` cycles of the items, and `transfer` until the bytes have come
  // one behind the other.
  struct Turn {
    double computing, issuing, transfer;
    bool goes_on_behind = false;  // a unit computes while items meet and begin copies
  };

  // One of `count` turns, of a group beside others that the unit runs at once: one copies or waits
  // while another computes.  With slots items compute while copies for slots - 1 turns are on their
  // way, without all of a group wait for each.
  static double cycles_of(const Turn& turn, double count, std::int64_t slots, double at_once) {
    const double busy = turn.computing + turn.issuing;
    if (slots == 1) {
      const double alone = std::min(busy, turn.transfer) + far_latency + 2 * meeting;
      return std::max(busy, turn.transfer) + alone / at_once;
    }
    const bool is_behind = turn.goes_on_behind && slots > 2;
    const std::int64_t ahead = is_behind ? slots - 2 : slots - 1;
    const double waiting = far_latency * std::ceil(count / static_cast<double>(ahead)) / count;
    if (is_behind) {
      const double all = turn.computing + turn.issuing + turn.transfer + waiting,
                   most = std::max({turn.computing, turn.issuing, turn.transfer, waiting});
      return most + not_hidden_behind * (all - most);
    }
    const double coming = std::max(turn.transfer, waiting);
    const double alone = not_hidden * std::min(busy, coming) + meeting;
    return std::max(busy, coming) + alone / at_once;
  }

  // ---- limits of what is tried ----

  // Element visits below which a kernel is done before a tile is set up.
  static constexpr std::int64_t least_work = 1 << 13;
  // Items of a unit that are there at once.
  static constexpr std::int64_t resident_items = 2048;
  // Registers that an item takes beside its sums and its operands.
  static constexpr std::int64_t other_registers = 24;
  // Steps of the reduction of which operands lie in group memory at once.
  static constexpr std::int64_t most_steps = 64;
  // Of a loop that is cut among items, below which there is nothing to share.
  static constexpr std::int64_t least_shared = 4;
  // Items of a group where nothing says otherwise.
  static constexpr std::int64_t usual_items = 256;
  // Items that reduce a row together, at most: more wait for each other longer than they read.
  static constexpr std::int64_t most_items_of_row = 4 * usual_items;
  // A group of so few items leaves warps idle.
  std::int64_t least_items() const {
    return std::min(most_items, std::max<std::int64_t>(warp, 64));
  }
};

}  // namespace croze
