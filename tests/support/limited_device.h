// limited_device.h -- a device that claims less than it can: what it lacks has to be decomposed.
#pragma once

#include <utility>

#include "support/forwarding_device.h"

namespace croze::test {

class LimitedDevice final : public ForwardingDevice {
 public:
  LimitedDevice(Device& device, std::string name, Caps caps)
      : ForwardingDevice(device), name_(std::move(name)), caps_(std::move(caps)) {
    caps_.device = name_;
  }

  std::string_view name() const override { return name_; }
  const Caps& caps() const override { return caps_; }

 private:
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
    caps.ops &= ~set_of({op});
  }
  return caps;
}

}  // namespace croze::test
