#include "viz/trace_exports.h"

#include <croze/base/file.h>
#include <croze/viz/exports.h>
#include <fmt/format.h>

#include <cstdio>

namespace croze::tool {
namespace {

void write_export(const std::string& path, const traces::Trace& trace,
                  void (*write)(const traces::Trace&, TextSink)) {
  if (path.empty()) return;
  FileWriter file(path);
  write(trace, [&](std::string_view text) { file.write(text); });
  file.commit();
  fmt::print(stderr, "{}\n", path);
}

}  // namespace

void TraceExports::add_to(const Command& command) {
  command.option("--chrome", chrome, "Write Chrome's trace events, for Perfetto and speedscope");
  command.option("--folded", folded, "Write folded stacks, for flame graphs");
}

void TraceExports::write(const traces::Trace& trace) const {
  write_export(chrome, trace, write_chrome_trace);
  write_export(folded, trace, write_folded_stacks);
}

}  // namespace croze::tool
