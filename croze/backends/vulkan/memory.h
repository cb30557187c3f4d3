// memory.h -- memory of a device: pieces of chunks that the driver has given.
//
// Drivers give memory slowly, and only a few thousand times.  So it is asked for in chunks of many
// megabytes, from which what is allocated is cut, and to which it returns.  A chunk is one buffer,
// so that copies within and between chunks are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "croze/backends/vulkan/context.h"
#include "croze/device/device.h"

namespace croze::vulkan {

// A buffer with memory of its own.
struct Chunk {
  Buffer buffer = nullptr;
  MemoryHandle memory = nullptr;
  Address address = 0;
  std::byte* seen = nullptr;  // as the host sees it, if it does
  std::int64_t bytes = 0;
  std::map<std::int64_t, std::int64_t> free;  // sizes by offset; neighbours are joined
  std::uint64_t released_at = 0;              // see Block
};

// What Memory::handle points to.
struct Block {
  Chunk* chunk = nullptr;
  std::int64_t offset = 0, bytes = 0;
  // Work up to this number of the queue's may use the memory on behalf of who had it before.  Work
  // that is given to the queue comes after that by itself; the host has to wait.
  std::uint64_t free_after = 0;

  Address address() const { return chunk->address + static_cast<Address>(offset); }
};

inline Block& block_of(const Memory& memory) { return *static_cast<Block*>(memory.handle); }

// Any number of threads.
class MemoryChunks {
 public:
  explicit MemoryChunks(Context& context);
  // Work that uses the memory is over.
  ~MemoryChunks();
  MemoryChunks(const MemoryChunks&) = delete;
  MemoryChunks& operator=(const MemoryChunks&) = delete;

  // Null if there is no memory left.  Throws Error where there never was so much.
  Block* allocate(std::int64_t bytes);
  // Work up to this number may still use it.
  void release(Block* block, std::uint64_t used_until) noexcept;
  // Gives chunks that nobody uses back to the driver.  No work is under way.
  void give_back() noexcept;

  // Memory that the host sees and the device copies from and to.
  Chunk make_staging(std::int64_t bytes);
  void destroy(Chunk& chunk) noexcept;

  std::int64_t held_bytes() const;

 private:
  bool make_chunk(Chunk& chunk, std::int64_t bytes, std::uint32_t wanted, std::uint32_t better);
  std::optional<std::uint32_t> best_type(std::uint32_t allowed, std::uint32_t wanted,
                                         std::uint32_t better) const;
  Block* cut(std::int64_t size);

  Context& context_;
  MemoryProperties properties_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace croze::vulkan
