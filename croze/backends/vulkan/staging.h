// staging.h -- copies between the host and memory of the device.
//
// Where the host sees the memory, it copies the bytes itself.  Elsewhere they go through a piece of
// memory that both see.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>

#include "croze/backends/vulkan/work.h"
#include "croze/device/device.h"

namespace croze::vulkan {

// Any number of threads.
class Staging {
 public:
  Staging(MemoryChunks& memory, Work& work) : memory_(memory), work_(work) {}
  // No work is under way.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Return when all is copied, which is begun after the work of that number.
  void copy_in(const MemoryView& to, std::span<const std::byte> from, std::uint64_t after);
  void copy_out(std::span<std::byte> to, const MemoryView& from, std::uint64_t after);

 private:
  static constexpr std::size_t piece_bytes = 8 << 20;

  void prepare();

  MemoryChunks& memory_;
  Work& work_;
  std::mutex mutex_;
  Chunk piece_;
};

}  // namespace croze::vulkan
