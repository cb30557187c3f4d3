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
  }
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

std::vector<std::size_t> StepGraph::before(std::size_t step) const {
  std::vector<std::size_t> result;
  for (UOp state : steps_[step].reads) {
    result.insert(result.end(), makers(state).begin(), makers(state).end());
  }
  for (UOp state : steps_[step].writes) {
    std::ranges::copy_if(makers(state), std::back_inserter(result),
                         [&](std::size_t m) { return steps_[m].part < steps_[step].part; });
  }
  return result;
}

bool StepGraph::is_reached_otherwise(std::size_t producer, std::size_t consumer) const {
  std::set<std::size_t> seen{producer};
  std::vector<std::size_t> pending;
  for (std::size_t step : before(consumer)) {
    if (seen.insert(step).second) pending.push_back(step);
  }
  while (!pending.empty()) {
    const std::size_t step = pending.back();
    pending.pop_back();
    // What overwrites memory waits for the readers of what stood there.
    if (seen.size() > most_searched || steps_[step].supersedes) return true;
    for (std::size_t earlier : before(step)) {
      if (earlier == producer) return true;
      if (seen.insert(earlier).second) pending.push_back(earlier);
    }
  }
  return false;
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
    std::erase(to.reads, state);
    readers_[state.node()].erase(consumer);
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
  from = {};
}

}  // namespace croze
