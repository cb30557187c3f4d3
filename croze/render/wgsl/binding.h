// binding.h -- which pieces of memory a launch binds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/render/wgsl/memory_head.h"

namespace croze::wgsl {

// Bytes of one of the memories that the caller tells apart by numbers.
struct Piece {
  std::uint64_t memory = 0;
  std::uint64_t offset = 0, bytes = 0;

  bool operator==(const Piece&) const = default;
};

// The buffers that a kernel touches, gathered in pieces of memory that do not overlap.
struct Binding {
  std::vector<int> memory_of;         // by slot: the piece it lies in, as memory_head() has it
  std::vector<Piece> pieces;          // whole words, which begin at multiples of the alignment
  std::vector<std::int64_t> offsets;  // by buffer: the byte of its piece at which it begins
};

// `buffers` holds what the kernel is given, by number of the buffer.
Binding bind_slots(std::span<const Slot> slots, std::span<const Piece> buffers,
                   std::uint64_t alignment);

}  // namespace croze::wgsl
