// fill_items.h -- tiles in group memory, which all items of a group fill.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/codegen/edits/tile_axes.h"

namespace croze {

// The loops that fill the tile, and for each axis its position in terms of them.
struct TileFill {
  std::vector<UOp> loops;
  std::vector<UOp> position;  // per axis
  UOp gate;                   // null: always
  UOp place;                  // of a tile for matrices; null: it follows from the positions
};

// The gate with another condition.
inline UOp and_also(UOp gate, UOp condition) { return gate ? gate & condition : condition; }

// Elements that are left free after each row of a tile in group memory: where items that are
// neighbours fill rows, not columns, one makes their places fall on different banks.
std::int64_t row_gap(const std::vector<TileAxis>& axes, DType dtype, const Caps& caps);

// A part of a position on an axis, as a number is made of digits.
struct Digit {
  std::size_t axis;
  std::int64_t weight, size;
  std::int64_t step;  // in the source
};

// In which order the elements are copied, and how many an item copies at once, at most.
struct FillOrder {
  std::vector<Digit> digits;          // the smallest step last
  std::vector<std::int64_t> weights;  // in the tile, of each; none: it follows from the positions
  std::int64_t most_lanes = 1;
};

// A tile whose rows are as they lie in the source, from which the items of a warp load matrices.
struct MatrixTile {
  FillOrder order;
  std::int64_t elements = 1;
  bool transposed = false;
  UOp thread, lane;  // of the operand
};

// The tile of what is loaded at the place, if a matrix unit takes it and the device loads matrices.
std::optional<MatrixTile> matrix_tile(UOp place, DType dtype, const std::vector<TileAxis>& axes,
                                      const Caps& caps);

// What the threads have of the squares in the tile: each says where a row of one begins.
UOp loaded_matrix(const MatrixTile& tile, UOp contents, const std::vector<TileAxis>& axes);

// The axes by their steps in the source, `along` the one that lies side by side in the tile.
FillOrder order_of_axes(const std::vector<TileAxis>& axes, std::size_t along,
                        std::int64_t most_lanes);

// By whole pixels of what the device may read as an image (image_reads.h); none if it has no
// images, or rows of the source do not begin and end with pixels.
std::optional<FillOrder> order_by_pixels(UOp place, DType dtype, const std::vector<TileAxis>& axes,
                                         const Caps& caps);

// Each of the items of the group copies every items-th element, or vector.  `order`: null if it
// follows from the axes.
TileFill fill_by_items(KernelState& k, std::span<const UOp> items, UOp place, DType dtype,
                       std::vector<TileAxis>& axes, const FillOrder* order);

}  // namespace croze
