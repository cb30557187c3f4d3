// estimate.cpp -- what a kernel does, in numbers.  Open loops count with the most that they turn.
#include "croze/codegen/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
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
        if (u.num_src() > 0) info.sizes.push_back(open_size(u));
      } else if (u.is(Op::Variable)) {
        info.num_variables = std::max(info.num_variables, static_cast<int>(u.slot()) + 1);
        narrow(&info.variables, u);
      } else if (is_arithmetic(u)) {
        info.flops = sum(info.flops, runs(u.ranges()));
      } else if (u.is(Op::Reduce) && is_float(u.dtype())) {
        info.flops = sum(info.flops, runs(u.ranges() | closed(u)));
      }
    }
    for (std::int64_t bytes : bytes_touched()) info.bytes = sum(info.bytes, bytes);
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
  static std::int64_t sum(std::int64_t a, std::int64_t b) {
    return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
  }

  static BufferSize open_size(UOp param) {
    return {static_cast<int>(param.slot()), LaunchSize::of(param.src(0) * size_of(param.dtype()))};
  }

  // One variable may stand in several nodes.
  static void narrow(std::vector<VariableBounds>* bounds, UOp variable) {
    const auto slot = static_cast<std::size_t>(variable.slot());
    if (slot >= bounds->size()) bounds->resize(slot + 1);
    VariableBounds& b = (*bounds)[slot];
    b.lo = std::max(b.lo, variable.lo());
    b.hi = std::min(b.hi, variable.hi());
  }

  std::int64_t runs(RangeSet set) const {
    std::vector<UOp> turned;
    std::ranges::copy_if(ranges_, std::back_inserter(turned),
                         [&](UOp r) { return set.contains(r.range_id()); });
    return iterations(turned);
  }

  static RangeSet closed(UOp u) {
    RangeSet set;
    for (UOp r : closed_ranges(u)) set = set | r.ranges();
    return set;
  }

  // Like "reduce_64_128_3x3": the sizes of the output loops, then of the reductions; "to64" is one
  // that is open.
  std::string name() const {
    std::string output, reduced;
    for (UOp r : ranges_) {
      const std::string_view to = r.is_open() ? "to" : "";
      if (r.loop_kind() == LoopKind::Reduce) {
        reduced += fmt::format("{}{}{}", reduced.empty() ? "_r" : "x", to, r.range_size());
      } else {
        output += fmt::format("_{}{}", to, r.range_size());
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

Launch launch_of(std::span<const UOp> loops, const ItemAxes& items) {
  Launch launch;
  int groups = 0;
  for (UOp r : loops) {
    if (r.loop_kind() == LoopKind::Thread) launch.tasks = LaunchSize::of(r.trip_count());
    if (r.loop_kind() == LoopKind::Group) {
      launch.groups[groups++] = LaunchSize::of(r.trip_count());
    }
  }
  for (std::size_t i = 0; i < items.axes.size(); i++) {
    launch.items[i] = items.axes[i].range_size();
  }
  return launch;
}

}  // namespace croze
