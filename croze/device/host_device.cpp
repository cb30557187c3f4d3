// host_device.cpp -- memory of the process, aligned as the device wants it.
#include "croze/device/host_device.h"

#include "croze/base/error.h"

namespace croze {

Memory HostDevice::allocate(std::int64_t bytes) {
  if (const std::optional<Memory> freed = freed_.take(bytes)) return *freed;
  try {
    return allocate_host(bytes, caps().alignment, name());
  } catch (const Error&) {  // what is kept may be what is lacking
    freed_.clear();
    return allocate_host(bytes, caps().alignment, name());
  }
}

}  // namespace croze
