// scheduled.h -- small tensor graphs, scheduled and run on the interpreter, beside the reference.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/schedule/schedule.h"
#include "support/reference.h"
#include "support/schedule_runner.h"

namespace croze::test {

// A graph under test and the contents of its buffers.
class Scheduled {
 public:
  Graph graph;
  fuzz::ScheduleSettings settings{.memory_budget = 0, .recompute_percent = 0};

  // A buffer holding 0, 1, 2, ... (or these numbers), viewed in a shape.
  UOp buffer(std::vector<std::int64_t> shape, DType t = DType::Float32);
  UOp buffer(const std::vector<double>& numbers, std::vector<std::int64_t> shape, DType t);

  UOp flip(UOp x, std::vector<std::int64_t> axes) { return move(Op::Flip, x, std::move(axes)); }
  UOp reshape(UOp x, std::vector<std::int64_t> to) { return move(Op::Reshape, x, std::move(to)); }
  UOp expand(UOp x, std::vector<std::int64_t> to) { return move(Op::Expand, x, std::move(to)); }
  UOp shrink(UOp x, std::vector<std::int64_t> at) { return move(Op::Shrink, x, std::move(at)); }
  UOp move(Op op, UOp x, const std::vector<std::int64_t>& arg) {
    return graph.movement(op, x, arg);
  }
  UOp reduce(Op op, UOp x, std::vector<std::int64_t> axes) {
    return graph.reduce_axes(op, x, axes);
  }
  UOp contiguous(UOp x) { return graph.make(Op::Contiguous, x.dtype(), {x}); }
  // The whole of the buffer under `view` once `value` stands in `view`, which is made from `state`.
  UOp assign(UOp state, UOp view, UOp value);

  explicit Scheduled(Caps caps = cpu_shaped_caps()) : caps_(std::move(caps)) {}

  // Schedules for a machine with vectors and two threads, unless told of another one.
  Schedule schedule(std::span<const UOp> roots);
  Schedule schedule(std::initializer_list<UOp> roots) {
    return schedule(std::span(roots.begin(), roots.size()));
  }

  // Runs the roots, scheduled and read from the bytes of the schedule, and compares each with the
  // reference.  A root that is an After is read from its buffer.  Results are equal, or within such
  // a part of what is right.  Returns the schedule.
  Schedule expect_right(std::initializer_list<UOp> roots, double tolerance = 0);

 private:
  Caps caps_;
  Reference reference_;
  std::vector<std::vector<double>> contents_;  // by buffer id
};

// Loop iterations of all kernels together.
std::int64_t work_of(const Schedule& schedule);

}  // namespace croze::test
