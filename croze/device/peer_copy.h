// peer_copy.h -- copies from the memory of one device to that of another.
#pragma once

#include "croze/device/device.h"

namespace croze {

// Work for a device: what is given to the stream comes after all that it was given before.
struct DeviceWork {
  Device& device;
  DeviceStream& stream;
};

// Copies a view to one of the same size on another device, after what both streams were given
// before, and returns when it is done.  Directly where the host sees the memory of both or the
// target reads from the source, in one copy where the host sees that of one, else through memory of
// the host.
void copy_between(const DeviceWork& target, MemoryView to, const DeviceWork& source,
                  MemoryView from);

}  // namespace croze
