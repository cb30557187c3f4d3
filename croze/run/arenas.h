// arenas.h -- internal to run/: memory for the temporaries of one run.
//
// A run has its arenas to itself from the moment its memory is bound until its last launch has been
// issued; the order of launches on a device guards them from then on.  So as many arenas live as
// there have been runs at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/device/device.h"
#include "croze/schedule/schedule.h"

namespace croze {

// An arena of at least `bytes` on a device, given back at the end of its life.
class RunArena {
 public:
  // Throws Error if there is no memory left.
  RunArena(int device, std::int64_t bytes);
  ~RunArena();
  RunArena(RunArena&& other) noexcept;
  RunArena& operator=(RunArena&&) = delete;

  int device() const { return device_; }
  const Memory& memory() const { return memory_; }
  // What a trace calls it; 0 if nobody traces.
  std::int64_t memory_id() const { return memory_id_; }

 private:
  int device_;
  Memory memory_;
  std::int64_t memory_id_ = 0;
};

// Those of a run, in order; none if nobody traces.
std::vector<std::int64_t> memory_ids(std::span<const RunArena> arenas);

// Where a temporary lies, or what a block of a sequence has to itself; empty if no step uses it.
MemoryView view_of(const ScheduleBuffer& buffer, std::span<const RunArena> arenas);

}  // namespace croze
