// memory_pool.cpp -- best fit among a few blocks.
#include "croze/device/memory_pool.h"

#include <new>

#include "croze/device/host_memory.h"

namespace croze {
namespace {

// Smaller ones malloc keeps itself.
constexpr std::int64_t least_kept = 64 << 10;

// How much larger memory may be than what is asked for.
constexpr std::int64_t largest_for(std::int64_t bytes) { return bytes + bytes / 8; }

}  // namespace

MemoryPool::~MemoryPool() { clear(); }

std::optional<Memory> MemoryPool::take(std::int64_t bytes) {
  if (bytes < least_kept) return {};
  std::lock_guard lock(mutex_);
  auto best = kept_.end();
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->bytes < bytes || it->bytes > largest_for(bytes)) continue;
    if (best == kept_.end() || it->bytes <= best->bytes) best = it;
  }
  if (best == kept_.end()) return {};
  const Memory memory{.handle = best->handle, .bytes = bytes};
  kept_bytes_ -= best->bytes;
  kept_.erase(best);
  return memory;
}

void MemoryPool::put(Memory memory) noexcept {
  memory.bytes = host_capacity(memory);
  if (memory.bytes < least_kept || memory.bytes > most_bytes_) return release_host(memory);
  std::list<Memory> released;
  try {
    std::list<Memory> added{memory};
    std::lock_guard lock(mutex_);
    while (kept_bytes_ + memory.bytes > most_bytes_) {
      kept_bytes_ -= kept_.front().bytes;
      released.splice(released.end(), kept_, kept_.begin());
    }
    kept_.splice(kept_.end(), added);
    kept_bytes_ += memory.bytes;
  } catch (const std::bad_alloc&) {  // no memory to remember it by
    release_host(memory);
  }
  for (const Memory& m : released) release_host(m);
}

void MemoryPool::clear() noexcept {
  std::list<Memory> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(kept_);
    kept_bytes_ = 0;
  }
  for (const Memory& m : all) release_host(m);
}

}  // namespace croze
