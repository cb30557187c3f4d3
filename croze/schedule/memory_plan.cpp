// memory_plan.cpp -- best fit over lifetimes.
//
// A temporary lives from the step that writes it first to the step that reads it last.  Steps are
// walked in order; a temporary takes the smallest free gap that holds it, else the arena grows (by
// the gap at its end, if there is one, less).  Freed gaps merge with their neighbours.  Linear in
// the number of steps, and close to the lower bound (the most bytes alive at once), which is
// reported.
#include "schedule/memory_plan.h"

#include <algorithm>
#include <map>

namespace croze {
namespace {

class ArenaPlanner {
 public:
  explicit ArenaPlanner(std::int64_t alignment) : alignment_(alignment) {}

  std::int64_t take(std::int64_t bytes) {
    bytes = rounded(bytes);
    live_ += bytes;
    most_live_ = std::max(most_live_, live_);
    auto best = gaps_.end();
    for (auto it = gaps_.begin(); it != gaps_.end(); ++it) {
      if (it->second >= bytes && (best == gaps_.end() || it->second < best->second)) best = it;
    }
    if (best != gaps_.end()) return cut(best, bytes);
    if (!gaps_.empty()) {
      auto last = std::prev(gaps_.end());
      if (last->first + last->second == end_) {
        const std::int64_t offset = last->first;
        gaps_.erase(last);
        end_ = offset + bytes;
        return offset;
      }
    }
    end_ += bytes;
    return end_ - bytes;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    bytes = rounded(bytes);
    live_ -= bytes;
    auto it = gaps_.emplace(offset, bytes).first;
    if (auto next = std::next(it); next != gaps_.end() && offset + bytes == next->first) {
      it->second += next->second;
      gaps_.erase(next);
    }
    if (it == gaps_.begin()) return;
    if (auto before = std::prev(it); before->first + before->second == offset) {
      before->second += it->second;
      gaps_.erase(it);
    }
  }

  std::int64_t bytes() const { return end_; }
  std::int64_t lower_bound() const { return most_live_; }

 private:
  using Gaps = std::map<std::int64_t, std::int64_t>;  // offset -> bytes

  std::int64_t rounded(std::int64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  std::int64_t cut(Gaps::iterator gap, std::int64_t bytes) {
    const auto [offset, size] = *gap;
    gaps_.erase(gap);
    if (size > bytes) gaps_.emplace(offset + bytes, size - bytes);
    return offset;
  }

  std::int64_t alignment_;
  Gaps gaps_;
  std::int64_t end_ = 0, live_ = 0, most_live_ = 0;
};

}  // namespace

void plan_memory(Schedule& schedule, const ScheduleContext& context) {
  std::vector<int> last_use(schedule.buffers.size(), -1);
  for (std::size_t i = 0; i < schedule.steps.size(); i++) {
    for (int b : schedule.steps[i].buffers)
      last_use[static_cast<std::size_t>(b)] = static_cast<int>(i);
  }
  std::map<int, ArenaPlanner> arenas;
  for (std::size_t i = 0; i < schedule.steps.size(); i++) {
    std::vector<int> ending;
    for (int b : schedule.steps[i].buffers) {
      ScheduleBuffer& buffer = schedule.buffers[static_cast<std::size_t>(b)];
      if (buffer.kind != ScheduleBuffer::Kind::Temporary) continue;
      auto& arena =
          arenas.try_emplace(buffer.device, context.caps(buffer.device).alignment).first->second;
      if (buffer.arena_offset < 0) buffer.arena_offset = arena.take(buffer.bytes());
      const bool ends = last_use[static_cast<std::size_t>(b)] == static_cast<int>(i);
      if (ends && std::find(ending.begin(), ending.end(), b) == ending.end()) ending.push_back(b);
    }
    for (int b : ending) {
      const ScheduleBuffer& buffer = schedule.buffers[static_cast<std::size_t>(b)];
      arenas.at(buffer.device).give_back(buffer.arena_offset, buffer.bytes());
    }
  }
  for (const auto& [device, arena] : arenas) {
    schedule.arenas.push_back({device, arena.bytes(), arena.lower_bound()});
  }
}

}  // namespace croze
