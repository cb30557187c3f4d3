// rule_statistics.h -- how often rules are tried, how often they fire, and how long that takes.
#pragma once

#include <mutex>
#include <string>

#include "croze/base/flat_map.h"
#include "croze/graph/observer.h"

namespace croze {

class RuleStatistics : public CompileObserver {
 public:
  bool watches_rules() const override { return true; }
  void tried(const RuleSet&, const Rule& rule, UOp before, UOp after, std::int64_t ns) override;

  // The table: hits, tries, microseconds, place and text of each rule, most expensive first.
  std::string text();

 private:
  struct Count {
    std::int64_t tries = 0, hits = 0, ns = 0;
  };

  std::mutex mutex_;
  FlatMap<const Rule*, Count> counts_;
};

// Those that CROZE_RULE_STATS=1 asks for, of all that the process compiles.
RuleStatistics& rule_statistics();

}  // namespace croze
