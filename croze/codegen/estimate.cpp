// estimate.cpp -- what a kernel does, in numbers.
#include "croze/codegen/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

bool is_arithmetic(UOp u) {
  return is_elementwise(u.op()) && u.num_src() > 0 && is_float(u.dtype()) && !u.is(Op::Cast) &&
         !u.is(Op::Bitcast) && !u.is(Op::Where);
}

class Estimator {
 public:
  explicit Estimator(UOp sink) : order_(toposort(sink)) {
    for (UOp u : order_) {
      if (u.is(Op::Range)) ranges_.push_back(u);
    }
  }

  ProgramInfo run() {
    ProgramInfo info;
    std::unordered_map<std::int64_t, std::int64_t> touched;  // elements, by parameter slot
    for (UOp u : order_) {
      if (u.is(Op::Param)) {
        info.num_buffers = std::max(info.num_buffers, static_cast<int>(u.slot()) + 1);
      } else if (u.is(Op::Variable)) {
        info.num_variables = std::max(info.num_variables, static_cast<int>(u.slot()) + 1);
      } else if (is_arithmetic(u)) {
        info.flops += runs(u.ranges());
      } else if (u.is(Op::Reduce) && is_float(u.dtype())) {
        info.flops += runs(u.ranges() | closed(u));
      } else if (u.is(Op::Index)) {
        const std::int64_t slot = u.src(0).slot();
        touched[slot] = std::min(std::max(touched[slot], runs(u.ranges())), u.src(0).elements());
        bytes_[slot] = touched[slot] * size_of(u.dtype());
      }
    }
    for (const auto& [slot, bytes] : bytes_) info.bytes += bytes;
    info.name = name();
    return info;
  }

 private:
  std::int64_t runs(RangeSet set) const {
    std::int64_t n = 1;
    for (UOp r : ranges_) {
      if (set.contains(r.range_id())) n *= r.range_size();
    }
    return n;
  }

  static RangeSet closed(UOp u) {
    RangeSet set;
    for (UOp r : closed_ranges(u)) set = set | r.ranges();
    return set;
  }

  // Like "reduce_64_128_3x3": the sizes of the output loops, then of the reductions.
  std::string name() const {
    std::string output, reduced;
    for (UOp r : ranges_) {
      if (r.loop_kind() == LoopKind::Reduce) {
        reduced += fmt::format("{}{}", reduced.empty() ? "_r" : "x", r.range_size());
      } else {
        output += fmt::format("_{}", r.range_size());
      }
    }
    return (reduced.empty() ? "map" : "reduce") + output + reduced;
  }

  std::vector<UOp> order_;
  std::vector<UOp> ranges_;
  std::unordered_map<std::int64_t, std::int64_t> bytes_;
};

}  // namespace

ProgramInfo estimate(UOp sink) { return Estimator(sink).run(); }

Launch launch_of(std::span<const UOp> loops) {
  Launch launch;
  int groups = 0, items = 0;
  for (UOp r : loops) {
    if (r.loop_kind() == LoopKind::Thread) launch.tasks *= r.range_size();
    if (r.loop_kind() == LoopKind::Group) launch.groups[groups++] = r.range_size();
    if (r.loop_kind() == LoopKind::Item) launch.items[items++] = r.range_size();
  }
  return launch;
}

}  // namespace croze
