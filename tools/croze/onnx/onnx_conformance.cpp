// onnx_conformance.cpp -- croze onnx-conformance DIR: the tests that the ONNX project records.
#include <croze/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "command_line/json.h"
#include "croze/commands.h"
#include "croze/run_options.h"
#include "onnx_case.h"
#include "onnx_drawn.h"
#include "onnx_known.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string folder, filter;
  RunOptions options;
  Tolerance tolerance;
  bool json = false;
};

struct Count {
  int total = 0, passed = 0, failed = 0, unsupported = 0, crashed = 0;
  int by_law = 0;  // of those passed: their values are drawn

  void add(const OnnxResult& r) {
    total++;
    passed += r.outcome == Outcome::Passed;
    failed += r.outcome == Outcome::Failed;
    unsupported += r.outcome == Outcome::Unsupported;
    crashed += r.outcome == Outcome::Crashed;
    by_law +=
        r.outcome == Outcome::Passed && drawn_law(r.test.group, r.test.name) != DrawnLaw::None;
  }
};

using Results = std::vector<OnnxResult>;

std::string_view reason_of(const OnnxResult& r) { return known_reason(r.test.group, r.test.name); }

// Crashes never are.
bool is_expected(const OnnxResult& r) {
  if (r.outcome == Outcome::Passed) return true;
  return r.outcome != Outcome::Crashed && !reason_of(r).empty();
}

std::map<std::string, Count> counts_of(const Results& results) {
  std::map<std::string, Count> counts;
  for (const OnnxResult& r : results) counts[r.test.group].add(r);
  return counts;
}

Json json_of(const Count& c) {
  return {{"total", c.total},   {"passed", c.passed},           {"passed_by_law", c.by_law},
          {"failed", c.failed}, {"unsupported", c.unsupported}, {"crashed", c.crashed}};
}

void print_json(const Results& results, double seconds) {
  Count all;
  Json others = Json::array(), groups = Json::object();
  for (const OnnxResult& r : results) {
    all.add(r);
    if (r.outcome == Outcome::Passed) continue;
    others.push_back({{"group", r.test.group},
                      {"name", r.test.name},
                      {"outcome", name_of(r.outcome)},
                      {"found", r.finding},
                      {"reason", reason_of(r)}});
  }
  for (const auto& [group, count] : counts_of(results)) groups[group] = json_of(count);
  Json json = json_of(all);
  json["seconds"] = seconds;
  json["groups"] = std::move(groups);
  json["others"] = std::move(others);
  fmt::print("{}\n", json.dump(2));
}

void print_text(const Results& results, double seconds) {
  for (const OnnxResult& r : results) {
    if (r.outcome == Outcome::Passed) continue;
    fmt::print("{:<11} {}/{}: {}\n", name_of(r.outcome), r.test.group, r.test.name, r.finding);
    fmt::print("{:<11} {}\n", "", is_expected(r) ? reason_of(r) : "This was not expected.");
  }
  for (const auto& [group, c] : counts_of(results)) {
    const std::string drawn =
        c.by_law > 0 ? fmt::format(" ({} by the law of what they draw)", c.by_law) : "";
    fmt::print("{:<20} {} tests: {} passed{}, {} failed, {} unsupported, {} crashed\n", group,
               c.total, c.passed, drawn, c.failed, c.unsupported, c.crashed);
  }
  fmt::print("{:.1f} s\n", seconds);
}

void run_conformance(const Settings& settings) {
  const Options::Scope scope = settings.options.scope();
  Results results;
  double seconds = 0;
  for (const OnnxCase& test : find_onnx_cases(settings.folder)) {
    if (test.name.find(settings.filter) == test.name.npos) continue;
    results.push_back(run_onnx_case(test, settings.tolerance));
    seconds += results.back().seconds;
  }
  if (settings.json) {
    print_json(results, seconds);
  } else {
    print_text(results, seconds);
  }
  const auto surprises = std::ranges::count_if(results, std::not_fn(is_expected));
  check(surprises == 0, "{} tests do not pass that are expected to", surprises);
}

}  // namespace

void add_onnx_conformance(const Command& program) {
  const Command command = program.subcommand(
      "onnx-conformance", "Run the tests that the ONNX project records (libonnx-testdata)");
  const auto s = std::make_shared<Settings>();
  command.option("folder", s->folder, "Folder of tests, or of groups of them").required();
  command.option("--filter", s->filter, "Only tests whose names hold this");
  s->options.add_to(command);
  command.option("--rtol", s->tolerance.relative, "Relative tolerance").shows_default();
  command.option("--atol", s->tolerance.absolute, "Absolute tolerance").shows_default();
  command.flag("--json", s->json, "Print JSON");
  command.action([s] { run_conformance(*s); });
}

}  // namespace croze::tool
