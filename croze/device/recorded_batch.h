// recorded_batch.h -- launches and copies that are described once and enqueued any number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "croze/device/device.h"

namespace croze {

// What a queue does in this order when it is submitted (Queue::submit).  The descriptions are
// copied; programs, memory and bytes of the host are used whenever the batch runs.
class RecordedBatch {
 public:
  void launch(std::span<const Sequence> sequences);
  // Host to device, device to host, and within the device.
  void copy_in(MemoryView to, std::span<const std::byte> from);
  void copy_out(std::span<std::byte> to, MemoryView from);
  void copy(MemoryView to, MemoryView from);

  // As one piece of work where the stream can, else by enqueue().
  void run(DeviceStream& stream) const;
  // One command after the other.
  void enqueue(DeviceStream& stream) const;

  // Another number whenever the commands are others.
  std::uint64_t id() const { return id_; }
  std::size_t size() const { return commands_.size(); }
  // Whether bytes of the host are among what it reads or writes.
  bool copies_host_memory() const { return copies_host_memory_; }

 private:
  void add(std::function<void(DeviceStream&)> command);

  std::uint64_t id_ = 0;
  bool copies_host_memory_ = false;
  std::vector<std::function<void(DeviceStream&)>> commands_;
};

}  // namespace croze
