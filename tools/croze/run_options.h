// run_options.h -- what every command that runs a model takes: a device, and a bound on memory.
#pragma once

#include <croze/base/options.h>

#include <cstdint>
#include <string>

#include "command_line/command.h"

namespace croze::tool {

struct RunOptions {
  std::string device;             // "": as the environment says
  std::int64_t memory_limit = 0;  // MiB; 0: as the environment says

  // Declares --device and --memory-limit, which write here.
  void add_to(const Command& command);
  // They hold while it lives.
  Options::Scope scope() const;
};

}  // namespace croze::tool
