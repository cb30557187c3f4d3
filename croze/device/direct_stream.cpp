// direct_stream.cpp -- copies within a device; the names of what failed.
#include "croze/device/direct_stream.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "croze/base/checked.h"
#include "croze/base/error.h"

namespace croze {

std::unique_ptr<DeviceStream> Device::make_stream() {
  return std::make_unique<DirectStream>(*this);
}

void DirectStream::copy(MemoryView to, MemoryView from) {
  ensure(to.bytes == from.bytes, "copy of {} bytes to {} bytes", from.bytes, to.bytes);
  if (from.bytes == 0) return;
  std::byte* const target = device_.host_address(to);
  const std::byte* const source = device_.host_address(from);
  if (target && source) {
    std::memcpy(target, source, static_cast<std::size_t>(from.bytes));
    return;
  }
  auto host = sized_vector<std::byte>(from.bytes, "a copy within a device");
  device_.copy_out(host, from);
  device_.copy_in(to, host);
}

void throw_named(const Error& error, std::span<const Sequence> sequences) {
  std::string names;
  for (const Sequence& s : sequences) {
    for (const Nest& n : s.nests) {
      const std::string name = "kernel " + n.program->info().name;
      if (error.message().find(name) != std::string::npos) throw;
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  throw Error(fmt::format("{}: {}", names, error.message()), error.details());
}

void launch_named(DeviceStream& stream, std::span<const Sequence> sequences) {
  try {
    stream.launch(sequences);
  } catch (const Error& e) {
    throw_named(e, sequences);
  }
}

void DeviceStream::launch_in_order(std::span<const BoundLaunch> launches) {
  for (const BoundLaunch& l : launches) launch_named(*this, l.sequences);
}

void Device::launch_in_order(std::span<const BoundLaunch> launches) {
  for (const BoundLaunch& l : launches) {
    try {
      launch(l.sequences);
    } catch (const Error& e) {
      throw_named(e, l.sequences);
    }
  }
}

}  // namespace croze
