// profile_trace.h -- croze profile FILE.trace: where the time of a trace went.
#pragma once

#include <string>

namespace croze::tool {

// Whether the file begins as a trace does.
bool is_trace(const std::string& path);

// Prints the time by call of the user's and by kernel, as a table or as one line of JSON.
void profile_trace(const std::string& path, bool json);

// Prints what differs between a trace and one from before: kernels, time and memory.
void compare_traces(const std::string& base, const std::string& path, bool json);

}  // namespace croze::tool
