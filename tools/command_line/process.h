// process.h -- this process, and others of the same program.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace croze {

// The most memory that this process had at once, files that it maps included.
std::int64_t peak_rss_bytes();

struct ProcessResult {
  int status = 0;  // how it ended; -1: by a signal
  std::string output;
};

// Runs a program, found along PATH, with environment variables beside those of this process, to its
// end; what it prints to standard error goes where ours does.  Throws Error if it cannot be
// started.
ProcessResult run_process(std::vector<std::string> line,
                          const std::vector<std::pair<std::string, std::string>>& variables = {});

// Runs this program again with these arguments, and environment variables beside its own, in a
// process of its own, and returns what it printed.  Throws Error if it fails.
std::string run_self(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& variables = {});

}  // namespace croze
