// memory_plan.cpp -- best fit over lifetimes.
//
// A temporary lives from the launch that writes it first to the one that reads it last.  Launches
// are walked in order; a temporary takes the smallest free gap that holds it, else the arena grows
// (by the gap at its end, if there is one, less).  Freed gaps merge with their neighbours.  Linear
// in the number of steps, and close to the lower bound (the most bytes alive at once), which is
// reported.
#include "croze/schedule/memory_plan.h"

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

namespace {

// The buffers of a kind that some steps use, each once.
std::vector<int> used_by(const Schedule& schedule, int first, int last, ScheduleBuffer::Kind kind) {
  std::vector<int> result;
  for (int i = first; i < last; i++) {
    for (int b : schedule.steps[static_cast<std::size_t>(i)].buffers) {
      if (schedule.buffers[static_cast<std::size_t>(b)].kind != kind) continue;
      if (std::ranges::find(result, b) == result.end()) result.push_back(b);
    }
  }
  return result;
}

// A place for each buffer: used[t] are those in use at time t.  Each lives from its first time to
// its last.
class Lifetimes {
 public:
  Lifetimes(Schedule& schedule, const ScheduleContext& context)
      : schedule_(schedule), context_(context), last_use_(schedule.buffers.size()) {}

  // By device.
  std::map<int, ArenaPlanner> place(const std::vector<std::vector<int>>& used) {
    for (std::size_t t = 0; t < used.size(); t++) {
      for (int b : used[t]) last_use_[static_cast<std::size_t>(b)] = t;
    }
    std::map<int, ArenaPlanner> arenas;
    for (std::size_t t = 0; t < used.size(); t++) {
      for (int b : used[t]) {
        ScheduleBuffer& buffer = schedule_.buffers[static_cast<std::size_t>(b)];
        const std::int64_t alignment = context_.caps(buffer.device).alignment;
        auto& arena = arenas.try_emplace(buffer.device, alignment).first->second;
        if (buffer.arena_offset < 0) buffer.arena_offset = arena.take(buffer.bytes());
      }
      for (int b : used[t]) {
        const ScheduleBuffer& buffer = schedule_.buffers[static_cast<std::size_t>(b)];
        if (last_use_[static_cast<std::size_t>(b)] != t) continue;
        arenas.at(buffer.device).give_back(buffer.arena_offset, buffer.bytes());
      }
    }
    return arenas;
  }

 private:
  Schedule& schedule_;
  const ScheduleContext& context_;
  std::vector<std::size_t> last_use_;
};

// What the nests of each sequence pass to each other, in the memory of a block.
void plan_blocks(Schedule& schedule, const ScheduleContext& context) {
  std::vector<std::vector<std::vector<int>>> used(schedule.sequences.size());
  for (int i = 0; i < static_cast<int>(schedule.steps.size()); i++) {
    const int sequence = schedule.steps[static_cast<std::size_t>(i)].sequence;
    if (sequence < 0) continue;
    used[static_cast<std::size_t>(sequence)].push_back(
        used_by(schedule, i, i + 1, ScheduleBuffer::Kind::Block));
  }
  for (std::size_t i = 0; i < used.size(); i++) {
    for (const auto& [device, arena] : Lifetimes(schedule, context).place(used[i])) {
      schedule.sequences[i].block_bytes = arena.bytes();
    }
  }
}

}  // namespace

void plan_memory(Schedule& schedule, const ScheduleContext& context) {
  std::vector<std::vector<int>> used;  // by launch
  for (const ScheduleLaunch& launch : schedule.launches) {
    used.push_back(used_by(schedule, launch.first, launch.last, ScheduleBuffer::Kind::Temporary));
  }
  for (const auto& [device, arena] : Lifetimes(schedule, context).place(used)) {
    schedule.arenas.push_back({device, arena.bytes(), arena.lower_bound()});
  }
  plan_blocks(schedule, context);
}

}  // namespace croze
