// exports.h -- traces for other tools.
#pragma once

#include <string_view>

#include "croze/base/function_ref.h"
#include "croze/trace/trace.h"

namespace croze {

// Gets the text piece by piece.
using TextSink = function_ref<void(std::string_view)>;

// The trace-event format of Chrome as JSON, which Perfetto and speedscope open: a thread for each
// row, and the memory of each device as a counter.
void write_chrome_trace(const traces::Trace& trace, TextSink sink);

// A line for each stack, "row;outer;inner nanoseconds", which flame graphs are made of.  The time
// is that of the stack without what is inside.
void write_folded_stacks(const traces::Trace& trace, TextSink sink);

}  // namespace croze
