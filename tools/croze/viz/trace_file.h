// trace_file.h -- the trace that a user names: a file, or the program that is to write it.
#pragma once

#include <croze/run/trace/trace.h>
#include <croze/trace/trace.h>
#include <croze/viz/summary.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "command_line/command.h"

namespace croze::tool {

// Whether the file begins as a trace does.
bool is_trace(const std::string& path);

// Whether it is a program that can be run.
bool is_program(const std::string& path);

// What the device CPU could do, measured now: about a tenth of a second.
Roof roof_of_processor();

// A trace as it is shown.  If it was written on a machine like this one, what the processor can do
// is measured and added to it.
class TraceFile {
 public:
  // Throws Error if it is no trace.
  explicit TraceFile(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }
  const traces::Trace& trace() const { return trace_; }

 private:
  std::string bytes_;
  traces::Trace trace_;
};

// Runs the program, which writes to the terminal as it does without, and returns the trace of it.
// Throws Error if it cannot be run or writes none; warns if it fails.
TraceFile trace_of_program(const std::vector<std::string>& line, const TraceOptions& options);

// --samples, of what is traced by a command.
void add_samples_flag(const Command& command, TraceOptions& options);

// What is named: a trace, or a program with its arguments.
TraceFile trace_of(const std::vector<std::string>& line, const TraceOptions& options);

}  // namespace croze::tool
