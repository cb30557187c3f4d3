// binding.cpp -- pieces that grow together until none overlaps another.
#include "croze/render/wgsl/binding.h"

#include <algorithm>
#include <cstddef>

namespace croze::wgsl {
namespace {

bool overlap(const Piece& a, const Piece& b) {
  return a.memory == b.memory && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

Piece joined(const Piece& a, const Piece& b) {
  const std::uint64_t start = std::min(a.offset, b.offset);
  return {a.memory, start, std::max(a.offset + a.bytes, b.offset + b.bytes) - start};
}

// What must be bound so that the buffer is.
Piece aligned(const Piece& buffer, std::uint64_t alignment) {
  if (buffer.bytes == 0) return {buffer.memory, 0, 4};
  const std::uint64_t start = buffer.offset / alignment * alignment;
  return {buffer.memory, start, (buffer.offset + buffer.bytes + 3) / 4 * 4 - start};
}

std::vector<Piece> gathered(std::span<const Piece> wanted) {
  std::vector<Piece> pieces;
  for (Piece piece : wanted) {
    for (std::size_t i = 0; i < pieces.size();) {
      if (!overlap(pieces[i], piece)) {
        i++;
        continue;
      }
      piece = joined(pieces[i], piece);
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace

Binding bind_slots(std::span<const Slot> slots, std::span<const Piece> buffers,
                   std::uint64_t alignment) {
  std::vector<Piece> wanted;
  for (const Slot& slot : slots) {
    wanted.push_back(aligned(buffers[static_cast<std::size_t>(slot.number)], alignment));
  }
  const std::vector<Piece> pieces = gathered(wanted);
  // Numbered in the order of their first slot.
  Binding result;
  result.offsets.resize(buffers.size());
  for (std::size_t i = 0; i < slots.size(); i++) {
    const Piece& piece =
        *std::ranges::find_if(pieces, [&](const Piece& p) { return overlap(p, wanted[i]); });
    const auto known = std::ranges::find(result.pieces, piece);
    result.memory_of.push_back(static_cast<int>(known - result.pieces.begin()));
    if (known == result.pieces.end()) result.pieces.push_back(piece);
    const auto slot = static_cast<std::size_t>(slots[i].number);
    if (buffers[slot].bytes == 0) continue;
    result.offsets[slot] = static_cast<std::int64_t>(buffers[slot].offset - piece.offset);
  }
  return result;
}

}  // namespace croze::wgsl
