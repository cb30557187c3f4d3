// null_device.h -- NULL: the device that runs nothing.  It compiles to C source, hands out memory
// that is not there and counts launches: for measuring everything that is not running.
#pragma once

#include <cstdint>
#include <memory>

#include "croze/device/device.h"

namespace croze {

class NullDevice : public Device {
 public:
  // How many launches there have been, of all programs.
  virtual std::int64_t launches() const = 0;
};

std::unique_ptr<NullDevice> make_null_device(int ordinal = 0);

}  // namespace croze
