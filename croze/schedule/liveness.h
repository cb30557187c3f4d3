// liveness.h -- which temporaries are alive as the steps of an order run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "croze/schedule/order.h"
#include "croze/schedule/schedule.h"

namespace croze {

// Steps are known by their numbers in the order, and run in any order that they are told to.  A
// temporary comes to life when a step that uses it begins, and dies when the last one ends.
class Liveness {
 public:
  Liveness(const StepOrder& order, const Schedule& schedule);

  // The temporaries of a step, each once.
  std::span<const int> temporaries(int step) const { return used_[index(step)]; }
  // The steps that use a temporary.
  std::span<const int> users(int buffer) const { return users_[index(buffer)]; }
  // Of the users of a temporary, those that have not ended.
  int uses_left(int buffer) const { return uses_left_[index(buffer)]; }

  // What a step would add while it runs, and what of that which is alive it would set free.
  std::int64_t bytes_taken(int step) const;
  std::int64_t bytes_freed(int step) const;
  // By how much more would be alive after the step than now.
  std::int64_t growth(int step) const;

  void begin(int step);
  void end(int step);

  std::int64_t bytes() const { return bytes_; }
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  std::vector<std::int64_t> bytes_of_;   // by buffer
  std::vector<std::vector<int>> used_;   // by step
  std::vector<std::vector<int>> users_;  // by buffer
  std::vector<int> uses_left_;           // by buffer
  std::vector<bool> alive_;              // by buffer
  std::int64_t bytes_ = 0, most_bytes_ = 0;
};

// The most bytes alive at once if the steps run one by one as they are ordered.
std::int64_t most_bytes_alive(const StepOrder& order, const Schedule& schedule);

}  // namespace croze
