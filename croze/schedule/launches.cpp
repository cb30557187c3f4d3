// launches.cpp -- steps that could run at once do: one launch for all of them.
//
// A launch costs microseconds, and at its end threads wait for the slowest of them.  Steps that
// wait for nothing of each other need neither: the gradients of a layer's weights and inputs, or
// the updates of all parameters, are loop nests of one kernel whose tasks threads take as they
// come.
//
// The steps come in an order that keeps few temporaries alive.  Time is cut into launches from the
// front: each takes the first step left and whatever else is ready, as long as
//
//   * no more bytes are alive than in the given order at its worst, so joining costs no memory;
//   * a step that would take memory long before its result is wanted is left for later: one that
//     needs more bytes than it sets free waits until its first user is due.
#include "croze/schedule/launches.h"

#include <algorithm>
#include <set>
#include <utility>

#include "croze/schedule/liveness.h"

namespace croze {
namespace {

using Numbers = std::vector<int>;

class Joiner {
 public:
  Joiner(StepOrder order, Schedule& schedule, const ScheduleContext& context)
      : order_(std::move(order)),
        schedule_(schedule),
        context_(context),
        live_(order_, schedule),
        users_(order_.steps.size()),
        waiting_(order_.steps.size(), 0) {
    for (std::size_t i = 0; i < order_.steps.size(); i++) {
      std::ranges::sort(order_.waits_for[i]);
      const auto repeated = std::ranges::unique(order_.waits_for[i]);
      order_.waits_for[i].erase(repeated.begin(), repeated.end());
      for (int w : order_.waits_for[i]) users_[static_cast<std::size_t>(w)].push_back(number(i));
      waiting_[i] = number(order_.waits_for[i].size());
      if (waiting_[i] == 0) ready_.insert(number(i));
    }
    find_due();
  }

  void run() {
    const std::int64_t most_bytes = most_bytes_alive(order_, schedule_);
    while (!ready_.empty()) launch(most_bytes);
  }

 private:
  static int number(std::size_t i) { return static_cast<int>(i); }

  // The last launch that leaves time for all that waits for a step, if each of these runs as early
  // as it can or is wanted.
  void find_due() {
    std::vector<int> earliest(order_.steps.size(), 0);
    for (std::size_t i = 0; i < earliest.size(); i++) {
      for (int w : order_.waits_for[i]) {
        earliest[i] = std::max(earliest[i], earliest[static_cast<std::size_t>(w)] + 1);
      }
    }
    due_ = std::move(earliest);
    for (std::size_t i = due_.size(); i-- > 0;) {
      if (users_[i].empty()) continue;
      due_[i] = INT32_MAX;
      for (int u : users_[i]) due_[i] = std::min(due_[i], due_[static_cast<std::size_t>(u)] - 1);
    }
  }

  // One launch: the first step left, and what can run beside it.
  void launch(std::int64_t most_bytes) {
    const auto first = static_cast<std::size_t>(*ready_.begin());
    live_.begin(number(first));
    Numbers chosen{number(first)};
    Numbers others = can_join(first) ? Numbers(std::next(ready_.begin()), ready_.end()) : Numbers();
    std::erase_if(others, [&](int other) {
      const auto i = static_cast<std::size_t>(other);
      return !can_join(i) || order_.steps[i][0].device != order_.steps[first][0].device;
    });
    // One that is chosen may be what the users of another still lack.
    for (std::size_t known = 0; known < chosen.size();) {
      known = chosen.size();
      std::erase_if(others, [&](int other) { return try_join(other, most_bytes, chosen); });
    }
    finish(chosen);
  }

  bool try_join(int other, std::int64_t most_bytes, Numbers& chosen) {
    const std::int64_t taken = live_.bytes_taken(other);
    if (live_.bytes() + taken > most_bytes) return false;
    if (taken > live_.bytes_freed(other)) {
      const auto i = static_cast<std::size_t>(other);
      if (due_[i] > launches_made_) return false;
      if (could_wait(i, taken) && !is_wanted_next(other, chosen)) return false;
    }
    live_.begin(other);
    chosen.push_back(other);
    return true;
  }

  // Whether the step reads nothing but what came in, and takes so much of the caches that waiting
  // is worth a launch of its own.
  bool could_wait(std::size_t i, std::int64_t bytes) const {
    const Caps& caps = context_.caps(order_.steps[i][0].device);
    return order_.waits_for[i].empty() && bytes > caps.l2_bytes / 4;
  }

  // Whether a user of the step waits for nothing that is not of the same launch.
  bool is_wanted_next(int step, const Numbers& chosen) const {
    const auto i = static_cast<std::size_t>(step);
    return users_[i].empty() || std::ranges::any_of(users_[i], [&](int u) {
             const Numbers& waits = order_.waits_for[static_cast<std::size_t>(u)];
             const auto now = std::ranges::count_if(waits, [&](int w) {
               return w == step || std::ranges::find(chosen, w) != chosen.end();
             });
             return waiting_[static_cast<std::size_t>(u)] == now;
           });
  }

  void finish(const Numbers& chosen) {
    const int first = number(schedule_.steps.size());
    for (int i : chosen) {
      const auto step = static_cast<std::size_t>(i);
      live_.end(i);
      ready_.erase(i);
      for (int u : users_[step]) {
        if (--waiting_[static_cast<std::size_t>(u)] == 0) ready_.insert(u);
      }
      for (ScheduleStep& s : order_.steps[step]) schedule_.steps.push_back(std::move(s));
    }
    schedule_.launches.push_back({first, number(schedule_.steps.size())});
    launches_made_++;
  }

  bool can_join(std::size_t i) const {
    const ScheduleStep& step = order_.steps[i][0];
    return step.kernel && context_.caps(step.device).joins_nests;
  }

  StepOrder order_;
  Schedule& schedule_;
  const ScheduleContext& context_;
  Liveness live_;
  std::vector<Numbers> users_;
  Numbers waiting_;  // for how many steps each step still waits
  Numbers due_;      // the launch after which each step's result is wanted
  std::set<int> ready_;
  int launches_made_ = 0;
};

}  // namespace

void join_launches(StepOrder order, Schedule& schedule, const ScheduleContext& context) {
  Joiner(std::move(order), schedule, context).run();
}

}  // namespace croze
