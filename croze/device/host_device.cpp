// host_device.cpp -- memory of the process, aligned as the device wants it.
#include "croze/device/host_device.h"

namespace croze {

Memory HostDevice::allocate(std::int64_t bytes) {
  return allocate_host(bytes, caps().alignment, name());
}

}  // namespace croze
