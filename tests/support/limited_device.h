// limited_device.h -- a device that claims less than it can: what it lacks has to be decomposed.
#pragma once

#include <utility>

#include "croze/device/device.h"

namespace croze::test {

class LimitedDevice final : public Device {
 public:
  LimitedDevice(Device& device, std::string name, Caps caps)
      : device_(device), name_(std::move(name)), caps_(std::move(caps)) {
    caps_.device = name_;
  }

  std::string_view name() const override { return name_; }
  std::string description() const override { return device_.description(); }
  const Caps& caps() const override { return caps_; }
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
  std::string name_;
  Caps caps_;
};

// What a small GPU has: 32-bit integers and Float32, no ops but the basic ones, and in memory
// nothing else.
inline Caps without_wide_types(Caps caps) {
  for (DType t :
       {DType::Int64, DType::UInt64, DType::Float8E4M3, DType::Float8E5M2, DType::Float8E4M3FNUZ,
        DType::Float8E5M2FNUZ, DType::Float16, DType::BFloat16, DType::Float64}) {
    caps.dtypes &= ~(std::uint32_t{1} << static_cast<int>(t));
  }
  caps.storage = caps.dtypes;
  for (Op op : {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Pow, Op::IDiv, Op::Mod,
                Op::Threefry}) {
    caps.ops &= ~(std::uint64_t{1} << static_cast<int>(op));
  }
  return caps;
}

}  // namespace croze::test
