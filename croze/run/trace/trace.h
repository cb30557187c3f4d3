// trace.h -- what a program does, written to a file for `croze viz`.
//
//     {
//       const croze::Trace tracing = croze::trace("step.trace");
//       step(images, labels);
//     }
//
// CROZE_TRACE=file traces a whole program.  Traced are launches, compiles, and the memory of
// tensors; a launch costs a fraction of a microsecond more, and devices that launch without waiting
// are waited for after each, so that its time is its own.  trace/records.h describes the file.
#pragma once

#include <source_location>
#include <string>
#include <utility>

namespace croze {

struct TraceOptions {
  bool rewrites = false;  // every rewrite of every kernel, too; for kernels that are compiled anew
  // Where in the code of kernels the threads are, too, a thousand times a second; of the device
  // CPU, and where the system lets a process sample itself.
  bool samples = false;
};

// A trace that is being written, of all threads, until it ends or its owner does.  There is one at
// a time.
class [[nodiscard]] Trace {
 public:
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Ends it.  Throws Error if the file could not be written; the destructor warns of that.
  void finish();

 private:
  friend Trace trace(const std::string&, const TraceOptions&, std::source_location);
  explicit Trace(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty: it has ended
};

// Begins one.  Throws Error if the file cannot be made, or if one is being written already.
Trace trace(const std::string& path, const TraceOptions& options = {},
            std::source_location at = std::source_location::current());

}  // namespace croze
