// access.cpp -- how a kernel touches memory.
#include "croze/codegen/choose/access.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ranges>

#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {

Along along(UOp place, UOp range) {
  if (!place.src(1).varies_over(range)) return Along::Still;
  const Stride s = stride_over(place.src(1), range);
  return s.affine && s.step == 1 ? Along::Contiguous : Along::Strided;
}

bool follows(UOp place, UOp range) {
  constexpr std::int64_t line_bytes = 64, least_in_line = 4;
  const Stride s = stride_over(place.src(1), range);
  return s.affine && s.step != 0 &&
         std::abs(s.step) * size_of(place.dtype()) * least_in_line <= line_bytes;
}

std::int64_t far_steps(UOp place, std::span<const UOp> loops) {
  std::int64_t steps = 1;
  for (UOp r : loops) {
    const Stride s = stride_over(place.src(1), r);
    const bool is_near = s.affine && s.step * size_of(place.dtype()) < MachineModel::far_bytes;
    if (!is_near) steps *= r.range_size();
  }
  return steps;
}

bool is_in_one_piece(UOp load, std::span<const UOp> loops) {
  const UOp place = load.src(0);
  std::int64_t apart = 1;
  for (UOp r : loops | std::views::reverse) {
    const Stride s = stride_over(place.src(1), r);
    if (!s.affine || s.step != apart) return false;
    apart *= r.range_size();
  }
  return place.num_src() == 2;
}

bool chooses_vectors(UOp value, UOp lane) {
  return std::ranges::any_of(toposort(value), [&](UOp u) {
    return u.is(Op::Where) && u.varies_over(lane) && !u.src(0).varies_over(lane);
  });
}

std::int64_t widest_bytes(UOp sink) {
  std::int64_t widest = 1;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Param) || u.ranges().empty()) continue;  // what is the same for all is no vector
    widest = std::max(widest, size_of(u.dtype()));
  }
  return widest;
}

namespace {

std::int64_t lanes_of(std::int64_t bytes, const Caps& caps) {
  return std::max<std::int64_t>(1, caps.vector_bytes / std::max<std::int64_t>(4, bytes));
}

}  // namespace

std::int64_t full_lanes(UOp sink, const Caps& caps) { return lanes_of(widest_bytes(sink), caps); }

double bytes_over(UOp load, std::span<const UOp> loops) {
  auto bytes = static_cast<double>(size_of(load.dtype()));
  for (UOp r : loops) {
    if (load.src(0).varies_over(r)) bytes *= static_cast<double>(r.range_size());
  }
  return bytes;
}

std::int64_t work_of(UOp sink) {
  std::int64_t work = 0;
  std::vector<UOp> ranges;
  const std::vector<UOp> order = toposort(sink);
  std::copy_if(order.begin(), order.end(), std::back_inserter(ranges),
               [](UOp u) { return u.is(Op::Range); });
  for (UOp u : order) {
    if (u.dtype() == DType::Index || u.ranges().empty()) continue;  // what is done once is nothing
    std::vector<UOp> turned;
    std::ranges::copy_if(ranges, std::back_inserter(turned),
                         [&](UOp r) { return u.varies_over(r); });
    if (__builtin_add_overflow(work, iterations(turned), &work)) return INT64_MAX;
  }
  return work;
}

namespace {

double time_of(Op op, double access, const MachineModel& model) {
  if (op == Op::Load || op == Op::Store) return access;
  if (op == Op::Threefry) return MachineModel::threefry;
  if (has_trait(op, trait_transcendental)) return MachineModel::transcendental;
  if (op == Op::Div || op == Op::Reciprocal || op == Op::Sqrt) return model.quotient();
  return 1;
}

double turns_of(UOp u, std::span<const UOp> order) {
  double turns = 1;
  for (UOp r : order) {
    if (r.is(Op::Range) && u.varies_over(r)) turns *= static_cast<double>(r.range_size());
  }
  return turns;
}

// Each term is added, each place stored to.
UOp done_by(UOp u) { return u.is(Op::Reduce) || u.is(Op::Store) ? u.src(0) : u; }

bool is_instruction(UOp u) {
  return u.dtype() != DType::Index && !u.is(Op::Index) && !u.is(Op::Param);
}

}  // namespace

