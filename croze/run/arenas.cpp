// arenas.cpp -- arenas that no run has, by device, so that the next need not allocate.
#include "croze/run/arenas.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/run/devices.h"
#include "croze/run/trace/recorder.h"

namespace croze {
namespace {

// Process-wide: named in docs/architecture.md as global state.
struct ArenaPool {
  std::mutex mutex;
  std::unordered_map<int, std::vector<Memory>> idle;  // by device, smallest first
};

ArenaPool& pool() {
  static ArenaPool& instance = *new ArenaPool;  // never destroyed: its memory belongs to devices
  return instance;
}

}  // namespace

RunArena::RunArena(int device_index, std::int64_t bytes)
    : device_(device_index), memory_id_(tracing::arena_taken(device_index, bytes)) {
  Memory too_small;
  {
    const std::lock_guard lock(pool().mutex);
    std::vector<Memory>& idle = pool().idle[device_];
    const auto fits = std::ranges::lower_bound(idle, bytes, {}, &Memory::bytes);
    if (fits != idle.end()) {
      memory_ = *fits;
      idle.erase(fits);
      return;
    }
    // The new one takes the place of the largest, so that their number does not grow.
    if (!idle.empty()) {
      too_small = idle.back();
      idle.pop_back();
    }
  }
  Device& d = croze::device(device_);
  if (too_small.handle) d.discard(too_small);
  memory_ = d.allocate(bytes);
}

RunArena::~RunArena() {
  if (!memory_.handle) return;
  tracing::arena_given_back(memory_id_);
  const std::lock_guard lock(pool().mutex);
  std::vector<Memory>& idle = pool().idle[device_];
  idle.insert(std::ranges::lower_bound(idle, memory_.bytes, {}, &Memory::bytes), memory_);
}

RunArena::RunArena(RunArena&& other) noexcept
    : device_(other.device_),
      memory_(std::exchange(other.memory_, {})),
      memory_id_(std::exchange(other.memory_id_, 0)) {}

std::vector<std::int64_t> memory_ids(std::span<const RunArena> arenas) {
  std::vector<std::int64_t> ids;
  for (const RunArena& a : arenas) {
    if (a.memory_id() != 0) ids.push_back(a.memory_id());
  }
  return ids;
}

MemoryView view_of(const ScheduleBuffer& buffer, std::span<const RunArena> arenas) {
  if (buffer.arena_offset < 0) return {};
  if (buffer.kind == ScheduleBuffer::Kind::Block) {
    return {{}, buffer.arena_offset, buffer.bytes(), true};
  }
  const auto arena = std::ranges::find(arenas, buffer.device, &RunArena::device);
  return {arena->memory(), buffer.arena_offset, buffer.bytes()};
}

}  // namespace croze
