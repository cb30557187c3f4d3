// Chunks of the arena: taken from the system in blocks, given back all at once.
#include "croze/base/arena.h"

#include <algorithm>
#include <new>

namespace croze {
namespace {

// The owner pointer, padded so that the first object may have any alignment up to this.
constexpr int64_t header_bytes = 64;

// Blocks double up to this many chunks: a small arena stays small and a large one asks rarely.
constexpr int64_t max_block_chunks = 16;

constexpr std::align_val_t chunk_alignment{Arena::chunk_bytes};

}  // namespace

void Arena::clear() noexcept {
  for (std::byte* block : blocks_) ::operator delete(block, chunk_alignment);
  blocks_.clear();
  next_ = end_ = 0;
  spare_ = spare_end_ = nullptr;
  block_chunks_ = 1;
  bytes_used_ = bytes_reserved_ = 0;
}

std::byte* Arena::add_block(int64_t bytes) {
  blocks_.push_back(nullptr);  // may throw, so before there is something to lose
  blocks_.back() =
      static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), chunk_alignment));
  bytes_reserved_ += bytes;
  return blocks_.back();
}

void Arena::open_chunk(std::byte* chunk) {
  *reinterpret_cast<void**>(chunk) = owner_;
  next_ = reinterpret_cast<uintptr_t>(chunk) + header_bytes;
  end_ = reinterpret_cast<uintptr_t>(chunk) + chunk_bytes;
}

void* Arena::allocate_in_new_chunk(int64_t bytes, int64_t alignment) {
  // A large object gets a block of its own, so that the open chunk is not thrown away for it.
  if (bytes > chunk_bytes / 4) return allocate_oversize(bytes);
  if (spare_ == spare_end_) {
    spare_ = add_block(block_chunks_ * chunk_bytes);
    spare_end_ = spare_ + block_chunks_ * chunk_bytes;
    block_chunks_ = std::min(2 * block_chunks_, max_block_chunks);
  }
  open_chunk(spare_);
  spare_ += chunk_bytes;
  return allocate(bytes, alignment);
}

void* Arena::allocate_oversize(int64_t bytes) {
  std::byte* chunk = add_block(header_bytes + bytes);
  *reinterpret_cast<void**>(chunk) = owner_;
  bytes_used_ += bytes;
  return chunk + header_bytes;
}

}  // namespace croze
