// fuzz.cpp -- croze fuzz: random expressions, views, programs in place, kernels and whole graphs,
// compared with their meaning.
#include <croze/base/error.h>
#include <croze/run/devices.h>
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "fuzz/campaign.h"
#include "fuzz/graphs/graphs.h"
#include "fuzz/inplace.h"
#include "fuzz/kernels.h"
#include "fuzz/symbolic.h"
#include "fuzz/views.h"

namespace croze::tool {
namespace {

struct Settings {
  std::string what;
  std::string device;
  fuzz::CampaignOptions campaign;
  std::uint64_t proof_interval = 1000;
  bool json = false;
};

fuzz::Case case_of(const Settings& s) {
  if (s.what == "symbolic") {
    return [interval = s.proof_interval](std::uint64_t seed, fuzz::Counts& counts) {
      return fuzz::symbolic_case(seed, interval, counts);
    };
  }
  if (s.what == "views") return fuzz::views_case;
  if (s.what == "inplace") return fuzz::inplace_case;
  if (s.what == "edits") return fuzz::edits_case;
  if (s.what == "graphs") return fuzz::graphs_case;
  if (s.device.empty()) return fuzz::kernels_case;
  return [&chosen = device(device_index(s.device))](std::uint64_t seed, fuzz::Counts& counts) {
    return fuzz::kernels_case_on(chosen, seed, counts);
  };
}

void print_json(const Settings& s, const fuzz::CampaignResult& result) {
  Json json{{"fuzz", s.what},
            {"seed", s.campaign.seed},
            {"cases", result.cases},
            {"mismatches", result.mismatches.size()},
            {"seconds", result.seconds},
            {"threads", s.campaign.threads}};
  for (const auto& [name, count] : result.counts) json[name] = count;
  Json failures = Json::array();
  for (const fuzz::Mismatch& m : result.mismatches) {
    failures.push_back({{"seed", m.seed}, {"message", m.message}, {"code", m.code}});
  }
  if (!failures.elements().empty()) json["failures"] = std::move(failures);
  fmt::print("{}\n", json.dump());
}

void print_text(const Settings& s, const fuzz::CampaignResult& result) {
  for (const fuzz::Mismatch& m : result.mismatches) {
    fmt::print("seed {}: {}\n\n{}\n", m.seed, m.message, m.code);
  }
  fmt::print("{}: {} cases from seed {} in {:.1f} s, {} mismatches", s.what, result.cases,
             s.campaign.seed, result.seconds, result.mismatches.size());
  for (const auto& [name, count] : result.counts) fmt::print(", {} {}", count, name);
  fmt::print("\n");
}

void run_fuzz(Settings s, bool has_seconds) {
  if (s.campaign.cases > 0 && !has_seconds) s.campaign.seconds = 0;
  if (!s.device.empty()) s.campaign.threads = 1;  // cases take turns on a device
  const fuzz::CampaignResult result = fuzz::run_campaign(s.what, case_of(s), s.campaign);
  s.json ? print_json(s, result) : print_text(s, result);
  std::fflush(stdout);
  check(result.mismatches.empty(), "{} of {} cases came out wrong", result.mismatches.size(),
        result.cases);
}

}  // namespace

void add_fuzz(const Command& program) {
  const Command command = program.subcommand(
      "fuzz",
      "Compare random expressions, views, programs in place, kernels, edits or graphs with their "
      "meaning");
  const auto s = std::make_shared<Settings>();
  command.option("what", s->what, "symbolic, views, inplace, kernels, edits or graphs")
      .required()
      .one_of({"symbolic", "views", "inplace", "kernels", "edits", "graphs"});
  const Argument seconds =
      command.option("--seconds", s->campaign.seconds, "Stop after this time; 60 if no --cases")
          .positive();
  command.option("--cases", s->campaign.cases, "Stop after so many cases").positive();
  command.option("--seed", s->campaign.seed, "Seed of the first case; each next adds one");
  command.option("--threads", s->campaign.threads, "Threads").in_range(1, 256);
  command.option("--prove", s->proof_interval,
                 "symbolic: of so many cases give one to Z3; 0 for none");
  command.option("--device", s->device,
                 "kernels: run on this device, not on interpreters of every shape");
  command.flag("--json", s->json, "Print one line of JSON");
  command.action([s, seconds] { run_fuzz(*s, seconds.is_given()); });
}

}  // namespace croze::tool
