// all.cpp -- croze-bench all: the suites that take minutes at most, each a few times in processes
// of their own, and their figures as one file of the commit, in a folder of the machine
// (tools/history/history.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command_line/json.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "history/history.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct AllOptions {
  std::string out = "bench/results";
  std::string suite = "all";
  std::string python = "python3";
  int rounds = 3;
};

// ---- figures ----------------------------------------------------------------------------------

struct Figure {
  std::string name, unit;
  bool is_less_better = true;
  std::vector<double> values;  // one a round
  Json peers = Json::object();
  double intensity = 0;  // operations for a byte; 0: not known
};

class Figures {
 public:
  // One more value of a figure, and what others need for the same; 0 is no value of a peer.
  Figure& add(const std::string& name, const char* unit, bool is_less_better, double value,
              const std::vector<std::pair<std::string, double>>& peers = {}) {
    auto figure = std::ranges::find(all_, name, &Figure::name);
    if (figure == all_.end()) {
      figure = all_.insert(all_.end(), {name, unit, is_less_better, {}, Json::object()});
    }
    figure->values.push_back(value);
    for (const auto& [peer, peer_value] : peers) {
      if (peer_value != 0) figure->peers[peer] = peer_value;
    }
    return *figure;
  }

  Json json() const {
    Json list = Json::array();
    for (const Figure& f : all_) {
      list.push_back({{"name", f.name},
                      {"unit", f.unit},
                      {"better", f.is_less_better ? "less" : "more"},
                      {"values", Json(f.values)},
                      {"peers", f.peers}});
      if (f.intensity > 0) list.elements().back()["intensity"] = f.intensity;
    }
    return list;
  }

 private:
  std::vector<Figure> all_;
};

constexpr bool less = true, more = false;

double number(const Json& json, const char* name) {
  return json.contains(name) ? json[name].get<double>() : 0;
}
std::string name_in(const Json& json, const char* name) { return json[name].get<std::string>(); }

void add_compile_figures(const Json& report, Figures& figures) {
  for (const Json& m : report["models"].elements()) {
    const std::string model = name_in(m, "model");
    figures.add("compile " + model, "ms", less, number(m, "total_ms"));
    figures.add("memory to compile " + model, "MB", less, number(m, "peak_rss_mb"));
  }
}

void add_rewrite_figures(const Json& report, Figures& figures) {
  for (const Json& m : report["models"].elements()) {
    figures.add("rewrite " + name_in(m, "model"), "ms", less, number(m, "ms"));
  }
  const Json& reshapes = report["reshapes"];
  figures.add("simplify reshapes", "us", less, number(reshapes, "average_us"));
}

// What the peers do stands beside what we do.
void add_speed_figures(const Json& report, Figures& figures) {
  const std::string unit = name_in(report, "unit");
  for (const Json& c : report["cases"].elements()) {
    const double rate = number(c, "rate");
    std::vector<std::pair<std::string, double>> peers = {{"peak", number(c, "peak_rate")}};
    for (const std::string& peer : c["peers"].names()) {
      peers.emplace_back(peer, rate / number(c["peers"][peer], "ratio"));
    }
    Figure& figure = figures.add(name_in(c, "name"), unit.c_str(), more, rate, peers);
    if (unit == "GFLOP/s") figure.intensity = number(c, "work") / number(c, "bytes");
  }
}

void add_fusion_figures(const Json& report, Figures& figures) {
  for (const Json& r : report["results"].elements()) {
    figures.add("fused " + name_in(r, "workload"), "ms", less, number(r, "fused_ms"),
                {{"parts one by one", number(r, "parts_ms")}});
  }
}

void add_memory_figures(const Json& report, Figures& figures) {
  const Json& chain = report["chain"];
  figures.add("a million operations in a chain", "s", less, number(chain, "total_seconds"));
  figures.add("memory of that chain", "MB", less, number(chain, "peak_rss_mb"));
  figures.add("many small tensors", "s", less, number(report["small_tensors"], "seconds"));
}

void add_trace_figures(const Json& report, Figures& figures) {
  for (const Json& r : report["results"].elements()) {
    figures.add("traced: " + name_in(r, "name"), name_in(r, "unit").c_str(), less,
                number(r, "value"));
  }
}

struct Suite {
  std::string name;
  std::vector<std::string> arguments;
  void (*add)(const Json& report, Figures& figures);
};

