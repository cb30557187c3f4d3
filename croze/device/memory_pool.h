// memory_pool.h -- freed memory, kept for who asks next.
//
// Memory that comes fresh from the system is faulted in and zeroed page by page as it is first
// written, which takes longer than most kernels that write it.  A program that computes the same
// thing again and again frees just what it asks for a moment later.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>

#include "croze/device/device.h"

namespace croze {

// Holds at most so many bytes; what was put in first goes first.  Any number of threads.
class MemoryPool {
 public:
  explicit MemoryPool(std::int64_t most_bytes) : most_bytes_(most_bytes) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Memory for `bytes`, if there is some that is not much larger.
  std::optional<Memory> take(std::int64_t bytes);
  // Takes memory of allocate_host() over, and releases what there is no room for.
  void put(Memory memory) noexcept;
  // Releases everything.
  void clear() noexcept;

 private:
  const std::int64_t most_bytes_;
  std::mutex mutex_;
  std::list<Memory> kept_;  // the oldest first; their whole sizes
  std::int64_t kept_bytes_ = 0;
};

}  // namespace croze