std::int64_t full_lanes_along(UOp root, UOp range, const Caps& caps) {
  constexpr std::int64_t word = 4;
  const MachineModel model(caps);
  const std::vector<UOp> order = toposort(root);
  std::int64_t widest = 1;
  double on_words = 0, on_wide = 0;
  for (UOp u : order) {
    const UOp done = done_by(u);
    if (!is_instruction(u) || !done.varies_over(range)) continue;
    const std::int64_t bytes = size_of(u.is(Op::Store) ? u.src(1).dtype() : u.dtype());
    // Random numbers of 64 bits are made of words.
    const bool is_wide = bytes > word && !u.is(Op::Threefry);
    (is_wide ? on_wide : on_words) += turns_of(done, order) * time_of(u.op(), model.load, model);
    widest = std::max(widest, bytes);
  }
  return lanes_of(on_words > on_wide ? std::min(widest, word) : widest, caps);
}

double time_of(UOp sink, const MachineModel& model) {
  const std::vector<UOp> order = toposort(sink);
  std::vector<UOp> loops;  // but for lanes
  std::ranges::copy_if(order, std::back_inserter(loops),
                       [](UOp u) { return u.is(Op::Range) && u.loop_kind() != LoopKind::Lane; });
  double touched = 0;
  for (UOp u : order) {
    if (!u.is(Op::Index) || !u.src(0).is(Op::Param)) continue;
    const auto elements = static_cast<double>(u.src(0).elements());
    touched += std::min(elements, turns_of(u, order)) * static_cast<double>(size_of(u.dtype()));
  }
  const bool is_near = touched <= static_cast<double>(model.near_bytes);
  const double access = is_near ? MachineModel::load : MachineModel::far_load;
  double total = 0;
  for (UOp u : order) {
    const UOp done = done_by(u);
    if (u.dtype() == DType::Index || u.is(Op::Index) || done.ranges().empty()) continue;
    total += turns_of(done, loops) * time_of(u.op(), access, model);
  }
  return total;
}

bool adds_up_short_rows(const KernelState& k, UOp columns, std::int64_t lanes) {
  const std::vector<UOp> all = reduces(k.sink);
  if (all.size() != 1 || columns.is_open() || !is_at_full_depth(k, all[0])) return false;
  const std::vector<UOp> closed = closed_ranges(all[0]);
  if (closed.size() != 1 || columns.range_size() > lanes * k.caps().vector_registers) return false;
  std::int64_t others = 1;
  for (UOp r : k.loops) others *= r != columns && is_parallel(r) ? r.range_size() : 1;
  bool in_order = false;
  for (UOp load : loads(all[0].src(0))) {
    if (!load.src(0).varies_over(columns)) continue;
    const Stride rows = stride_over(load.src(0).src(1), closed[0]);
    const bool is_read_once = std::ranges::all_of(
        k.loops, [&](UOp r) { return r == columns || load.src(0).varies_over(r); });
    in_order = is_read_once && along(load.src(0), columns) == Along::Contiguous && rows.affine &&
               rows.step == columns.range_size();
    if (!in_order) return false;
  }
  return in_order && others >= k.caps().threads;
}

bool is_at_full_depth(const KernelState& k, UOp reduce) {
  return std::all_of(k.loops.begin(), k.loops.end(), [&](UOp r) { return reduce.varies_over(r); });
}

std::int64_t contiguous_accesses(UOp sink, UOp range) {
  return std::ranges::count_if(toposort(sink), [&](UOp u) {
    return u.is(Op::Index) && along(u, range) == Along::Contiguous;
  });
}

std::int64_t largest_divisor(std::int64_t n, std::int64_t limit) {
  for (std::int64_t d = std::min(n, limit); d > 1; d--) {
    if (n % d == 0) return d;
  }
  return 1;
}

double divided_up(std::int64_t size, std::int64_t by) {
  return static_cast<double>((size + by - 1) / by);
}

}  // namespace croze
