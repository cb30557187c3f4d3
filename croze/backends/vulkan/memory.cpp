// memory.cpp -- best fit among the gaps of all chunks.
#include "croze/backends/vulkan/memory.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"

namespace croze::vulkan {
namespace {

constexpr std::int64_t granularity = 256;  // Caps::alignment
constexpr std::int64_t chunk_bytes = 32 << 20;

std::int64_t rounded(std::int64_t bytes) {
  return std::max(granularity, (bytes + granularity - 1) / granularity * granularity);
}

// Where the host reads and writes device memory as fast as its own, it does so without copies.
constexpr std::uint32_t seen_memory =
    memory_is_local | memory_is_visible | memory_is_coherent | memory_is_cached;

}  // namespace

MemoryChunks::MemoryChunks(Context& context) : context_(context) {
  context_.vk().memory_properties(context_.offer().handle, &properties_);
}

MemoryChunks::~MemoryChunks() {
  for (const auto& chunk : chunks_) destroy(*chunk);
}

Block* MemoryChunks::allocate(std::int64_t bytes) {
  const auto most = static_cast<std::int64_t>(
      std::min<std::uint64_t>(context_.offer().allocation_bytes, INT64_MAX / 2));
  check(bytes >= 0 && bytes <= most, "{}: cannot allocate {} bytes: the device gives {} at once",
        context_.name(), bytes, most);
  const std::int64_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  if (Block* block = cut(size)) return block;
  auto chunk = std::make_unique<Chunk>();
  const bool is_made =
      make_chunk(*chunk, std::max(size, chunk_bytes), memory_is_local, seen_memory) ||
      make_chunk(*chunk, size, memory_is_local, seen_memory);
  if (!is_made) return nullptr;
  chunk->free.emplace(0, chunk->bytes);
  chunks_.push_back(std::move(chunk));
  return cut(size);
}

Block* MemoryChunks::cut(std::int64_t size) {
  Chunk* best = nullptr;
  std::pair<std::int64_t, std::int64_t> gap{0, INT64_MAX};
  for (const auto& chunk : chunks_) {
    for (const auto& [offset, bytes] : chunk->free) {
      if (bytes < size || bytes >= gap.second) continue;
      best = chunk.get();
      gap = {offset, bytes};
    }
  }
  if (!best) return nullptr;
  auto block = std::make_unique<Block>(Block{best, gap.first, size, best->released_at});
  best->free.erase(gap.first);
  if (gap.second > size) best->free.emplace(gap.first + size, gap.second - size);
  return block.release();
}

void MemoryChunks::release(Block* block, std::uint64_t used_until) noexcept {
  const std::unique_ptr<Block> owned(block);
  const std::lock_guard lock(mutex_);
  Chunk& chunk = *block->chunk;
  chunk.released_at = std::max(chunk.released_at, used_until);
  auto gap = chunk.free.emplace(block->offset, block->bytes).first;
  if (const auto next = std::next(gap);
      next != chunk.free.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    chunk.free.erase(next);
  }
  if (gap == chunk.free.begin()) return;
  if (const auto before = std::prev(gap); before->first + before->second == gap->first) {
    before->second += gap->second;
    chunk.free.erase(gap);
  }
}

void MemoryChunks::give_back() noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(chunks_, [&](const std::unique_ptr<Chunk>& chunk) {
    const bool is_unused = chunk->free.size() == 1 && chunk->free.begin()->second == chunk->bytes;
    if (is_unused) destroy(*chunk);
    return is_unused;
  });
}

std::int64_t MemoryChunks::held_bytes() const {
  const std::lock_guard lock(mutex_);
  std::int64_t bytes = 0;
  for (const auto& chunk : chunks_) bytes += chunk->bytes;
  return bytes;
}

// ---- chunks -------------------------------------------------------------------------------------

// Types are listed with the faster ones first.
std::optional<std::uint32_t> MemoryChunks::best_type(std::uint32_t allowed, std::uint32_t wanted,
                                                     std::uint32_t better) const {
  for (const std::uint32_t flags : {wanted | better, wanted}) {
    for (std::uint32_t i = 0; i < properties_.num_types; i++) {
      if (allowed >> i & 1 && (properties_.types[i].flags & flags) == flags) return i;
    }
  }
  return {};
}

// False if there is not so much memory left.
bool MemoryChunks::make_chunk(Chunk& chunk, std::int64_t bytes, std::uint32_t wanted,
                              std::uint32_t better) {
  const Library& vk = context_.vk();
  const LogicalDevice device = context_.device();
  BufferCreateInfo buffer;
  buffer.bytes = static_cast<std::uint64_t>(bytes);
  buffer.usage = usage_copy_source | usage_copy_target | usage_storage | usage_address;
  const auto is_full = [](Status s) {
    return s == Status::OutOfDeviceMemory || s == Status::OutOfHostMemory ||
           s == Status::TooManyObjects;
  };
  const auto succeeds = [&](Status status) {
    if (status == Status::Success) return true;
    destroy(chunk);
    if (!is_full(status)) context_.check(status, "allocating memory");
    return false;
  };
  if (!succeeds(vk.create_buffer(device, &buffer, nullptr, &chunk.buffer))) return false;
  MemoryRequirements required;
  vk.buffer_requirements(device, chunk.buffer, &required);
  const MemoryAllocateFlagsInfo flags;
  MemoryAllocateInfo memory;
  memory.next = &flags;
  memory.bytes = required.bytes;
  const std::optional<std::uint32_t> type = best_type(required.types, wanted, better);
  if (!type) return succeeds(Status::OutOfDeviceMemory);
  memory.memory_type = *type;
  if (!succeeds(vk.allocate_memory(device, &memory, nullptr, &chunk.memory))) return false;
  if (!succeeds(vk.bind_memory(device, chunk.buffer, chunk.memory, 0))) return false;
  const std::uint32_t has = properties_.types[memory.memory_type].flags;
  if ((has & seen_memory) == seen_memory || wanted & memory_is_visible) {
    void* seen = nullptr;
    if (!succeeds(vk.map_memory(device, chunk.memory, 0, whole_size, 0, &seen))) return false;
    chunk.seen = static_cast<std::byte*>(seen);
  }
  BufferDeviceAddressInfo asked;
  asked.buffer = chunk.buffer;
  chunk.address = vk.buffer_address(device, &asked);
  chunk.bytes = bytes;
  return true;
}

Chunk MemoryChunks::make_staging(std::int64_t bytes) {
  Chunk chunk;
  check(make_chunk(chunk, bytes, memory_is_visible | memory_is_coherent, memory_is_cached),
        "{}: no memory left for copies", context_.name());
  return chunk;
}

void MemoryChunks::destroy(Chunk& chunk) noexcept {
  const Library& vk = context_.vk();
  if (chunk.buffer) vk.destroy_buffer(context_.device(), chunk.buffer, nullptr);
  if (chunk.memory) vk.free_memory(context_.device(), chunk.memory, nullptr);  // unmaps it
  chunk.buffer = nullptr;
  chunk.memory = nullptr;
}

}  // namespace croze::vulkan
