// devices.cpp -- the explicit table of devices.
#include "croze/run/devices.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>

#include "croze/backends/c/c_device.h"
#include "croze/backends/cpu/cpu_device.h"
#include "croze/backends/interp/interp_device.h"
#include "croze/backends/null/null_device.h"
#include "croze/backends/opencl/opencl_device.h"
#include "croze/backends/webgpu/webgpu_device.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"

namespace croze {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Device> (*make)();  // null if the machine lacks it
  std::string_view missing;
};

// The order is that of preference, and the index of a device in Buffer nodes.
constexpr std::array<Row, 6> table = {{
    {"CPU", [] { return make_cpu_device(); }, "LLVM was not found at build or run time"},
    {"OPENCL", [] { return make_opencl_device(); }, "no OpenCL platform with a compiler"},
    {"C", [] { return make_c_device(); }, "no C compiler on the PATH"},
    {"INTERP", [] { return make_interp_device(); }, ""},
    {"NULL", []() -> std::unique_ptr<Device> { return make_null_device(); }, ""},
    {"WEBGPU", [] { return make_webgpu_device(); },
     "no library with webgpu.h's functions (CROZE_WEBGPU_LIBRARY names one), or it has no adapter"},
}};

struct OpenDevice {
  std::once_flag once;
  std::unique_ptr<Device> device;
};

// Process-wide: named in docs/architecture.md as global state.  Never closed: at the end of the
// process, other threads may still compute.
OpenDevice& slot(int index) {
  static auto& devices = *new std::array<OpenDevice, table.size()>;
  return devices[static_cast<std::size_t>(index)];
}

// Before the libraries of drivers end: nothing is compiled any more, and what was launched is done.
void leave_devices() {
  for (std::size_t i = 0; i < table.size(); i++) {
    try {
      if (Device* d = slot(static_cast<int>(i)).device.get()) d->synchronize();
    } catch (const std::exception&) {
      // Nobody is left to be told.
    }
  }
}

Device* open(int index) {
  OpenDevice& s = slot(index);
  std::call_once(s.once, [&] {
    s.device = table[static_cast<std::size_t>(index)].make();
    std::atexit(leave_devices);
    if (s.device) log_line(1, "device {}: {}", s.device->name(), s.device->description());
  });
  return s.device.get();
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::toupper(c); });
  return result;
}

}  // namespace

std::vector<DeviceEntry> list_devices() {
  std::vector<DeviceEntry> result;
  for (std::size_t i = 0; i < table.size(); i++) {
    const Device* d = open(static_cast<int>(i));
    result.push_back({std::string(table[i].name), d != nullptr,
                      d ? d->description() : std::string(table[i].missing)});
  }
  return result;
}

int device_index(std::string_view name) {
  const std::string wanted = upper(name);
  std::string known;
  for (std::size_t i = 0; i < table.size(); i++) {
    if (table[i].name == wanted) return static_cast<int>(i);
    known += known.empty() ? "" : ", ";
    known += table[i].name;
  }
  fail({.devices = {wanted}}, "there is no device '{}'; croze knows {}", name, known);
}

std::string_view device_name(int index) { return table[static_cast<std::size_t>(index)].name; }

Device& device(int index) {
  Device* d = open(index);
  if (!d) {
    const Row& row = table[static_cast<std::size_t>(index)];
    fail({.devices = {std::string(row.name)}}, "device {} is not available: {}", row.name,
         row.missing);
  }
  return *d;
}

std::unique_ptr<Device> make_interpreter(const Caps& caps) { return make_interp_device(caps); }

int default_device() {
  const std::string name = Options::text(Option::Device);
  return name.empty() ? 0 : device_index(name);
}

}  // namespace croze
