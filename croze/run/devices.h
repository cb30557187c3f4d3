// devices.h -- the explicit table of devices.  The only place above the back ends that names them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "croze/device/device.h"
#include "croze/device/target.h"

namespace croze {

struct DeviceEntry {
  std::string name;         // "CPU", "C", "OPENCL", "OPENCL:1", "INTERP", "NULL"
  bool available = false;   // opened now if it was not yet
  std::string description;  // or why it is not available
  int last_ordinal = 0;     // CPU:1 to CPU:15 are devices like this one, of the same machine
};

// Every device this build knows, in order of preference.  Opens all that are listed.
std::vector<DeviceEntry> list_devices();

// Index of a device by name (any case): a kind, or a kind and an ordinal, "CPU:1".  The one without
// an ordinal is the first, so "CPU" and "CPU:0" are the same.  Devices of different ordinals have
// memory and threads of their own; those of CPU, C, INTERP and NULL are made of the same machine,
// those of OPENCL are what was found, in the order of the platforms.  Throws Error, listing what
// there is, for a kind that croze does not know, and for what is no ordinal of a device.  Opens
// nothing.
int device_index(std::string_view name);
// The index of the one whose programs are functions of this process over its own memory
// (Program::host_function).
int host_device();
// "CPU", "CPU:1": by which device_index() finds it.
std::string_view device_name(int index);

// The device, opened on first use.  Throws Error if the machine lacks it.  Thread-safe.
Device& device(int index);

// Has the table know a kind of device that croze does not bring, such as an interpreter for tests:
// as many of it as anybody wants, the last in order of preference.  One kind, once, while no other
// thread uses devices.
void add_device_kind(std::string_view kind, std::unique_ptr<Device> (*make)(int ordinal));

// Whether the machine has other devices of the kind.
bool has_siblings(int index);

// An INTERP that stands in no table and has the compiler believe in these capabilities: what is
// compiled for other hardware runs here, and every access of it is checked.
std::unique_ptr<Device> make_interpreter(const Caps& caps);

// The processors that kernels can be compiled for whether or not there is such a device.
std::vector<Target> list_targets();
// The one of that name, "sm_90a".  Throws Error, listing what there is, if there is none.
Target target_named(std::string_view name);

// The device of new tensors: CROZE_DEVICE, else CPU.
int default_device();

}  // namespace croze
