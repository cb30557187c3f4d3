// stage.h -- the size of a staged tile; stage() itself is in transform.h.
#pragma once

#include <cstdint>
#include <span>

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// Bytes of the tile that stage() would make of `load` over the loops `inner`; 2^48 if it is more.
std::int64_t tile_bytes(UOp load, std::span<const UOp> inner);
// The same of a tile in group memory, with what is left free between its rows.
std::int64_t group_tile_bytes(UOp load, std::span<const UOp> inner, const Caps& caps);

}  // namespace croze
