// vector_warp_model.h -- what things cost where a warp is a vector of a processor, for choosing
// tiles.
//
// The unit is a cycle of a core.  Arithmetic of a warp is one instruction.  An access is a jump and
// a few instructions for each of its lanes, whether they lie side by side or not, so what is loaded
// has to be used often.  Nothing goes on while something else is waited for: one warp is as good as
// many.  Group memory is memory, and a program with barriers has to be put aside at each of them,
// for which drivers keep all that it computes in memory; so tiles lie in registers alone.  The
// numbers were measured on Mesa's llvmpipe (8 lanes) and on SwiftShader (4), and lie between the
// two.
#pragma once

#include <algorithm>
#include <cstdint>

#include "croze/device/caps.h"

namespace croze {

struct VectorWarpModel {
  explicit VectorWarpModel(const Caps& caps)
      : warp(caps.warp_items),
        units(std::max<std::int64_t>(1, caps.threads)),
        most_items(std::min(caps.max_items, caps.max_group_axis[0])) {}

  std::int64_t warp, units, most_items;

  // Whether the device is one of these: of a memory without banks lanes read one after the other.
  static bool suits(const Caps& caps) { return caps.runs_warps() && caps.group_memory_banks == 1; }

  // ---- of a warp ----

  static constexpr double operation = 1;
  // A turn of a loop: counting, and which lanes go on.
  static constexpr double turn = 10;
  // Of a group, and of each warp of it.
  static constexpr double group_start = 1000, warp_start = 200;

  // ---- of a lane ----

  static constexpr double access = 6;
  // So much longer takes it where each lane touches a line of its own.
  static constexpr double far = 1.5;
  static constexpr std::int64_t line_bytes = 64;

  // Items of a group where nothing says otherwise: beginning a group costs several warps.
  std::int64_t usual_items() const { return std::min(most_items, 32 * warp); }

  // ---- limits of what is tried ----

  // Sums of an item, and copies of a loop: more than registers hold, but to keep sums near costs
  // less than loads do.
  static constexpr std::int64_t most_sums = 128;
  static constexpr std::int64_t most_tiled_loops = 4;
  static constexpr std::int64_t copies_of_loop[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16};
  // Of an inner loop, so that sums are not moved more often than they are added to.
  static constexpr std::int64_t least_turns = 16;
  // Elements that an item makes because they have loads in common, and else.
  static constexpr std::int64_t most_copies = 16, most_parts = 4;
  // That each core is to have before an item gets more than one element.
  static constexpr std::int64_t least_items_of_unit = 2048;
};

}  // namespace croze
