// viz.cpp -- croze viz FILE: a trace in the browser, as a page, or for other tools.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/trace/trace.h>
#include <croze/viz/exports.h>
#include <croze/viz/page.h>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "commands.h"
#include "viz/server.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string trace, html, chrome, folded;
  std::int64_t port = 0;
};

void write_html(const std::string& path, const std::string& page) {
  write_file(path, std::as_bytes(std::span(page)));
  fmt::print("{}\n", path);
}

void write_export(const std::string& path, const traces::Trace& trace,
                  void (*write)(const traces::Trace&, TextSink)) {
  FileWriter file(path);
  write(trace, [&](std::string_view text) { file.write(text); });
  file.commit();
  fmt::print("{}\n", path);
}

void serve(const std::string& page, std::int64_t port) {
  serve_page(page, static_cast<int>(port), [](const std::string& address) {
    fmt::print("{}\n", address);
    std::fflush(stdout);
    fmt::print(stderr, "Ctrl-C ends it.\n");
  });
}

void show(const Settings& s) {
  const MappedFile file(s.trace);
  const traces::Trace trace = traces::read_trace(file.data(), s.trace);
  if (!s.chrome.empty()) write_export(s.chrome, trace, write_chrome_trace);
  if (!s.folded.empty()) write_export(s.folded, trace, write_folded_stacks);
  if (!s.html.empty()) write_html(s.html, html_page(file.data()));
  if (s.chrome.empty() && s.folded.empty() && s.html.empty()) {
    serve(html_page(file.data()), s.port);
  }
}

}  // namespace

void add_viz(const Command& program) {
  const Command command = program.subcommand(
      "viz", "Show a trace (CROZE_TRACE=FILE) in the browser: serves it to this machine alone");
  const auto s = std::make_shared<Settings>();
  command.option("trace", s->trace, "File of the trace").required();
  command.option("--html", s->html,
                 "Write one page that needs nothing else, instead of serving it");
  command.option("--chrome", s->chrome, "Write Chrome's trace events, for Perfetto and speedscope");
  command.option("--folded", s->folded, "Write folded stacks, for flame graphs");
  command.option("--port", s->port, "Port to serve at; 0 is any that is free").in_range(0, 65535);
  command.action([s] { show(*s); });
}

}  // namespace croze::tool
