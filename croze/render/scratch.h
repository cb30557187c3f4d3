// scratch.h -- where the Locals of a program lie in the scratch memory of its threads, and in the
// memory of its groups.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "croze/render/program.h"

namespace croze {

// Of one Local of an item that shares its group with others, or that lies in memory of its own.
inline constexpr std::int64_t most_private_bytes = 16 << 10;

struct ScratchLayout {
  std::vector<std::pair<UOp, std::int64_t>> offsets;  // in bytes, aligned
  std::int64_t bytes = 0;                             // of all together

  std::int64_t offset_of(UOp local) const;
};

// Locals of Space::Thread one after another, in the order of the list, at multiples of 64.
ScratchLayout scratch_layout(const LinearProgram& program);
// Where the memory of a group has to begin, and each of its Locals: at a multiple of 16 bytes, or
// of as many as a matrix unit asks of what it reads by itself.
std::int64_t group_alignment(const LinearProgram& program);
// Those of Space::Group in the memory of a group.
ScratchLayout group_layout(const LinearProgram& program);

// Barriers in the memory of a group for batches of boxes that may be on their way at once: a power
// of two of them, or none if no boxes are copied.
std::int64_t batch_barriers(const LinearProgram& program);
inline constexpr std::int64_t bytes_of_batch_barrier = 8;

}  // namespace croze
