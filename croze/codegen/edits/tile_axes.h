// tile_axes.h -- the axes of a tile: sums of the ranges over which it extends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

// Phases of an axis at most (tile_axes.cpp).
inline constexpr std::int64_t every_other = 2;

// One of the ranges that form an axis.
struct AxisMember {
  UOp range;
  std::int64_t factor;     // in the group's sum
  std::size_t loop_order;  // position in `inner`
};

// An axis of a tile.
struct TileAxis {
  std::vector<AxisMember> members;  // the first has factor 1
  std::int64_t memory_stride = 0;   // elements of the source per step; 0: not affine
  std::int64_t size = 1;            // places of the tile
  std::int64_t phases = 1;          // position p is element p / phases of phase p % phases
  bool divides = false;             // where it is in the source, or whether it is, takes divisions
  std::size_t loop_order = 0;       // of its innermost member

  // The only member, if it is an open loop: its trip count may be less than the places.
  UOp open_loop() const { return members[0].range.is_open() ? members[0].range : UOp(); }
  // A number that divides how many places are filled.
  std::int64_t divisor() const { return open_loop() ? open_loop().trip_divisor() : size; }
  std::int64_t size_of_phase() const { return (size + phases - 1) / phases; }
};

// The sum that the members of an axis form.
UOp sum_of(const TileAxis& axis);

// Where the tile holds what stands at a position of the axis, whose size is a multiple of its
// phases.
UOp place_in_tile(const TileAxis& axis, UOp position);

// The axes of the tile for the ranges of `inner` that the place varies over.
std::vector<TileAxis> tile_axes(UOp place, std::span<const UOp> inner);

// u with one node in place of another.
UOp substituted(UOp u, UOp from, UOp to);

// The gate of a place; null if there is none.
inline UOp gate_of(UOp place) { return place.num_src() > 2 ? place.src(2) : UOp(); }

}  // namespace croze
