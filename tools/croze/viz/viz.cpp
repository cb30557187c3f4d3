// viz.cpp -- croze viz: traces, runs of trainings and measurements over commits, in the browser or
// as a page; traces also for other tools.  A program that is named is run and traced.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/viz/page.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "history/history.h"
#include "viz/runs.h"
#include "viz/server.h"
#include "viz/trace_exports.h"
#include "viz/trace_file.h"

namespace croze::tool {
namespace {

struct Settings {
  std::vector<std::string> line;  // a path, or a program and its arguments
  std::string compare, html;
  TraceExports exports;
  std::int64_t port = 0;
  TraceOptions traced;
  bool bench = false;

  const std::string& path() const { return line[0]; }
};

// Writes the page if a file was named for it, else serves it.
void show_page(const Settings& s, const Served& served) {
  if (!s.html.empty()) {
    write_file(s.html, std::as_bytes(std::span(served.page)));
    fmt::print("{}\n", s.html);
    return;
  }
  serve_page(served, static_cast<int>(s.port), [](const std::string& address) {
    fmt::print("{}\n", address);
    std::fflush(stdout);
    fmt::print(stderr, "Ctrl-C ends it.\n");
  });
}

void show_trace(const Settings& s) {
  const TraceFile file = trace_of(s.line, s.traced);
  std::optional<TraceFile> base;
  if (!s.compare.empty()) base.emplace(s.compare);
  s.exports.write(file.trace());
  if (s.html.empty() && s.exports.any()) return;
  show_page(s, {html_page(file.bytes(), base ? base->bytes() : std::span<const std::byte>())});
}

void show_runs(const Settings& s) {
  const auto runs = std::make_shared<RunFolder>(s.path());
  if (s.html.empty()) {
    return show_page(s, {runs_page(), [runs](std::int64_t from) { return runs->events(from); }});
  }
  show_page(s, {runs_page(runs->all_events())});
}

void show(const Settings& s) {
  const bool is_folder = std::filesystem::is_directory(s.path());
  const bool is_export = s.exports.any() || !s.compare.empty();
  check(!is_export || (!is_folder && !s.bench), "--compare, --chrome and --folded are for traces");
  if (s.bench) return show_page(s, {history_page(history_of(s.path()).dump())});
  if (is_folder) return show_runs(s);
  show_trace(s);
}

}  // namespace

void add_viz(const Command& program) {
  const Command command = program.subcommand("viz",
                                             "Show a trace (CROZE_TRACE=FILE), what a program "
                                             "does, or the runs of trainings (logs::Run) in "
                                             "the browser: serves it to this machine alone");
  const auto s = std::make_shared<Settings>();
  command
      .option("path", s->line,
              "File of the trace, folder of runs, or a program to run and trace; arguments of it "
              "that begin with - come after --")
      .required();
  command.flag("--rewrites", s->traced.rewrites,
               "Of a program: trace every rewrite of every kernel, too");
  add_samples_flag(command, s->traced);
  command.option("--compare", s->compare, "File of a trace from before, to compare this one with");
  command.flag("--bench", s->bench, "The folder is one of croze-bench: show figures over commits");
  command.option("--html", s->html,
                 "Write one page that needs nothing else, instead of serving it");
  s->exports.add_to(command);
  command.option("--port", s->port, "Port to serve at; 0 is any that is free").in_range(0, 65535);
  command.action([s] { show(*s); });
}

}  // namespace croze::tool
