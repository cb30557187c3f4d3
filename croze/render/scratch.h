// scratch.h -- where the Locals of a program's threads lie in their scratch memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "croze/render/program.h"

namespace croze {

// Of one Local of an item that shares its group with others, or that lies in memory of its own.
inline constexpr std::int64_t most_private_bytes = 16 << 10;

struct ScratchLayout {
  std::vector<std::pair<UOp, std::int64_t>> offsets;  // in bytes, multiples of 64
  std::int64_t bytes = 0;                             // of all together

  std::int64_t offset_of(UOp local) const;
};

// Locals of Space::Thread one after another, in the order of the list.
ScratchLayout scratch_layout(const LinearProgram& program);

}  // namespace croze
