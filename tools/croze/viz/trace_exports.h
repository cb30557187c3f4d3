// trace_exports.h -- --chrome and --folded: traces written for other tools.
#pragma once

#include <croze/trace/trace.h>

#include <string>

#include "command_line/command.h"

namespace croze::tool {

struct TraceExports {
  std::string chrome, folded;

  void add_to(const Command& command);
  bool any() const { return !chrome.empty() || !folded.empty(); }
  // Writes what was asked for, and prints the names of the files to standard error.
  void write(const traces::Trace& trace) const;
};

}  // namespace croze::tool
