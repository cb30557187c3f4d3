// direct_stream.h -- the stream of a device that has no others.
#pragma once

#include <span>

#include "croze/base/error.h"
#include "croze/device/device.h"

namespace croze {

// The functions of the device itself, in the order in which all threads call them.
class DirectStream final : public DeviceStream {
 public:
  explicit DirectStream(Device& device) : device_(device) {}

  void launch(std::span<const Sequence> sequences) override { device_.launch(sequences); }
  void launch_in_order(std::span<const BoundLaunch> launches) override {
    device_.launch_in_order(launches);
  }
  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    device_.copy_in(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override { device_.copy_out(to, from); }
  void copy(MemoryView to, MemoryView from) override;
  std::optional<double> launch_timed(std::span<const Sequence> sequences) override {
    return device_.launch_timed(sequences);
  }
  void finish() override { device_.synchronize(); }

 private:
  Device& device_;
};

// launch() of the stream; its Errors name the kernels, which not all of them do by themselves.
void launch_named(DeviceStream& stream, std::span<const Sequence> sequences);

// Throws the Error on, with the names of the kernels if it has none of them.  While it is handled.
[[noreturn]] void throw_named(const Error& error, std::span<const Sequence> sequences);

}  // namespace croze
