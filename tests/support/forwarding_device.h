// forwarding_device.h -- a device that leaves all to another one, for those that change a little.
#pragma once

#include "croze/device/device.h"

namespace croze::test {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& device) : device_(device) {}

  std::string_view name() const override { return device_.name(); }
  std::string description() const override { return device_.description(); }
  const Caps& caps() const override { return device_.caps(); }
  const Renderer& renderer() const override { return device_.renderer(); }

  Memory allocate(std::int64_t bytes) override { return device_.allocate(bytes); }
  void release(Memory memory) noexcept override { device_.release(memory); }
  void copy_in(MemoryView to, std::span<const std::byte> from) override {
    device_.copy_in(to, from);
  }
  void copy_out(std::span<std::byte> to, MemoryView from) override { device_.copy_out(to, from); }
  std::byte* host_address(MemoryView view) override { return device_.host_address(view); }
  std::string compile(const std::string& name, const std::string& source) override {
    return device_.compile(name, source);
  }
  std::unique_ptr<Program> load(const ProgramInfo& info, std::string_view code) override {
    return device_.load(info, code);
  }
  void synchronize() override { device_.synchronize(); }

 private:
  Device& device_;
};

}  // namespace croze::test
