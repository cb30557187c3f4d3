#include "croze/backends/vulkan/staging.h"

#include <algorithm>
#include <cstring>

namespace croze::vulkan {

Staging::~Staging() { memory_.destroy(piece_); }

void Staging::prepare() {
  if (!piece_.buffer) piece_ = memory_.make_staging(piece_bytes);
}

void Staging::copy_in(const MemoryView& to, std::span<const std::byte> from, std::uint64_t after) {
  if (from.empty()) return;
  const Block& block = block_of(to.memory);
  const std::int64_t begin = block.offset + to.offset;
  if (block.chunk->seen) {
    work_.wait(std::max(after, block.free_after));
    std::memcpy(block.chunk->seen + begin, from.data(), from.size());
    return;
  }
  const std::lock_guard lock(mutex_);
  prepare();
  for (std::size_t at = 0; at < from.size(); at += piece_bytes) {
    const std::size_t size = std::min(piece_bytes, from.size() - at);
    std::memcpy(piece_.seen, from.data() + at, size);
    work_.wait(work_.copy(*block.chunk, begin + static_cast<std::int64_t>(at), piece_, 0,
                          static_cast<std::int64_t>(size)));
  }
}

void Staging::copy_out(std::span<std::byte> to, const MemoryView& from, std::uint64_t after) {
  if (to.empty()) return;
  const Block& block = block_of(from.memory);
  const std::int64_t begin = block.offset + from.offset;
  if (block.chunk->seen) {
    work_.wait(after);
    std::memcpy(to.data(), block.chunk->seen + begin, to.size());
    return;
  }
  const std::lock_guard lock(mutex_);
  prepare();
  for (std::size_t at = 0; at < to.size(); at += piece_bytes) {
    const std::size_t size = std::min(piece_bytes, to.size() - at);
    work_.wait(work_.copy(piece_, 0, *block.chunk, begin + static_cast<std::int64_t>(at),
                          static_cast<std::int64_t>(size)));
    std::memcpy(to.data() + at, piece_.seen, size);
  }
}

}  // namespace croze::vulkan
