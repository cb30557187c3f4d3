// order.cpp -- the order of kernels and copies.
#include "croze/schedule/order.h"

#include <algorithm>
#include <unordered_map>

#include "croze/base/error.h"
#include "croze/schedule/memory/memory_order.h"

namespace croze {
namespace {

using Indices = std::vector<int>;
using StepsOf = std::unordered_map<const Node*, Indices>;

class Orderer {
 public:
  explicit Orderer(std::vector<PendingStep> steps)
      : steps_(std::move(steps)), memory_(memory_waits(steps_)), state_(steps_.size(), New) {
    for (std::size_t i = 0; i < steps_.size(); i++) {
      for (UOp state : steps_[i].writes) makers_[state.node()].push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < steps_.size(); i++) find_dependencies(static_cast<int>(i));
  }

  StepOrder order() {
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (!visit(static_cast<int>(i))) return {{}, {}, blocking_state()};
    }
    return ordered();
  }

 private:
  enum State : char { New, Open, Done };

  void wait_for_makers(UOp state, Indices& out) const {
    const auto it = makers_.find(state.node());
    if (it != makers_.end()) out.insert(out.end(), it->second.begin(), it->second.end());
  }

  // What memory is overwritten has been seen to.
  void find_dependencies(int i) {
    const PendingStep& step = steps_[static_cast<std::size_t>(i)];
    Indices& waits = waits_for_[static_cast<std::size_t>(i)];
    for (UOp state : step.reads) {
      const bool is_own = std::ranges::find(step.writes, state) != step.writes.end();
      if (!is_own && !is_state(state)) wait_for_makers(state, waits);
    }
    for (UOp state : step.writes) {
      if (is_state(state)) continue;
      for (int other : makers_[state.node()]) {
        if (steps_[static_cast<std::size_t>(other)].part < step.part) waits.push_back(other);
      }
    }
    std::erase(waits, i);
  }

  // Depth first: what a step waits for comes right before it.  False if steps wait for each other.
  bool visit(int root) {
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const auto i = static_cast<std::size_t>(stack.back());
      if (state_[i] == Done) {
        stack.pop_back();
        continue;
      }
      const bool again = state_[i] == Open;
      state_[i] = Open;
      bool ready = true;
      for (int w : waits_for_[i]) {
        if (state_[static_cast<std::size_t>(w)] == Done) continue;
        if (again) return false;
        stack.push_back(w);
        ready = false;
      }
      if (!ready) continue;
      state_[i] = Done;
      order_.push_back(static_cast<int>(i));
      stack.pop_back();
    }
    return true;
  }

  StepOrder ordered() {
    std::vector<int> position(steps_.size());
    for (std::size_t p = 0; p < order_.size(); p++) {
      position[static_cast<std::size_t>(order_[p])] = static_cast<int>(p);
    }
    StepOrder result;
    for (int i : order_) {
      result.steps.push_back(std::move(steps_[static_cast<std::size_t>(i)].steps));
      Indices& waits = result.waits_for.emplace_back();
      for (int w : waits_for_[static_cast<std::size_t>(i)]) {
        waits.push_back(position[static_cast<std::size_t>(w)]);
      }
    }
    return result;
  }

  // Values are made from older ones, so a circle holds a write that waits for a reader of what it
  // overwrites.  A step that copies a state into a Buffer is none to blame.
  UOp blocking_state() const {
    for (const auto& [writer, reader, state] : memory_.overwrites) {
      if (is_snapshot(steps_[static_cast<std::size_t>(reader)])) continue;
      if (waits(reader, writer)) return state;
    }
    fail_internal({}, "the steps of a schedule wait for each other");
  }

  // Whether `step` waits for `other`, through any number of steps.
  bool waits(int step, int other) const {
    std::vector<bool> seen(steps_.size(), false);
    std::vector<int> stack{step};
    while (!stack.empty()) {
      const auto i = static_cast<std::size_t>(stack.back());
      stack.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      if (static_cast<int>(i) == other) return true;
      stack.insert(stack.end(), waits_for_[i].begin(), waits_for_[i].end());
    }
    return false;
  }

  std::vector<PendingStep> steps_;
  MemoryWaits memory_;
  std::vector<Indices>& waits_for_ = memory_.waits_for;
  StepsOf makers_;
  std::vector<State> state_;
  std::vector<int> order_;
};

}  // namespace

StepOrder order_steps(std::vector<PendingStep> steps) { return Orderer(std::move(steps)).order(); }

StepOrder in_order(const StepOrder& order, std::span<const int> steps) {
  std::vector<int> places(steps.size());
  for (std::size_t i = 0; i < steps.size(); i++) {
    places[static_cast<std::size_t>(steps[i])] = static_cast<int>(i);
  }
  StepOrder result;
  for (int step : steps) {
    result.steps.push_back(order.steps[static_cast<std::size_t>(step)]);
    std::vector<int>& waits = result.waits_for.emplace_back();
    for (int w : order.waits_for[static_cast<std::size_t>(step)]) {
      waits.push_back(places[static_cast<std::size_t>(w)]);
    }
  }
  return result;
}

}  // namespace croze
