#include "croze/graph/rewrite/rule_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "croze/graph/rewrite/rule.h"

namespace croze {

void RuleStatistics::tried(const RuleSet&, const Rule& rule, UOp, UOp after, std::int64_t ns) {
  const std::lock_guard lock(mutex_);
  Count& count = counts_[&rule];
  count.tries++;
  count.hits += after ? 1 : 0;
  count.ns += ns;
}

std::string RuleStatistics::text() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<const Rule*, Count>> rows;
  for (const auto& [rule, count] : counts_) rows.emplace_back(rule, count);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  std::string text = fmt::format("{:>10} {:>10} {:>10}  rule\n", "hits", "tries", "us");
  for (const auto& [rule, count] : rows) {
    fmt::format_to(std::back_inserter(text), "{:>10} {:>10} {:>10.1f}  {}\n", count.hits,
                   count.tries, static_cast<double>(count.ns) / 1000, to_string(*rule));
  }
  return text;
}

RuleStatistics& rule_statistics() {
  // Never destroyed: at the end of the process, other threads may still compile.
  static RuleStatistics& instance = *new RuleStatistics;
  return instance;
}

}  // namespace croze
