#include "croze/run/trace/kernel_samples.h"

#include <iterator>
#include <utility>

namespace croze::tracing {
namespace {

constexpr std::size_t max_codes = 1 << 16;
constexpr std::size_t max_places = 1 << 18;
constexpr auto between_collects = std::chrono::milliseconds(20);

}  // namespace

// Code whose program is gone stands here until other code takes its place.
void KernelSamples::add(traces::Number kernel, std::span<const std::byte> code) {
  if (code.empty()) return;
  collect();  // what was seen there is of the code before
  const auto begin = reinterpret_cast<std::uintptr_t>(code.data());
  const std::uintptr_t end = begin + code.size();
  auto first = codes_.upper_bound(begin);
  if (first != codes_.begin() && std::prev(first)->second.end > begin) --first;
  codes_.erase(first, codes_.lower_bound(end));
  if (codes_.size() >= max_codes) codes_.clear();
  codes_[begin] = {end, kernel};
}

void KernelSamples::collect() {
  sampler_.take([&](std::uintptr_t address) {
    const auto after = codes_.upper_bound(address);
    if (after == codes_.begin()) return;
    const auto& [begin, code] = *std::prev(after);
    if (address >= code.end || counts_.size() >= max_places) return;
    counts_[{code.kernel, static_cast<std::int64_t>(address - begin)}]++;
  });
  sampler_.find_threads();
}

void KernelSamples::collect_now_and_then(Clock::time_point now) {
  if (now - last_collect_ < between_collects) return;
  last_collect_ = now;
  collect();
}

void KernelSamples::write(traces::Writer& writer) {
  collect();
  traces::Samples samples;
  for (auto place = counts_.begin(); place != counts_.end();) {
    samples.kernel = place->first.first;
    samples.places.push_back({place->first.second, place->second});
    ++place;
    if (place != counts_.end() && place->first.first == samples.kernel) continue;
    writer.add(std::exchange(samples, {}));
  }
  counts_.clear();
}

}  // namespace croze::tracing
