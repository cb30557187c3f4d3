// liveness.cpp -- counts the uses that are left of each temporary.
#include "croze/schedule/liveness.h"

#include <algorithm>

namespace croze {

Liveness::Liveness(const StepOrder& order, const Schedule& schedule)
    : users_(schedule.buffers.size()), alive_(schedule.buffers.size(), false) {
  for (const ScheduleBuffer& buffer : schedule.buffers) bytes_of_.push_back(buffer.bytes());
  for (const std::vector<ScheduleStep>& together : order.steps) {
    const int step = static_cast<int>(used_.size());
    std::vector<int>& used = used_.emplace_back();
    for (const ScheduleStep& s : together) {
      for (int b : s.buffers) {
        std::vector<int>& users = users_[index(b)];
        if (schedule.buffers[index(b)].kind != ScheduleBuffer::Kind::Temporary) continue;
        if (!users.empty() && users.back() == step) continue;
        users.push_back(step);
        used.push_back(b);
      }
    }
  }
  for (const std::vector<int>& users : users_) {
    uses_left_.push_back(static_cast<int>(users.size()));
  }
}

std::int64_t Liveness::bytes_taken(int step) const {
  std::int64_t bytes = 0;
  for (int b : temporaries(step)) bytes += alive_[index(b)] ? 0 : bytes_of_[index(b)];
  return bytes;
}

std::int64_t Liveness::bytes_freed(int step) const {
  std::int64_t bytes = 0;
  for (int b : temporaries(step)) {
    if (alive_[index(b)] && uses_left(b) == 1) bytes += bytes_of_[index(b)];
  }
  return bytes;
}

std::int64_t Liveness::growth(int step) const {
  std::int64_t bytes = 0;
  for (int b : temporaries(step)) {
    bytes += ((uses_left(b) > 1 ? 1 : 0) - (alive_[index(b)] ? 1 : 0)) * bytes_of_[index(b)];
  }
  return bytes;
}

void Liveness::begin(int step) {
  bytes_ += bytes_taken(step);
  for (int b : temporaries(step)) alive_[index(b)] = true;
  most_bytes_ = std::max(most_bytes_, bytes_);
}

void Liveness::end(int step) {
  for (int b : temporaries(step)) {
    if (--uses_left_[index(b)] > 0) continue;
    alive_[index(b)] = false;
    bytes_ -= bytes_of_[index(b)];
  }
}

std::int64_t most_bytes_alive(const StepOrder& order, const Schedule& schedule) {
  Liveness live(order, schedule);
  for (int step = 0; step < static_cast<int>(order.steps.size()); step++) {
    live.begin(step);
    live.end(step);
  }
  return live.most_bytes();
}

}  // namespace croze
