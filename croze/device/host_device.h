// host_device.h -- what devices that compute in the memory of the process have in common.
#pragma once

#include "croze/base/options.h"
#include "croze/device/device.h"
#include "croze/device/host_memory.h"
#include "croze/device/memory_pool.h"

namespace croze {

// Memory is that of the process, and a launch is done when it returns.  A program is code of the
// process; what is a device's own is freed memory and the threads that run its launches.
class HostDevice : public Device {
 public:
  HostDevice(std::string_view kind, int ordinal) : name_(device_label(kind, ordinal)) {}

  std::string_view name() const override { return name_; }
  bool runs_programs_of_kin() const override { return true; }

  Memory allocate(std::int64_t bytes) override;
  void release(Memory memory) noexcept override { freed_.put(memory); }
  void discard(Memory memory) noexcept override { release_host(memory); }
  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    copy_to_host_memory(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override {
    copy_from_host_memory(to, from);
  }
  std::byte* host_address(MemoryView view) override { return host_bytes(view); }
  void synchronize() override {}

 private:
  std::string name_;
  MemoryPool freed_{Options::integer(Option::KeptMemory) << 20};
};

}  // namespace croze
