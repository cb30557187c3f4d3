#include "croze/log/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace croze::logs {
namespace {

// From the least double up to the largest.
std::vector<double> bucket_limits() {
  constexpr double first = 1e-12, last = 1e20, growth = 1.1;
  std::vector<double> positive;
  for (double limit = first; limit < last; limit *= growth) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

// What lies outside of the buckets that hold something is left away, but for an empty one in front.
void trim(Histogram& h) {
  const auto is_used = [](double count) { return count > 0; };
  const auto first = std::ranges::find_if(h.counts, is_used) - h.counts.begin();
  const auto end = std::find_if(h.counts.rbegin(), h.counts.rend(), is_used).base();
  h.limits.resize(static_cast<std::size_t>(end - h.counts.begin()));
  h.counts.erase(end, h.counts.end());
  const auto unused = std::max<std::ptrdiff_t>(first - 1, 0);
  h.limits.erase(h.limits.begin(), h.limits.begin() + unused);
  h.counts.erase(h.counts.begin(), h.counts.begin() + unused);
}

}  // namespace

Histogram histogram_of(std::span<const double> values) {
  Histogram h;
  h.limits = bucket_limits();
  h.counts.resize(h.limits.size());
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    h.least = h.count == 0 ? value : std::min(h.least, value);
    h.most = h.count == 0 ? value : std::max(h.most, value);
    h.count++;
    h.sum += value;
    h.sum_of_squares += value * value;
    const auto above = std::ranges::upper_bound(h.limits, value) - h.limits.begin();
    // The largest double is the end of the last bucket and lies in it all the same.
    h.counts[static_cast<std::size_t>(std::min(above, std::ssize(h.limits) - 1))]++;
  }
  if (h.count == 0) return {};
  trim(h);
  return h;
}

}  // namespace croze::logs
