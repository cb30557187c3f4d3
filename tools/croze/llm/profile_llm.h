// profile_llm.h -- croze profile MODEL.gguf: a language model that reads and writes, traced.
#pragma once

#include <croze/run/trace/trace.h>

#include <string>

#include "viz/trace_file.h"

namespace croze::tool {

// The trace of reading 128 tokens at once and then 32 one by one, or fewer if that is all that the
// model can look back at.  Everything is compiled before.
TraceFile trace_of_language_model(const std::string& path, const TraceOptions& options);

}  // namespace croze::tool
