// profile_trace.h -- croze profile of a trace: where the time of a trace went.
#pragma once

#include <croze/trace/trace.h>

#include <string>

namespace croze::tool {

// Prints the time by module of a model, by call of the user's and by kernel, and the hottest
// instructions if there are samples, as tables or as one line of JSON.  `name`: what was traced.
void profile_trace(const std::string& name, const traces::Trace& trace, bool json);

// Prints what differs between a trace and one from before: kernels, time and memory.
void compare_traces(const std::string& base, const std::string& path, bool json);

}  // namespace croze::tool
