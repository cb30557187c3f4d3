// devices.cpp -- the explicit table of devices: kinds, and of each kind devices by ordinal.
//
// A device is one number everywhere below tensors: its ordinal times the kinds that there are, plus
// the row of its kind.  So those without an ordinal are the rows of the table.
#include "croze/run/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "croze/backends/amd/amd_targets.h"
#include "croze/backends/c/c_device.h"
#include "croze/backends/cpu/cpu_device.h"
#include "croze/backends/cuda/cuda_compiler.h"
#include "croze/backends/cuda/cuda_device.h"
#include "croze/backends/interp/interp_device.h"
#include "croze/backends/metal/metal_target.h"
#include "croze/backends/null/null_device.h"
#include "croze/backends/opencl/opencl_device.h"
#include "croze/backends/vulkan/vulkan_device.h"
#include "croze/backends/webgpu/webgpu_device.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"

namespace croze {
namespace {

struct Row {
  std::string_view kind;
  std::unique_ptr<Device> (*make)(int ordinal);  // null if the machine lacks it
  int (*count)();                                // how many devices of the kind the machine has
  std::string_view missing;
};

constexpr int most_devices_of_kind = 16;
// Of kinds that are the machine itself there are as many as anybody wants.
int any_number() { return most_devices_of_kind; }
int one() { return 1; }

// The order is that of preference.
constexpr std::array<Row, 8> table = {{
    {"CPU", make_cpu_device, any_number, "LLVM was not found at build or run time"},
    {"OPENCL", make_opencl_device, count_opencl_devices, "no OpenCL platform with a compiler"},
    {"C", make_c_device, any_number, "no C compiler on the PATH"},
    {"INTERP", [](int ordinal) { return make_interp_device(ordinal); }, any_number, ""},
    {"NULL", [](int ordinal) -> std::unique_ptr<Device> { return make_null_device(ordinal); },
     any_number, ""},
    {"WEBGPU", [](int) { return make_webgpu_device(); }, one,
     "no library with webgpu.h's functions (CROZE_WEBGPU_LIBRARY names one), or it has no adapter"},
    {"CUDA", make_cuda_device, count_cuda_devices,
     "no driver of CUDA (libcuda.so.1) with a device"},
    {"VULKAN", make_vulkan_device, count_vulkan_devices,
     "no driver of Vulkan 1.2 with a device for kernels (CROZE_VULKAN_LIBRARY names its loader)"},
}};
constexpr int kinds = table.size() + 1;

// The last kind: one that the program has brought along, if it has (add_device_kind).
struct BroughtKind {
  std::string kind;
  std::vector<std::string> names;  // of its devices, by ordinal
  Row row{};
};
// Process-wide: named in docs/architecture.md as global state.  Never destroyed, as the devices.
BroughtKind& brought() {
  static auto& kind = *new BroughtKind;
  return kind;
}

int count_of(const Row& row) { return std::min(row.count(), most_devices_of_kind); }
const Row& row_of(int index) {
  const auto kind = static_cast<std::size_t>(index % kinds);
  return kind < table.size() ? table[kind] : brought().row;
}
// The rows that there are.
int num_kinds() { return brought().kind.empty() ? kinds - 1 : kinds; }
int ordinal_of(int index) { return index / kinds; }

struct OpenDevice {
  std::once_flag once;
  std::unique_ptr<Device> device;
};
constexpr std::size_t most_devices = std::size_t{kinds} * most_devices_of_kind;
using OpenDevices = std::array<OpenDevice, most_devices>;

// Process-wide: named in docs/architecture.md as global state.  Never closed: at the end of the
// process, other threads may still compute.
OpenDevices& open_devices() {
  static auto& devices = *new OpenDevices;
  return devices;
}

// Before the libraries of drivers end: nothing is compiled any more, and what was launched is done.
void leave_devices() {
  for (const OpenDevice& open : open_devices()) {
    try {
      if (open.device) open.device->synchronize();
    } catch (const std::exception&) {
      // Nobody is left to be told.
    }
  }
}

Device* open(int index) {
  OpenDevice& s = open_devices()[static_cast<std::size_t>(index)];
  std::call_once(s.once, [&] {
    s.device = row_of(index).make(ordinal_of(index));
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

std::optional<int> row_named(std::string_view kind) {
  for (int row = 0; row < num_kinds(); row++) {
    if (row_of(row).kind == kind) return row;
  }
  return {};
}

[[noreturn]] void refuse_kind(std::string_view name) {
  std::string known;
  for (int row = 0; row < num_kinds(); row++) {
    known += known.empty() ? "" : ", ";
    known += row_of(row).kind;
  }
  fail({.devices = {std::string(name)}}, "there is no device '{}'; croze knows {}", name, known);
}

[[noreturn]] void refuse_ordinal(std::string_view name, const Row& row) {
  const int count = count_of(row);
  const std::string there =
      count == 0   ? fmt::format("this machine has none: {}", row.missing)
      : count == 1 ? fmt::format("there is one, {0} or {0}:0", row.kind)
                   : fmt::format("there are {0}:0, which is {0}, to {0}:{1}", row.kind, count - 1);
  fail({.devices = {std::string(name)}}, "there is no device '{}'; {}", name, there);
}

// Of the digits behind the colon.
std::optional<int> parsed_ordinal(std::string_view digits) {
  int ordinal = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0) return {};
  return ordinal;
}

}  // namespace

std::vector<DeviceEntry> list_devices() {
  std::vector<DeviceEntry> result;
  for (int kind = 0; kind < num_kinds(); kind++) {
    const Row& row = row_of(kind);
    const bool is_machine = row.count == any_number;
    const int listed = is_machine ? 1 : std::max(1, count_of(row));
    for (int ordinal = 0; ordinal < listed; ordinal++) {
      const Device* d = open(ordinal * kinds + kind);
      result.push_back({device_label(row.kind, ordinal), d != nullptr,
                        d ? d->description() : std::string(row.missing),
                        d && is_machine ? most_devices_of_kind - 1 : 0});
    }
  }
  return result;
}

int device_index(std::string_view name) {
  const std::string wanted = upper(name);
  const std::size_t colon = std::min(wanted.find(':'), wanted.size());
  const std::optional<int> kind = row_named(std::string_view(wanted).substr(0, colon));
  if (!kind) refuse_kind(name);
  if (colon == wanted.size()) return *kind;
  const Row& row = row_of(*kind);
  const std::optional<int> ordinal = parsed_ordinal(std::string_view(wanted).substr(colon + 1));
  // The first one may be lacking, which is told when it is opened.
  if (!ordinal || (*ordinal > 0 && *ordinal >= count_of(row))) refuse_ordinal(name, row);
  return *ordinal * kinds + *kind;
}

int host_device() { return device_index("CPU"); }

std::string_view device_name(int index) {
  if (index % kinds == kinds - 1) {
    return brought().names[static_cast<std::size_t>(ordinal_of(index))];
  }
  // Never destroyed: at the end of the process, other threads may still use it.
  static const std::vector<std::string>& names = *new std::vector<std::string>([] {
    std::vector<std::string> result;
    for (int i = 0; i < static_cast<int>(most_devices); i++) {
      result.push_back(device_label(row_of(i).kind, ordinal_of(i)));
    }
    return result;
  }());
  return names[static_cast<std::size_t>(index)];
}

Device& device(int index) {
  Device* d = open(index);
  if (!d) {
    fail({.devices = {std::string(device_name(index))}}, "device {} is not available: {}",
         device_name(index), row_of(index).missing);
  }
  return *d;
}

void add_device_kind(std::string_view kind, std::unique_ptr<Device> (*make)(int ordinal)) {
  BroughtKind& added = brought();
  ensure(added.kind.empty() && !row_named(kind), "the device kind {} is one too many", kind);
  for (int ordinal = 0; ordinal < most_devices_of_kind; ordinal++) {
    added.names.push_back(device_label(kind, ordinal));
  }
  added.kind = kind;
  added.row = {added.kind, make, any_number, ""};
}

bool has_siblings(int index) { return count_of(row_of(index)) > 1; }

std::unique_ptr<Device> make_interpreter(const Caps& caps) { return make_interp_device(caps); }

std::vector<Target> list_targets() {
  std::vector<Target> targets = cuda::cuda_targets();
  std::ranges::move(amd::amd_targets(), std::back_inserter(targets));
  targets.push_back(metal::metal_target());
  return targets;
}

Target target_named(std::string_view name) {
  std::string known;
  for (Target& target : list_targets()) {
    if (target.name == name) return std::move(target);
    known += (known.empty() ? "" : ", ") + target.name;
  }
  fail({}, "croze does not compile for '{}'; it does for {}", name, known);
}

int default_device() {
  const std::string name = Options::text(Option::Device);
  return name.empty() ? 0 : device_index(name);
}

}  // namespace croze
