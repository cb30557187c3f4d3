// memory_cache.cpp -- best fit among what is kept.
#include "croze/backends/cuda/memory_cache.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"

namespace croze::cuda {
namespace {

// Sizes are rounded so that memory of one tensor serves the next of nearly its size.
std::int64_t rounded(std::int64_t bytes) {
  const std::int64_t step = bytes <= (1 << 20) ? 512 : 2 << 20;
  return std::max(step, (bytes + step - 1) / step * step);
}

// How much larger memory may be than what is asked for.
std::int64_t largest_for(std::int64_t size) { return size + size / 8; }

}  // namespace

MemoryCache::~MemoryCache() { clear(); }

Memory MemoryCache::allocate(std::int64_t bytes) {
  check(bytes >= 0 && bytes <= INT64_MAX / 2, "{}: cannot allocate {} bytes", context_.name(),
        bytes);
  context_.enter();
  const std::int64_t size = rounded(bytes);
  Address address = 0;
  if (!take(size, address)) address = allocate_anew(size);
  return {.handle = reinterpret_cast<void*>(address), .bytes = bytes};
}

bool MemoryCache::take(std::int64_t size, Address& address) {
  std::unique_lock lock(mutex_);
  const auto best = kept_.lower_bound(size);
  if (best == kept_.end() || best->first > largest_for(size)) return false;
  Block block = std::move(best->second);
  sizes_.emplace(block.address, best->first);
  kept_.erase(best);
  lock.unlock();
  order_.pass(std::move(block.fence));
  address = block.address;
  return true;
}

Address MemoryCache::allocate_anew(std::int64_t size) {
  const Driver& driver = context_.driver();
  const auto wanted = static_cast<std::size_t>(size);
  Address address = 0;
  Status status = driver.allocate(&address, wanted);
  if (status == Status::OutOfMemory) {
    clear();
    status = driver.allocate(&address, wanted);
  }
  if (status == Status::OutOfMemory) {
    std::size_t free = 0, total = 0;
    driver.memory_info(&free, &total);
    fail({.devices = {context_.name()}}, "{}: cannot allocate {} bytes: of {} bytes {} are free",
         context_.name(), size, total, free);
  }
  context_.check(status, "allocating memory");
  const std::lock_guard lock(mutex_);
  sizes_.emplace(address, size);
  return address;
}

void MemoryCache::release(Memory memory) noexcept {
  if (!memory.handle || !context_.try_enter()) return;  // a lost device has lost its memory
  const Address address = address_of(memory);
  try {
    Fence fence = order_.set_fence();
    const std::lock_guard lock(mutex_);
    const auto known = sizes_.find(address);
    if (known == sizes_.end()) return;
    kept_.emplace(known->second, Block{address, std::move(fence)});
    sizes_.erase(known);
  } catch (...) {
    context_.driver().free(address);  // which waits for all work
  }
}

void MemoryCache::clear() noexcept {
  std::multimap<std::int64_t, Block> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(kept_);
  }
  if (!context_.try_enter()) return;
  for (const auto& [size, block] : all) {
    for (EventHandle event : block.fence) context_.driver().destroy_event(event);
    context_.driver().free(block.address);
  }
}

std::int64_t MemoryCache::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  std::int64_t bytes = 0;
  for (const auto& [size, block] : kept_) bytes += size;
  return bytes;
}

}  // namespace croze::cuda
