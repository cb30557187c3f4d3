// memory_cache.h -- memory of a device, kept when it is freed: the driver waits for all work before
// it takes memory back, and takes longer to hand it out than most kernels run.
#pragma once

#include <map>
#include <mutex>
#include <unordered_map>

#include "croze/backends/cuda/stream_order.h"
#include "croze/device/device.h"

namespace croze::cuda {

inline Address address_of(const Memory& memory) { return reinterpret_cast<Address>(memory.handle); }

// Any number of threads.
class MemoryCache {
 public:
  MemoryCache(Context& context, StreamOrder& order) : context_(context), order_(order) {}
  // Work that uses the memory is over.
  ~MemoryCache();
  MemoryCache(const MemoryCache&) = delete;
  MemoryCache& operator=(const MemoryCache&) = delete;

  // Throws Error when there is none left, after what was kept has been given back.
  Memory allocate(std::int64_t bytes);
  // Work that was enqueued before may still use it.
  void release(Memory memory) noexcept;
  // Gives back what is kept.
  void clear() noexcept;

  std::int64_t kept_bytes() const;

 private:
  struct Block {
    Address address = 0;
    Fence fence;  // of its last use
  };

  bool take(std::int64_t size, Address& address);
  Address allocate_anew(std::int64_t size);

  Context& context_;
  StreamOrder& order_;
  mutable std::mutex mutex_;
  std::multimap<std::int64_t, Block> kept_;          // by size
  std::unordered_map<Address, std::int64_t> sizes_;  // of what is out
};

}  // namespace croze::cuda
