// launch_timing.h -- how long each launch of a run takes, for whoever asks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace croze {

// Programs that ran together: one, or those of a sequence of nests.
struct LaunchTime {
  int launch = 0;      // of the schedule
  std::string kernel;  // their names, joined by " > "
  std::string device;
  double seconds = 0;
  std::int64_t flops = 0, bytes = 0;
};

// While it lives, each sequence of programs that this thread launches runs alone and is waited for,
// so that its time is its own.
class LaunchTiming {
 public:
  LaunchTiming();
  ~LaunchTiming();
  LaunchTiming(const LaunchTiming&) = delete;
  LaunchTiming& operator=(const LaunchTiming&) = delete;

  // In the order in which they ran.
  const std::vector<LaunchTime>& times() const { return times_; }

  // Of the calling thread, the last that was made; null if there is none.
  static LaunchTiming* current();
  void add(LaunchTime time) { times_.push_back(std::move(time)); }

 private:
  std::vector<LaunchTime> times_;
  LaunchTiming* around_;
};

}  // namespace croze
