// estimate.cpp -- what a kernel does, in numbers.
#include "croze/codegen/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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
    for (UOp u : order_) {
      if (u.is(Op::Param)) {
        info.num_buffers = std::max(info.num_buffers, static_cast<int>(u.slot()) + 1);
      } else if (u.is(Op::Variable)) {
        info.num_variables = std::max(info.num_variables, static_cast<int>(u.slot()) + 1);
      } else if (is_arithmetic(u)) {
        info.flops += runs(u.ranges());
      } else if (u.is(Op::Reduce) && is_float(u.dtype())) {
        info.flops += runs(u.ranges() | closed(u));
      }
    }
    for (std::int64_t bytes : bytes_touched()) info.bytes += bytes;
    info.name = name();
    return info;
  }

  std::vector<std::int64_t> bytes_touched() const {
    std::vector<std::int64_t> elements, bytes;  // by parameter slot
    for (UOp u : order_) {
      if (!u.is(Op::Index)) continue;
      const auto slot = static_cast<std::size_t>(u.src(0).slot());
      if (slot >= bytes.size()) {
        elements.resize(slot + 1);
        bytes.resize(slot + 1);
      }
      elements[slot] = std::min(std::max(elements[slot], runs(u.ranges())), u.src(0).elements());
      bytes[slot] = elements[slot] * size_of(u.dtype());
    }
    return bytes;
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
};

}  // namespace

ProgramInfo estimate(UOp sink) { return Estimator(sink).run(); }

std::vector<std::int64_t> bytes_touched(UOp sink) { return Estimator(sink).bytes_touched(); }

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
