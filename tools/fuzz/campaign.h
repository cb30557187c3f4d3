// campaign.h -- many random cases of one kind, on all cores, for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace croze::fuzz {

// A case that came out wrong, made as small as it would go.
struct Mismatch {
  std::uint64_t seed = 0;
  std::string message;
  std::string code;  // C++ that builds the case, ready to paste into a test
};

// Named numbers that a case adds to, like how many proofs it made.
using Counts = std::map<std::string, std::int64_t>;

// One case.  It depends on the seed alone.
using Case = std::function<std::optional<Mismatch>(std::uint64_t seed, Counts& counts)>;

struct CampaignOptions {
  std::uint64_t seed = 1;  // of the first case; the next has the next seed
  std::int64_t cases = 0;  // 0: no limit
  double seconds = 60;     // 0: no limit
  int threads = 2;
  std::size_t mismatches = 10;  // stop after so many
};

struct CampaignResult {
  std::int64_t cases = 0;
  double seconds = 0;
  std::vector<Mismatch> mismatches;  // by seed
  Counts counts;
};

// Shows progress on a terminal.  What a case throws is a mismatch.
CampaignResult run_campaign(const std::string& name, const Case& run_case,
                            const CampaignOptions& options);

}  // namespace croze::fuzz
