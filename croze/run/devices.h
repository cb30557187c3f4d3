// devices.h -- the explicit table of devices.  The only place above the back ends that names them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/device/device.h"

namespace croze {

struct DeviceEntry {
  std::string name;         // "CPU", "C", "OPENCL", "INTERP", "NULL"
  bool available = false;   // opened now if it was not yet
  std::string description;  // or why it is not available
};

// Every device this build knows, in order of preference.  Opens all of them.
std::vector<DeviceEntry> list_devices();

// Index of a device by name (any case).  Throws Error listing the known names.  Opens nothing.
int device_index(std::string_view name);
std::string_view device_name(int index);

// The device, opened on first use.  Throws Error if the machine lacks it.  Thread-safe.
Device& device(int index);

// An INTERP that stands in no table and has the compiler believe in these capabilities: what is
// compiled for other hardware runs here, and every access of it is checked.
std::unique_ptr<Device> make_interpreter(const Caps& caps);

// The device of new tensors: CROZE_DEVICE, else CPU.
int default_device();

}  // namespace croze
