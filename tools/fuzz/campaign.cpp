// campaign.cpp -- many random cases, on all cores.
#include "fuzz/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "croze/base/log.h"

namespace croze::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<Mismatch> guarded(const Case& run_case, std::uint64_t seed, Counts& counts) {
  try {
    return run_case(seed, counts);
  } catch (const std::exception& e) {
    return Mismatch{seed, fmt::format("exception: {}", e.what()), {}};
  }
}

class Campaign {
 public:
  Campaign(const std::string& name, const Case& run_case, const CampaignOptions& options)
      : name_(name),
        run_case_(run_case),
        options_(options),
        limit_(options.cases > 0 ? options.cases : std::numeric_limits<std::int64_t>::max()) {}

  CampaignResult run() {
    std::vector<std::thread> others;
    for (int i = 1; i < options_.threads; i++) others.emplace_back([this] { work(false); });
    work(true);
    for (std::thread& t : others) t.join();
    result_.seconds = elapsed();
    std::ranges::sort(result_.mismatches, {}, &Mismatch::seed);
    return std::move(result_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  bool over() const {
    return stop_.load(std::memory_order_relaxed) ||
           (options_.seconds > 0 && elapsed() >= options_.seconds);
  }

  // Takes cases one by one until there are no more.
  void work(bool shows_progress) {
    Counts counts;
    std::int64_t done = 0;
    ProgressLine progress;
    while (!over()) {
      const std::int64_t number = next_.fetch_add(1);
      if (number >= limit_) break;
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(number);
      if (std::optional<Mismatch> m = guarded(run_case_, seed, counts)) report(std::move(*m));
      done++;
      if (shows_progress && progress.visible()) {
        progress.update(fmt::format("fuzz {}: {} cases, {:.0f} s", name_, number + 1, elapsed()));
      }
    }
    const std::lock_guard lock(mutex_);
    result_.cases += done;
    for (const auto& [name, count] : counts) result_.counts[name] += count;
  }

  void report(Mismatch mismatch) {
    const std::lock_guard lock(mutex_);
    result_.mismatches.push_back(std::move(mismatch));
    if (result_.mismatches.size() >= options_.mismatches) stop_ = true;
  }

  const std::string& name_;
  const Case& run_case_;
  const CampaignOptions& options_;
  const std::int64_t limit_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const std::string& name, const Case& run_case,
                            const CampaignOptions& options) {
  return Campaign(name, run_case, options).run();
}

}  // namespace croze::fuzz
