// cpu.cpp -- croze-bench cpu: how fast generated kernels are, beside other libraries in the same
// run and as a share of what the processor can do.  Nothing is searched or tuned beforehand.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cpu/case.h"
#include "cpu/contest.h"
#include "cpu/peers/peer.h"
#include "cpu/report.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/io/text_pattern.h"
#include "croze/run/devices.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct NamedSuite {
  const char* name;
  Suite (*make)();
};
constexpr NamedSuite suites[] = {
    {"gemm", gemm_suite},           {"conv", conv_suite},
    {"rowwise", rowwise_suite},     {"elementwise", elementwise_suite},
    {"attention", attention_suite}, {"gemv", gemv_suite},
    {"irregular", irregular_suite}, {"onnx", onnx_suite},
    {"train", train_suite},
};

struct CpuOptions {
  std::string suite = "gemm", pattern = ".", without;
  PeerOptions peers{.threads = 0};
  ContestOptions contest;
  bool with_peers = false, as_json = false;
};

Suite suite_named(const std::string& name) {
  for (const NamedSuite& s : suites) {
    if (name == s.name) return s.make();
  }
  fail({}, "there is no suite {}", name);
}

std::vector<MeasuredGroup> measure(const Suite& suite, const CpuOptions& options,
                                   const std::vector<std::unique_ptr<Peer>>& peers,
                                   ThreadPool& pool) {
  const TextPattern pattern(options.pattern, "--case", {});
  std::vector<MeasuredGroup> groups;
  for (const Group& group : suite.groups) {
    MeasuredGroup measured{&group, {}};
    for (const Case& c : group.cases) {
      if (!TextMatcher(pattern, c.name).find(0)) continue;
      measured.cases.push_back({&c, contest(c, suite.work, peers, pool, options.contest)});
      if (!options.as_json) print_case(measured.cases.back(), suite.work);
    }
    groups.push_back(std::move(measured));
  }
  return groups;
}

// By name, and why.
Json skipped_in(const Suite& suite, const CpuOptions& options,
                const std::vector<std::unique_ptr<Peer>>& peers) {
  Json skipped = missing_in(peers);
  if (!options.with_peers) skipped["all peers"] = "not asked for: --peers";
  for (const std::string& file : suite.missing) {
    skipped[file] = "not fetched: bench/cpu/models/fetch.sh";
  }
  return skipped;
}

void run_cpu(CpuOptions options) {
  if (options.without.empty()) options.without = Options::text(Option::CpuWithout);
  const Options::Scope scope{{Option::Device, "CPU"},
                             {Option::Threads, options.peers.threads},
                             {Option::CpuWithout, options.without}};
  ThreadPool pool;
  if (!options.without.empty()) {
    options.peers.vector_bytes = device(default_device()).caps().vector_bytes;
  }
  options.peers.threads = pool.thread_count();
  const Suite suite = suite_named(options.suite);
  std::vector<std::unique_ptr<Peer>> peers;
  if (options.with_peers) peers = make_peers(options.peers);
  if (!options.as_json) print_head(suite.work);
  const std::vector<MeasuredGroup> groups = measure(suite, options, peers, pool);
  const Json rows = limit_rows(groups, suite.work), skipped = skipped_in(suite, options, peers);
  if (!options.as_json) {
    for (const std::string& name : skipped.names()) {
      fmt::print("skipped {}: {}\n", name, skipped[name].get<std::string>());
    }
    print_limited(rows);
  }
  finish_suite("cpu " + options.suite, rows, options.as_json,
               {{"peers", found_in(peers)},
                {"skipped", skipped},
                {"unit", unit_of(suite.work).name},
                {"rounds", options.contest.rounds},
                {"cases", case_rows(groups, suite.work)}});
}

}  // namespace

std::vector<std::string> cpu_suites() {
  std::vector<std::string> names;
  for (const NamedSuite& s : suites) names.emplace_back(s.name);
  return names;
}

void add_cpu(const Command& program) {
  auto options = std::make_shared<CpuOptions>();
  const Command command = program.subcommand(
      "cpu", "Speed of kernels on the CPU, against its peak and other libraries");
  command.option("--suite", options->suite, "Which cases").one_of(cpu_suites()).shows_default();
  command.option("--case", options->pattern, "Those whose names match this regular expression");
  command.flag("--peers", options->with_peers, "Measure other libraries that are found");
  command.option("--python", options->peers.python, "Command of a Python that has PyTorch")
      .shows_default();
  command.option("--threads", options->peers.threads, "0: one for each core").not_negative();
  command.option("--without", options->without,
                 "Extensions of the instruction set that are not used, as CROZE_CPU_WITHOUT has "
                 "them; peers are held to vectors as wide, or left out");
  command.option("--rounds", options->contest.rounds, "Turns of each; medians are reported")
      .positive()
      .shows_default();
  command.option("--seconds", options->contest.seconds, "Length of a turn").shows_default();
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_cpu(*options); });
}

}  // namespace croze::bench