std::vector<Suite> suites(const std::string& python) {
  std::vector<Suite> all = {
      {"compile", {"compile", "--repeat", "1"}, add_compile_figures},
      {"rewrite", {"rewrite", "--repeat", "3"}, add_rewrite_figures},
      {"fusion", {"fusion", "--seconds", "0.3"}, add_fusion_figures},
      {"memory", {"memory"}, add_memory_figures},
      {"trace", {"trace", "--repeat", "1", "--seconds", "10"}, add_trace_figures},
  };
  for (const std::string& name : cpu_suites()) {
    all.push_back(
        {name, {"cpu", "--suite", name, "--peers", "--python", python}, add_speed_figures});
  }
  return all;
}

// ---- the file ---------------------------------------------------------------------------------

// What git says about the sources; without the newline at the end.
std::string git(std::vector<std::string> arguments) {
  std::vector<std::string> line = {"git", "-C", CROZE_BENCH_SOURCES};
  line.insert(line.end(), arguments.begin(), arguments.end());
  const ProcessResult result = run_process(line, {{"TZ", "UTC"}});
  check(result.status == 0, "the commit is not known: {} failed", fmt::join(line, " "));
  return result.output.substr(0, result.output.find_last_not_of('\n') + 1);
}

// The last line that the suite prints.  Limits that do not hold on a machine that is busy are the
// affair of the suite: what it measured is kept all the same.
Json run_suite(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/proc/self/exe");
  arguments.emplace_back("--json");
  std::string output = run_process(arguments).output;
  output.erase(output.find_last_not_of('\n') + 1);
  const std::string line = output.substr(output.rfind('\n') + 1);
  check(!line.empty(), "{} measured nothing", fmt::join(arguments, " "));
  return Json::parse(line);
}

Figures measure(const AllOptions& options) {
  Figures figures;
  for (int round = 1; round <= options.rounds; round++) {
    for (const Suite& suite : suites(options.python)) {
      if (options.suite != "all" && options.suite != suite.name) continue;
      fmt::print(stderr, "round {} of {}: {}\n", round, options.rounds, suite.name);
      suite.add(run_suite(suite.arguments), figures);
    }
  }
  return figures;
}

// "AMD EPYC, 2 threads" as amd-epyc-2-threads.
std::string folder_of(const std::string& machine) {
  std::string folder;
  for (const char c : machine) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte)) {
      folder += static_cast<char>(std::tolower(byte));
    } else if (!folder.empty() && folder.back() != '-') {
      folder += '-';
    }
  }
  return folder;
}

void run_all(const AllOptions& options) {
  const Json on = machine();
  const std::string name = on["device"].get<std::string>();
  const std::string folder = options.out + "/" + folder_of(name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check(!error, "cannot make the folder {}: {}", folder, error.message());
  const std::string commit = git({"log", "-1", "--format=%H"});
  const bool is_changed = !git({"status", "--porcelain", "--untracked-files=no"}).empty();
  const Figures figures = measure(options);
  const Json file{
      {measurement_mark, measurement_version},
      {"commit", commit},
      {"date", git({"log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd"})},
      {"subject", git({"log", "-1", "--format=%s"})},
      {"changed", is_changed},
      {"machine", name},
      {"load_average", on["load_average"]},
      {"rounds", options.rounds},
      {"figures", figures.json()}};
  const std::string path =
      fmt::format("{}/{}{}.json", folder, commit.substr(0, 12), is_changed ? "-changed" : "");
  const std::string text = file.dump(1) + "\n";
  write_file(path, std::as_bytes(std::span(text)));
  const int regressions = print_last(history_of(options.out));
  fmt::print("{} regressions\n{}\n", regressions, path);
}

}  // namespace

void add_all(const Command& program) {
  auto options = std::make_shared<AllOptions>();
  const Command command = program.subcommand(
      "all", "The suites that take minutes at most, into one file of this commit and machine");
  command.option("--out", options->out, "Folder of the files").shows_default();
  command.option("--rounds", options->rounds, "Processes per suite; their spread is the noise")
      .positive()
      .shows_default();
  std::vector<std::string> names = {"all"};
  for (const Suite& suite : suites("")) names.push_back(suite.name);
  command.option("--suite", options->suite, "One of them alone").one_of(names);
  command.option("--python", options->python, "Command of a Python that has PyTorch");
  command.action([options] { run_all(*options); });
}

}  // namespace croze::bench
