// step_graph.h -- which steps make and read the states of a schedule, while steps are joined.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "croze/base/function_ref.h"
#include "croze/schedule/kernels.h"

namespace croze {

// Steps are known by their numbers.  One that has been joined to another is left empty, and that
// one is its home.
class StepGraph {
 public:
  // `results`: the roots of the schedule, which somebody wants whatever the steps read.
  StepGraph(std::vector<PendingStep>& steps, std::span<const UOp> results);

  // The step that has become of one: itself, or what it was joined to.
  std::size_t home_of(std::size_t step) const;

  // The steps that make a state, in no order; none for what came in.
  std::span<const std::size_t> makers(UOp state) const;
  const std::set<std::size_t>& readers(UOp state) const;

  // Whether anybody but the step wants the state.
  bool is_wanted_beside(UOp state, std::size_t reader) const;

  // Whether it is a root of the schedule.
  bool is_result(UOp state) const { return results_.contains(state.node()); }

  // Whether both make parts of one state, the first before the second.
  bool are_parts_of_one(std::size_t first, std::size_t second) const;

  // Whether `consumer` waits for `producer` through other steps, to read what they make or to
  // overwrite what they read: then they cannot be one.  True as well if the search takes too long.
  bool is_reached_otherwise(std::size_t producer, std::size_t consumer) const;

  // Whether `step` waits for `other`, by whatever way, or the search takes too long.
  bool waits(std::size_t step, std::size_t other) const;

  // Joins the reads and writes of `producer` to those of `consumer`.  What only the two want is no
  // state any more if `may_vanish` says so of its buffer.  The nests are the caller's affair.
  void join(std::size_t producer, std::size_t consumer, function_ref<bool(UOp)> may_vanish);

 private:
  bool is_reached(std::size_t producer, std::size_t consumer, bool at_once) const;

  std::vector<PendingStep>& steps_;
  std::vector<std::vector<std::size_t>> waits_for_;  // by step: others, some of them joined since
  std::vector<std::size_t> joined_to_;               // by step: itself if it has not been
  std::set<const Node*> results_;
  std::map<const Node*, std::vector<std::size_t>> makers_;
  std::map<const Node*, std::set<std::size_t>> readers_;
};

// The buffer that holds a state which a nest makes; null of any other.
ScheduleBuffer* buffer_of(UOp state, const StepGraph& states, std::span<const PendingStep> steps,
                          Schedule& schedule);

}  // namespace croze
