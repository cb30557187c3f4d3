// viz.cpp -- croze viz: traces, runs of trainings and measurements over commits, in the browser or
// as a page; traces also for other tools.
#include <croze/base/error.h>
#include <croze/base/file.h>
#include <croze/trace/trace.h>
#include <croze/viz/exports.h>
#include <croze/viz/page.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "commands.h"
#include "history/history.h"
#include "viz/runs.h"
#include "viz/server.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string path, compare, html, chrome, folded;
  std::int64_t port = 0;
  bool bench = false;
};

void write_export(const std::string& path, const traces::Trace& trace,
                  void (*write)(const traces::Trace&, TextSink)) {
  FileWriter file(path);
  write(trace, [&](std::string_view text) { file.write(text); });
  file.commit();
  fmt::print("{}\n", path);
}

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
  const MappedFile file(s.path);
  const traces::Trace trace = traces::read_trace(file.data(), s.path);
  std::optional<MappedFile> base;
  if (!s.compare.empty()) {
    base.emplace(s.compare);
    traces::read_trace(base->data(), s.compare);  // says now what is wrong with it
  }
  if (!s.chrome.empty()) write_export(s.chrome, trace, write_chrome_trace);
  if (!s.folded.empty()) write_export(s.folded, trace, write_folded_stacks);
  if (s.html.empty() && (!s.chrome.empty() || !s.folded.empty())) return;
  show_page(s, {html_page(file.data(), base ? base->data() : std::span<const std::byte>())});
}

void show_runs(const Settings& s) {
  const auto runs = std::make_shared<RunFolder>(s.path);
  if (s.html.empty()) {
    return show_page(s, {runs_page(), [runs](std::int64_t from) { return runs->events(from); }});
  }
  show_page(s, {runs_page(runs->all_events())});
}

void show(const Settings& s) {
  const bool is_folder = std::filesystem::is_directory(s.path);
  const bool is_export = !s.chrome.empty() || !s.folded.empty() || !s.compare.empty();
  check(!is_export || (!is_folder && !s.bench), "--compare, --chrome and --folded are for traces");
  if (s.bench) return show_page(s, {history_page(history_of(s.path).dump())});
  if (is_folder) return show_runs(s);
  show_trace(s);
}

}  // namespace

void add_viz(const Command& program) {
  const Command command = program.subcommand(
      "viz",
      "Show a trace (CROZE_TRACE=FILE) or the runs of trainings (logs::Run) in the browser: serves "
      "it to this machine alone");
  const auto s = std::make_shared<Settings>();
  command.option("path", s->path, "File of the trace, or folder of runs").required();
  command.option("--compare", s->compare, "File of a trace from before, to compare this one with");
  command.flag("--bench", s->bench, "The folder is one of croze-bench: show figures over commits");
  command.option("--html", s->html,
                 "Write one page that needs nothing else, instead of serving it");
  command.option("--chrome", s->chrome, "Write Chrome's trace events, for Perfetto and speedscope");
  command.option("--folded", s->folded, "Write folded stacks, for flame graphs");
  command.option("--port", s->port, "Port to serve at; 0 is any that is free").in_range(0, 65535);
  command.action([s] { show(*s); });
}

}  // namespace croze::tool
