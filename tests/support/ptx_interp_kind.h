// ptx_interp_kind.h -- has the table of devices know PTX_INTERP, in a test program.
#pragma once

#include "croze/backends/ptx_interp/ptx_interp_device.h"
#include "croze/run/devices.h"

namespace croze::test {

inline void know_ptx_interp() {
  static const bool known = [] {
    add_device_kind("PTX_INTERP", make_ptx_interp_device);
    return true;
  }();
  static_cast<void>(known);
}

}  // namespace croze::test
