// stage.h -- the size of a staged tile; stage() itself is in transform.h.
#pragma once

#include <cstdint>
#include <span>

#include "croze/graph/uop.h"

namespace croze {

// Bytes of the tile that stage() would make of `load` over the loops `inner`; 2^48 if it is more.
std::int64_t tile_bytes(UOp load, std::span<const UOp> inner);

}  // namespace croze
