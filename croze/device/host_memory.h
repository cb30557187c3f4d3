// host_memory.h -- memory of devices that compute in the memory of the process.
#pragma once

#include "croze/device/device.h"

namespace croze {

// Uninitialised bytes, aligned to `alignment`; what is as large as a huge page begins at one, where
// the system offers them.  Throws Error, naming the device, if there are none
// left or `bytes` is negative.
Memory allocate_host(std::int64_t bytes, std::int64_t alignment, std::string_view device);
void release_host(Memory memory) noexcept;
// The size that memory of allocate_host() was asked for with, whatever the handle says.
std::int64_t host_capacity(Memory memory) noexcept;

// Scratch memory of the calling thread: at least `bytes`, aligned to 64, as the last call left it.
// It lives as long as the thread and grows to the largest size asked for; null if that is 0.
void* thread_scratch(std::int64_t bytes, std::string_view device);

// What a block of a Sequence has to itself, while it is run: scratch memory of the calling thread,
// apart from the other; where it is large, memory that is given back.
class BlockMemory {
 public:
  explicit BlockMemory(std::int64_t bytes);
  ~BlockMemory() { release_host(own_); }
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  std::byte* address() const { return address_; }
  // Whether the thread keeps it: the next block finds what this one has left.
  bool is_kept() const { return own_.handle == nullptr; }

 private:
  Memory own_;
  std::byte* address_;
};

// The first byte of the view.  Throws InternalError if the view leaves its memory.
std::byte* host_bytes(const MemoryView& view);

// What a kernel gets for the view: its first byte.  Of an empty one, memory that may be read: a
// kernel may read a first element whatever its gate says (render/llvm_memory.cpp).
void* kernel_address(const MemoryView& view);

// Device::copy_in and Device::copy_out.
void copy_to_host_memory(const MemoryView& to, std::span<const std::byte> from);
void copy_from_host_memory(std::span<std::byte> to, const MemoryView& from);

}  // namespace croze
