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

// Runs a program as a shell does, on the terminal of this one, and returns the status it ends with;
// 128 and the number of the signal that ends it.  Throws Error if it cannot be started.
int run_in_terminal(std::vector<std::string> line,
                    const std::vector<std::pair<std::string, std::string>>& variables = {});

// Runs this program again with these arguments, and environment variables beside its own, in a
// process of its own that writes no trace, and returns what it printed.  Throws Error if it fails.
std::string run_self(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& variables = {});

}  // namespace croze
