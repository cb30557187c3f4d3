// trace_target.cpp -- libFuzzer: any bytes are a trace, which can be written for other tools, or an
// Error.
#include "croze/base/error.h"
#include "croze/trace/trace.h"
#include "croze/viz/exports.h"
#include "croze/viz/summary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto trace = croze::traces::read_trace(std::as_bytes(std::span(data, size)), "input");
    croze::by_kernel(trace);
    croze::by_call(trace);
    croze::by_module(trace);
    croze::roof_of(trace, "CPU");
    croze::write_chrome_trace(trace, [](std::string_view) {});
    croze::write_folded_stacks(trace, [](std::string_view) {});
  } catch (const croze::Error&) {
  }
  return 0;
}
