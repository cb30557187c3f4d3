// run_trace.h -- internal to run/: tells the trace of a run and of its launches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "croze/run/plan.h"
#include "croze/run/trace/recorder.h"

namespace croze::tracing {

// While it lives, a plan is launched.  Where nobody traces it does nothing.
class RunTrace {
 public:
  RunTrace(const std::shared_ptr<const PreparedRun::Plan>& plan, std::vector<std::int64_t> arenas,
           std::vector<traces::RunResult> results);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  bool is_on() const { return serial_ != 0; }
  // A launch of the schedule was at work from `start` to `end`.
  void launched(int launch, int device, Clock::time_point start, Clock::time_point end) const;

 private:
  std::uint64_t serial_ = 0;  // of the trace
  traces::Number run_ = 0;
  Clock::time_point start_;
};

}  // namespace croze::tracing
