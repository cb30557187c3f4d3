// make_late.cpp -- decoded weights are made where they are used.
//
// A step that reads nothing but what came in could run at any time, so where order.cpp puts it says
// little: the weights of a language model, decoded for the products of thirty layers, may all come
// before the first of them.  As long as it has not run its room is free, and what it reads is there
// in any case.
#include "croze/schedule/memory/make_late.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/schedule/liveness.h"

namespace croze {
namespace {

using Numbers = std::vector<int>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

class Delayer {
 public:
  Delayer(const StepOrder& order, const Schedule& schedule)
      : live_(order, schedule), users_(order.steps.size()), right_before_(order.steps.size()) {
    for (std::size_t step = 0; step < users_.size(); step++) {
      for (int w : order.waits_for[step]) users_[index(w)].push_back(static_cast<int>(step));
    }
  }

  // The numbers of the steps in the new order; none if nothing moves.
  Numbers run() {
    Numbers places(
        users_.size());  // by step: the step that does not wait, at or before which it is
    bool moves = false;
    for (int step = static_cast<int>(users_.size()); step-- > 0;) {
      places[index(step)] = step;
      if (!can_wait(step)) continue;
      const int user = *std::ranges::min_element(users_[index(step)], {},
                                                 [&](int u) { return places[index(u)]; });
      places[index(step)] = places[index(user)];
      right_before_[index(user)].push_back(step);
      moves = moves || user != step + 1;
    }
    if (!moves) return {};
    Numbers order;
    for (int step = 0; step < static_cast<int>(users_.size()); step++) {
      if (places[index(step)] == step) add(step, order);
    }
    return order;
  }

 private:
  // Whether somebody waits for the step, and all temporaries that it uses are its own.
  bool can_wait(int step) const {
    const auto temporaries = live_.temporaries(step);
    return !users_[index(step)].empty() && !temporaries.empty() &&
           std::ranges::all_of(temporaries, [&](int b) { return live_.users(b).front() == step; });
  }

  // The step, before it those that have waited for it, and before each of these those that have
  // waited for that one.
  void add(int step, Numbers& order) const {
    Numbers pending{step}, reversed;
    while (!pending.empty()) {
      const int next = pending.back();
      pending.pop_back();
      reversed.push_back(next);
      const Numbers& waiting = right_before_[index(next)];  // the last one first
      pending.insert(pending.end(), waiting.rbegin(), waiting.rend());
    }
    order.insert(order.end(), reversed.rbegin(), reversed.rend());
  }

  Liveness live_;
  std::vector<Numbers> users_;         // by step: those that wait for it, in order
  std::vector<Numbers> right_before_;  // by step: those that have waited for it
};

}  // namespace

StepOrder make_late(StepOrder order, const Schedule& schedule) {
  const Numbers steps = Delayer(order, schedule).run();
  if (steps.empty()) return order;
  StepOrder late = in_order(order, steps);
  const bool better = most_bytes_alive(late, schedule) < most_bytes_alive(order, schedule);
  return better ? late : order;
}

}  // namespace croze
