// arenas.h -- internal to run/: memory for the temporaries of one run.
//
// A run has its arenas to itself from the moment its memory is bound until its last launch has been
// issued; the order of launches on a device guards them from then on.  So as many arenas live as
// there have been runs at once.
#pragma once

#include <cstdint>

#include "croze/device/device.h"

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

 private:
  int device_;
  Memory memory_;
};

}  // namespace croze
