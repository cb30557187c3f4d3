// rules.cpp -- croze rules: lists the rewrite rules, and proves them.
#include <croze/base/error.h>
#include <croze/graph/rules/rules.h>
#include <croze/prove/report.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "command_line/json.h"
#include "commands.h"

namespace croze::tool {
namespace {

struct Settings {
  bool prove = false, json = false;
  ReportOptions report;
};

std::string_view name_of(Numbers numbers) {
  switch (numbers) {
    case Numbers::All: return "all";
    case Numbers::Index: return "index";
    case Numbers::Wrapping: return "wrapping";
    case Numbers::Ieee: return "ieee";
    case Numbers::Real: return "real";
  }
  return "";
}

// What is no rule list but rewrites graphs too, and the tests that hold it to its meaning.
constexpr const char* elsewhere[][2] = {
    {"gradients of elementwise ops (graph/gradient)",
     "tests/gradient: finite differences, for every row of the table"},
    {"decompositions (codegen/decompose)",
     "tests/codegen/decompose_*_test.cpp: against eval, with the error bounds of the headers"},
    {"movement to index arithmetic (schedule/ranges)",
     "tests/tensor, tests/schedule: against element-for-element evaluation"},
    {"edits of kernels (codegen/edits)", "tests/run/edits_test.cpp: against the unedited kernel"},
};

Json json_of(const InstanceProof& p) {
  Json json{{"name", p.name},
            {"instances", p.fired},
            {"proven", p.counts.proven()},
            {"by", {{"all values", p.counts.exhausted}, {"z3", p.counts.solved}}},
            {"failed", p.counts.failed},
            {"unknown", p.counts.unknown}};
  if (!p.counts.detail.empty()) json["detail"] = p.counts.detail;
  return json;
}

Json json_of_algebraic(const ListReport& r) {
  std::int64_t readings = 0;
  std::array<std::int64_t, num_methods> by{};
  Json details = Json::array();
  for (const RuleProof& p : r.algebraic) {
    readings += p.readings;
    for (std::size_t m = 0; m < by.size(); m++) by[m] += p.by[m];
    if (!p.detail.empty()) details.push_back(p.detail);
  }
  Json json{{"rules", r.algebraic.size()},
            {"proven", r.count(Verdict::Proven)},
            {"failed", r.count(Verdict::Failed)},
            {"unknown", r.count(Verdict::Unknown)},
            {"readings", readings}};
  for (std::size_t m = 0; m < by.size(); m++) {
    json["by"][croze::name_of(static_cast<Method>(m))] = by[m];
  }
  if (!details.elements().empty()) json["details"] = details;
  return json;
}

Json json_of_floats(const ListReport& r) {
  std::int64_t instances = 0, points = 0, failed = 0;
  Json details = Json::array();
  for (const FloatCheck& c : r.floats) {
    instances += c.instances;
    points += c.points;
    failed += c.failed;
    if (!c.detail.empty()) details.push_back(c.name + ": " + c.detail);
  }
  Json json{
      {"rules", r.floats.size()}, {"instances", instances}, {"points", points}, {"failed", failed}};
  if (!details.elements().empty()) json["details"] = details;
  return json;
}

Json json_of(const TransportProof& p) {
  Json json{{"name", p.law->name}, {"theorems", p.theorems}, {"proven", p.proven}};
  if (!p.detail.empty()) json["detail"] = p.detail;
  return json;
}

Json json_of(const RulesReport& report) {
  Json json;
  for (const ListReport& r : report.lists) {
    Json list{{"name", r.list.name},
              {"numbers", name_of(r.list.numbers)},
              {"rules", r.list.rules.size()}};
    if (!r.algebraic.empty()) list["algebraic"] = json_of_algebraic(r);
    for (const InstanceProof& p : r.functions) list["functions"].push_back(json_of(p));
    if (!r.floats.empty()) list["floats"] = json_of_floats(r);
    list["ends"] =
        r.list.why_it_ends ? r.list.why_it_ends : "every rule makes smaller what it rewrites";
    if (!r.no_smaller.empty()) list["no smaller"] = r.no_smaller;
    json["lists"].push_back(list);
  }
  for (const InstanceProof& p : report.functions) json["functions"].push_back(json_of(p));
  for (const TransportProof& p : report.transports) json["transports"].push_back(json_of(p));
  for (const auto& [what, tests] : elsewhere) json["elsewhere"][what] = tests;
  return json;
}

void print_report(const RulesReport& report) {
  const auto print_instances = [](const InstanceProof& p) {
    fmt::print("    {} of {} instances proven: {}\n", p.counts.proven(), p.fired, p.name);
    if (!p.counts.detail.empty()) fmt::print("      {}\n", p.counts.detail);
  };
  for (const ListReport& r : report.lists) {
    fmt::print("{} ({})\n", r.list.name, name_of(r.list.numbers));
    if (!r.algebraic.empty()) {
      fmt::print("    {} of {} rules proven\n", r.count(Verdict::Proven), r.algebraic.size());
    }
    for (const std::string& why : r.no_smaller) fmt::print("      may not end: {}\n", why);
    for (const RuleProof& p : r.algebraic) {
      if (!p.detail.empty()) fmt::print("      {}\n", p.detail);
    }
    for (const InstanceProof& p : r.functions) print_instances(p);
    std::int64_t points = 0;
    for (const FloatCheck& c : r.floats) points += c.points;
    if (points) fmt::print("    {} rules agree on {} float values\n", r.floats.size(), points);
    for (const FloatCheck& c : r.floats) {
      if (c.failed) fmt::print("      {}: {}\n", c.name, c.detail);
    }
  }
  fmt::print("functions that are no rules\n");
  for (const InstanceProof& p : report.functions) print_instances(p);
  fmt::print("reductions in one pass (real)\n");
  for (const TransportProof& p : report.transports) {
    fmt::print("    {} of {} theorems proven: {}\n", p.proven, p.theorems, p.law->name);
    if (!p.detail.empty()) fmt::print("      {}\n", p.detail);
  }
}

void prove(const Settings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  const RulesReport report = prove_all(settings.report);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (settings.json) {
    Json json = json_of(report);
    json["seed"] = settings.report.seed;
    json["seconds"] = seconds;
    json["holds"] = report.holds();
    fmt::print("{}\n", json.dump(2));
  } else {
    print_report(report);
    fmt::print("{} in {:.0f} s\n", report.holds() ? "all proven" : "NOT PROVEN", seconds);
  }
  std::fflush(stdout);
  check(report.holds(), "not every rule is proven");
}

void list(bool as_json) {
  Json json = Json::array();
  for (const RuleList& l : rule_lists()) {
    if (!as_json) fmt::print("{} ({})\n", l.name, name_of(l.numbers));
    for (const Rule& rule : l.rules) {
      if (!as_json) fmt::print("    {}\n", to_string(rule));
      json.push_back({{"list", l.name},
                      {"numbers", name_of(l.numbers)},
                      {"place", place_of(rule)},
                      {"rule", to_string(rule)}});
    }
  }
  if (as_json) fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_rules(const Command& program) {
  const Command command = program.subcommand("rules", "List the rewrite rules, or prove them");
  const auto settings = std::make_shared<Settings>();
  command.flag("--prove", settings->prove, "Prove every rule; fails if one is not proven");
  command.flag("--json", settings->json, "Print JSON");
  command
      .option("--instances", settings->report.instances,
              "Instances to prove of each rule that is a function")
      .positive();
  command.option("--seed", settings->report.seed, "Seed of the instances");
  command.option("--threads", settings->report.threads, "Threads").in_range(1, 256);
  command.action([settings] {
    if (settings->prove) {
      prove(*settings);
    } else {
      list(settings->json);
    }
  });
}

}  // namespace croze::tool
