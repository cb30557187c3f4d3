// launch_list.h -- internal to run/: the launches of a schedule, bound to memory.
//
// Most of what describes a launch is the same in each run of a plan, and so is most of its memory:
// a captured step that is replayed reads the same weights.  So a plan keeps the lists that its runs
// have made, and the next run changes what is another one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "croze/device/device.h"
#include "croze/run/programs.h"
#include "croze/schedule/schedule.h"

namespace croze {

class LaunchList {
 public:
  // `programs`: one per step, null for a copy; schedule and programs must outlive the list.
  LaunchList(const Schedule& schedule,
             std::span<const std::shared_ptr<const LoadedProgram>> programs);
  LaunchList(const LaunchList&) = delete;
  LaunchList& operator=(const LaunchList&) = delete;

  // `views`: one per buffer of the schedule; `variables`: the numbers that are passed.  Throws
  // Error as check_launch() does, and then has to be bound again.
  void bind(std::span<const MemoryView> views, std::span<const std::int64_t> variables);

  // One per launch of the schedule; a copy has no sequences.
  std::span<const BoundLaunch> launches() const { return launches_; }

 private:
  // Where a buffer or a variable of the schedule stands.
  struct Use {
    std::size_t number;       // of the buffer or the variable
    std::size_t place;        // in buffers_, or in variables_
    std::size_t launch;       // of the schedule
    std::int64_t offset = 0;  // of a buffer: where its part begins
  };
  // By number.
  class Uses {
   public:
    void add(const Use& use) { uses_.push_back(use); }
    // When all are there, of so many buffers or variables.
    void sort(std::size_t numbers);
    std::span<const Use> of(std::size_t number) const {
      return std::span(uses_).subspan(begin_[number], begin_[number + 1] - begin_[number]);
    }

   private:
    std::vector<Use> uses_;
    std::vector<std::size_t> begin_;
  };
  using Programs = std::span<const std::shared_ptr<const LoadedProgram>>;

  void reserve(const Schedule& schedule);
  void add(const Schedule& schedule, const ScheduleLaunch& launch, Programs programs);
  void add(const Schedule& schedule, const ScheduleChain& chain, Programs programs);
  void bind_buffer(std::size_t buffer, const MemoryView& view);
  void check_changed();

  std::vector<Device*> devices_;  // of the buffers
  Uses buffer_uses_, variable_uses_;

  // What is bound.
  bool is_bound_ = false;
  std::vector<MemoryView> views_;
  std::vector<std::int64_t> given_;

  // What the launches point into.
  std::vector<MemoryView> buffers_;
  std::vector<void*> addresses_;  // of these
  std::vector<std::int64_t> variables_;
  std::vector<Nest> nests_;
  std::vector<Sequence> sequences_;
  std::vector<BoundLaunch> launches_;
  std::vector<bool> is_changed_;  // by launch: since its arguments were checked
};

// The last list that a run has given back: one is enough, since runs that go on at once are rare.
class KeptLaunchLists {
 public:
  // Null if there is none.
  std::unique_ptr<LaunchList> take();
  void give_back(std::unique_ptr<LaunchList> list);

 private:
  std::mutex mutex_;
  std::unique_ptr<LaunchList> list_;
};

}  // namespace croze
