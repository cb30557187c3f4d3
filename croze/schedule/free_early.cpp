// free_early.cpp -- steps after which less is alive than before are moved to the front.
//
// order.cpp puts a step right before the first that waits for it.  That says nothing of steps that
// nobody waits for: the update of a weight, or its gradient if that is what was asked for, would
// run some time after the step that made its inputs, and these stay alive until then.
//
// Here the steps run in the given order, but whenever there are steps that are ready and set free
// more than they leave behind, the one that gains most goes first.  Such a step can still need
// room of its own before it gives back any, so the given order stays if it was the better one.
#include "croze/schedule/free_early.h"

#include <set>
#include <utility>
#include <vector>

#include "croze/schedule/liveness.h"

namespace croze {
namespace {

class Mover {
 public:
  Mover(const StepOrder& order, const Schedule& schedule)
      : live_(order, schedule), users_(order.steps.size()), growth_(order.steps.size(), 0) {
    for (const std::vector<int>& waits : order.waits_for) {
      const int step = static_cast<int>(waiting_.size());
      for (int w : waits) users_[index(w)].push_back(step);
      waiting_.push_back(static_cast<int>(waits.size()));
      if (waits.empty()) make_ready(step);
    }
  }

  std::vector<int> run() {
    std::vector<int> order;
    while (!ready_.empty()) {
      const bool frees = !freeing_.empty();
      order.push_back(frees ? freeing_.begin()->second : *ready_.begin());
      take(order.back());
    }
    return order;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void make_ready(int step) {
    ready_.insert(step);
    growth_[index(step)] = live_.growth(step);
    if (growth_[index(step)] < 0) freeing_.emplace(growth_[index(step)], step);
  }

  void take_from_ready(int step) {
    ready_.erase(step);
    freeing_.erase({growth_[index(step)], step});
  }

  void take(int step) {
    take_from_ready(step);
    live_.begin(step);
    live_.end(step);
    for (int u : users_[index(step)]) {
      if (--waiting_[index(u)] == 0) make_ready(u);
    }
    for (int b : live_.temporaries(step)) {
      const auto users = live_.users(b);
      // What its users would free changes with its first use, and when one use is left.
      const int left = live_.uses_left(b);
      if (left != 1 && left + 1 != static_cast<int>(users.size())) continue;
      for (int u : users) refresh(u);
    }
  }

  void refresh(int step) {
    if (!ready_.contains(step)) return;
    take_from_ready(step);
    make_ready(step);
  }

  Liveness live_;
  std::vector<std::vector<int>> users_;             // by step: those that wait for it
  std::vector<int> waiting_;                        // by step: for how many it still waits
  std::vector<std::int64_t> growth_;                // by step, when it was last looked at
  std::set<int> ready_;                             // in the given order
  std::set<std::pair<std::int64_t, int>> freeing_;  // those that are ready and shrink what is alive
};

}  // namespace

StepOrder free_early(StepOrder order, const Schedule& schedule) {
  StepOrder early = in_order(order, Mover(order, schedule).run());
  const bool better = most_bytes_alive(early, schedule) < most_bytes_alive(order, schedule);
  return better ? early : order;
}

}  // namespace croze
