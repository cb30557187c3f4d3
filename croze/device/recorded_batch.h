// recorded_batch.h -- launches and copies that are described once and enqueued any number of times.
#pragma once

#include <cstddef>
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

  void run(DeviceStream& stream) const;

 private:
  std::vector<std::function<void(DeviceStream&)>> commands_;
};

}  // namespace croze
