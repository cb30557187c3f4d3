// step_graph.cpp -- makers and readers of states.
#include "croze/schedule/step_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace croze {
namespace {

constexpr std::size_t most_searched = 4096;  // steps between two that may be joined

void add_once(std::vector<UOp>& list, UOp u) {
  if (std::ranges::find(list, u) == list.end()) list.push_back(u);
}

}  // namespace

StepGraph::StepGraph(std::vector<PendingStep>& steps, std::span<const UOp> results)
    : steps_(steps) {
  for (UOp r : results) results_.insert(r.node());
  for (std::size_t i = 0; i < steps_.size(); i++) {
    for (UOp w : steps_[i].writes) makers_[w.node()].push_back(i);
    for (UOp r : steps_[i].reads) readers_[r.node()].insert(i);
    joined_to_.push_back(i);
  }
  for (const PendingStep& step : steps_) {
    std::vector<std::size_t>& before = waits_for_.emplace_back();
    for (UOp state : step.reads) {
      // An After whose stores had size 0 has no makers: what it was before is read.
      while (state.is(Op::After) && makers(state).empty()) state = state.src(0);
      std::ranges::copy(makers(state), std::back_inserter(before));
    }
    for (UOp w : step.writes) {
      std::ranges::copy_if(makers(w), std::back_inserter(before),
                           [&](std::size_t m) { return steps_[m].part < step.part; });
    }
  }
}

std::size_t StepGraph::home_of(std::size_t step) const {
  while (joined_to_[step] != step) step = joined_to_[step];
  return step;
}

std::span<const std::size_t> StepGraph::makers(UOp state) const {
  const auto found = makers_.find(state.node());
  return found == makers_.end() ? std::span<const std::size_t>() : found->second;
}

const std::set<std::size_t>& StepGraph::readers(UOp state) const {
  static const std::set<std::size_t> none;
  const auto found = readers_.find(state.node());
  return found == readers_.end() ? none : found->second;
}

bool StepGraph::is_wanted_beside(UOp state, std::size_t reader) const {
  return results_.contains(state.node()) ||
         std::ranges::any_of(readers(state), [&](std::size_t r) { return r != reader; });
}

bool StepGraph::are_parts_of_one(std::size_t first, std::size_t second) const {
  return steps_[first].part < steps_[second].part &&
         std::ranges::any_of(steps_[second].writes, [&](UOp state) {
           return std::ranges::find(makers(state), first) != makers(state).end();
         });
}

bool StepGraph::is_reached_otherwise(std::size_t producer, std::size_t consumer) const {
  return is_reached(producer, consumer, false);
}

bool StepGraph::waits(std::size_t step, std::size_t other) const {
  return is_reached(other, step, true);
}

// `at_once`: counts, too, what the consumer has of the producer itself.
bool StepGraph::is_reached(std::size_t producer, std::size_t consumer, bool at_once) const {
  std::vector<bool> seen(steps_.size(), false);
  std::vector<std::size_t> pending;
  const auto find = [&](std::size_t step) {
    if (!seen[step]) pending.push_back(step);
    seen[step] = true;
  };
  seen[consumer] = true;
  seen[producer] = !at_once;
  for (std::size_t step : waits_for_[consumer]) find(home_of(step));
  if (at_once && seen[producer]) return true;
  seen[producer] = false;
  // What overwrites memory waits for all who make or read what stood there.
  const auto find_overwritten = [&](std::size_t step) {
    const UOp before = steps_[step].supersedes;
    if (!before) return;
    for (std::size_t s : makers(before)) find(home_of(s));
    for (std::size_t s : readers(before)) find(home_of(s));
  };
  find_overwritten(consumer);
  for (std::size_t i = 0; i < pending.size() && !seen[producer]; i++) {
    if (i == most_searched) return true;
    for (std::size_t step : waits_for_[pending[i]]) find(home_of(step));
    find_overwritten(pending[i]);
  }
  return seen[producer];
}

void StepGraph::join(std::size_t producer, std::size_t consumer,
                     function_ref<bool(UOp)> may_vanish) {
  PendingStep& from = steps_[producer];
  PendingStep& to = steps_[consumer];
  std::ptrdiff_t kept = 0;
  for (std::size_t i = 0; i < from.writes.size(); i++) {
    const UOp state = from.writes[i];
    std::vector<std::size_t>& makers = makers_[state.node()];
    std::erase(makers, producer);
    // Of memory that is assigned to in part the rest may be read: that must not be overwritten yet.
    if (!is_state(state)) {
      std::erase(to.reads, state);
      readers_[state.node()].erase(consumer);
    }
    const bool made_by_both = std::ranges::find(to.writes, state) != to.writes.end();
    if (made_by_both || (may_vanish(from.outputs[i]) && !is_wanted_beside(state, consumer)))
      continue;
    makers.push_back(consumer);
    to.writes.insert(to.writes.begin() + kept, state);
    to.outputs.insert(to.outputs.begin() + kept++, from.outputs[i]);
  }
  for (UOp state : from.reads) {
    readers_[state.node()].erase(producer);
    readers_[state.node()].insert(consumer);
    add_once(to.reads, state);
  }
  joined_to_[producer] = consumer;
  std::vector<std::size_t>& before = waits_for_[consumer];
  std::ranges::copy(waits_for_[producer], std::back_inserter(before));
  for (std::size_t& step : before) step = home_of(step);
  std::ranges::sort(before);
  const auto repeated = std::ranges::unique(before);
  before.erase(repeated.begin(), repeated.end());
  std::erase(before, consumer);
  from = {};
}

ScheduleBuffer* buffer_of(UOp state, const StepGraph& states, std::span<const PendingStep> steps,
                          Schedule& schedule) {
  const auto makers = states.makers(state);
  if (makers.empty()) return nullptr;
  const PendingStep& maker = steps[makers[0]];
  const auto at =
      static_cast<std::size_t>(std::ranges::find(maker.writes, state) - maker.writes.begin());
  if (at >= maker.outputs.size()) return nullptr;
  return &schedule.buffers[static_cast<std::size_t>(maker.outputs[at].buffer_id())];
}

}  // namespace croze
