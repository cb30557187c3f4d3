// devices.cpp -- croze devices: what this machine can compute on.
#include <croze/base/options.h>
#include <croze/device/caps.h>
#include <croze/run/buffers.h>
#include <croze/run/devices.h>
#include <croze/run/statistics.h>
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "command_line/json.h"
#include "commands.h"
#include "machine.h"

namespace croze::tool {
namespace {

// One line on the capabilities.
std::string summary_of(const Caps& caps) {
  std::string dtypes;
  for (int i = 0; i < num_dtypes; i++) {
    const auto dtype = static_cast<DType>(i);
    if (caps.has_dtype(dtype)) dtypes += fmt::format(" {}", name_of(dtype));
  }
  const std::string parallel =
      caps.has_groups ? fmt::format("groups of up to {} items, {} KiB of group memory",
                                    caps.max_items, caps.group_memory >> 10)
                      : fmt::format("{} thread{}", caps.threads, caps.threads == 1 ? "" : "s");
  return fmt::format("{}, vectors of {} bytes; computes in{}", parallel, caps.vector_bytes, dtypes);
}

// What the compiler knows of an available device, and what its memory holds.
std::vector<MachineFact> details_of(int index) {
  std::vector<MachineFact> facts = machine_facts(device(index).caps());
  const MemoryUse use = memory_use(index);
  facts.push_back(
      {"memory",
       fmt::format("{} bytes in {} buffers, {} at most; up to {} MiB of freed memory is kept",
                   use.bytes, use.buffers, use.peak_bytes, Options::integer(Option::KeptMemory))});
  return facts;
}

Json json_of(const DeviceEntry& entry, bool is_default, bool verbose) {
  Json json{{"name", entry.name},
            {"available", entry.available},
            {"default", is_default},
            {"description", entry.description},
            {"last_ordinal", entry.last_ordinal}};
  if (!entry.available) return json;
  const int index = device_index(entry.name);
  const Caps& caps = device(index).caps();
  json["architecture"] = caps.architecture;
  json["threads"] = caps.threads;
  json["vector_bytes"] = caps.vector_bytes;
  json["group_memory"] = caps.group_memory;
  Json dtypes = Json::array();
  for (int i = 0; i < num_dtypes; i++) {
    if (caps.has_dtype(static_cast<DType>(i))) dtypes.push_back(name_of(static_cast<DType>(i)));
  }
  json["dtypes"] = std::move(dtypes);
  if (!verbose) return json;
  Json details = Json::object();
  for (const MachineFact& fact : details_of(index)) details[fact.name] = fact.what;
  json["details"] = std::move(details);
  return json;
}

void print_details(int index) {
  for (const MachineFact& fact : details_of(index)) {
    fmt::print("    {:<32}{}\n", fact.name, fact.what);
  }
}

void print_devices(bool as_json, bool verbose) {
  Json list = Json::array();
  for (const DeviceEntry& entry : list_devices()) {
    const bool is_default = device_index(entry.name) == default_device();
    if (as_json) {
      list.push_back(json_of(entry, is_default, verbose));
      continue;
    }
    fmt::print("{} {:<8} {}{}\n", is_default ? '*' : ' ', entry.name,
               entry.available ? "" : "not available: ", entry.description);
    if (entry.available) {
      fmt::print("           {}\n", summary_of(device(device_index(entry.name)).caps()));
      if (verbose) print_details(device_index(entry.name));
    }
    if (entry.last_ordinal > 0) {
      fmt::print("           {0}:1 to {0}:{1}: the same machine, each with its own memory\n",
                 entry.name, entry.last_ordinal);
    }
  }
  if (as_json) fmt::print("{}\n", list.dump());
}

}  // namespace

void add_devices(const Command& program) {
  const Command command =
      program.subcommand("devices", "List the devices; * marks the default one");
  const auto as_json = std::make_shared<bool>(false);
  command.flag("--json", *as_json, "Print a JSON array");
  const auto verbose = std::make_shared<bool>(false);
  command.flag("-v,--verbose", *verbose, "Print what the compiler knows of each, and its memory");
  command.action([as_json, verbose] { print_devices(*as_json, *verbose); });
}

}  // namespace croze::tool
