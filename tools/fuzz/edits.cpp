// edits.cpp -- random edits of kernels.
//
// Each try picks a kind of edit and a loop, and makes the edit on a copy of the kernel.  It is
// dropped if the edit refuses, or if the result is outside of what an edit promises to handle: more
// than one lane per value, more copies of the code or more work than anybody would want, huge
// tiles.
#include "fuzz/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "codegen/edits/stage.h"
#include "graph/rewrite.h"

namespace croze::fuzz {
namespace {

using i64 = std::int64_t;

constexpr i64 most_edits_per_kernel = 8;
constexpr i64 most_copies = 48;  // of the body, by unrolled loops
constexpr i64 most_lanes = 16;
constexpr i64 most_iterations = 1 << 20;  // if all loops stood in each other
constexpr i64 largest_tile = 4096;
constexpr i64 largest_padded = 4096;  // iterations of a padded loop

std::vector<UOp> ranges_of(UOp sink) {
  std::vector<UOp> result;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range)) result.push_back(u);
  }
  return result;
}

std::vector<UOp> of_kind(const std::vector<UOp>& ranges, LoopKind kind) {
  std::vector<UOp> result;
  std::ranges::copy_if(ranges, std::back_inserter(result),
                       [&](UOp r) { return r.loop_kind() == kind; });
  return result;
}

bool is_sane(const KernelState& k) {
  const std::vector<UOp> ranges = ranges_of(k.sink);
  if (iterations(ranges) > most_iterations) return false;
  if (iterations(of_kind(ranges, LoopKind::Unroll)) > most_copies) return false;
  RangeSet lanes;
  for (UOp r : of_kind(ranges, LoopKind::Lane)) lanes = lanes | r.ranges();
  for (UOp u : toposort(k.sink)) {
    if ((u.ranges() & lanes).count() > 1) return false;
  }
  return true;
}

class Editor {
 public:
  Editor(KernelState& k, const Caps& caps, Chance& chance)
      : k_(k), caps_(caps), chance_(chance), ranges_(ranges_of(k.sink)) {}

  // Makes an edit, or throws, or leaves things as they are.
  void run() {
    switch (chance_.below(12)) {
      case 0:
      case 1:
      case 2: return split_any();
      case 3: return merge_any();
      case 4: return pad_any();
      case 5: return split_reduction_any();
      case 6: return bind_any(LoopKind::Unroll, 8);
      case 7:
        if (caps_.vector_bytes > 0) bind_any(LoopKind::Lane, most_lanes);
        return;
      case 8:
      case 9: return bind_parallel();
      case 10: return shuffle();
      default: return stage_any();
    }
  }

 private:
  // A loop that is still free to become anything; null if there is none.
  UOp pick(bool parallel, bool reduced, bool serial) {
    std::vector<UOp> free;
    for (UOp r : ranges_) {
      const LoopKind kind = r.loop_kind();
      if ((parallel && kind == LoopKind::Parallel) || (reduced && kind == LoopKind::Reduce) ||
          (serial && kind == LoopKind::Serial)) {
        free.push_back(r);
      }
    }
    return free.empty() ? UOp() : chance_.one_of(free);
  }

  // A divisor other than 1 and n, or 0.
  i64 divisor_of(i64 n) {
    std::vector<i64> divisors;
    for (i64 d = 2; d < n; d++) {
      if (n % d == 0) divisors.push_back(d);
    }
    return divisors.empty() ? 0 : chance_.one_of(divisors);
  }

  void split_any() {
    const UOp r = pick(true, true, true);
    const i64 inner = r ? divisor_of(r.range_size()) : 0;
    if (inner) split(k_, r, inner);
  }

  // Neighbours of one kind that are closed together everywhere.
  void merge_any() {
    std::vector<std::vector<UOp>> lists{k_.loops};
    for (UOp u : reduces(k_.sink)) lists.push_back(closed_ranges(u));
    const std::vector<UOp> list = chance_.one_of(lists);
    if (list.size() < 2) return;
    const auto i = static_cast<std::size_t>(chance_.below(std::ssize(list) - 1));
    const UOp outer = list[i], inner = list[i + 1];
    const LoopKind kind = outer.loop_kind();
    const bool free = is_parallel(outer) || is_serial(outer) || kind == LoopKind::Reduce;
    if (!free || inner.loop_kind() != kind || !are_closed_together(outer, inner)) return;
    merge(k_, outer, inner);
  }

  bool are_closed_together(UOp a, UOp b) const {
    for (UOp u : toposort(k_.sink)) {
      const std::vector<UOp> closed = closed_ranges(u);
      const bool has_a = std::ranges::find(closed, a) != closed.end();
      const bool has_b = std::ranges::find(closed, b) != closed.end();
      if (has_a != has_b) return false;
    }
    return true;
  }

  void pad_any() {
    const i64 multiples[] = {2, 3, 4, 8, 16};
    const UOp r = pick(true, true, true);
    if (r && r.range_size() < largest_padded) pad(k_, r, chance_.one_of(multiples));
  }

  void split_reduction_any() {
    const UOp r = pick(false, true, false);
    if (!r) return;
    const i64 inner = divisor_of(r.range_size());
    if (!inner) return;
    const SplitRange parts = split_reduction(k_, r, inner);
    const bool vectors = caps_.vector_bytes > 0 && inner <= most_lanes;
    if (vectors && chance_.percent(60)) {
      bind(k_, parts.inner, LoopKind::Lane);
    } else if (inner <= 8 && chance_.percent(60)) {
      bind(k_, parts.inner, LoopKind::Unroll);
    }
  }

  void bind_any(LoopKind kind, i64 largest) {
    const UOp r = pick(true, true, false);
    if (r && r.range_size() <= largest) bind(k_, r, kind);
  }

  // To a task, a group or an item.
  void bind_parallel() {
    const UOp r = pick(true, false, false);
    if (!r) return;
    if (!caps_.has_groups) {
      if (caps_.threads > 1 && of_kind(k_.loops, LoopKind::Thread).empty()) {
        bind(k_, r, LoopKind::Thread);
      }
      return;
    }
    const LoopKind kind = chance_.percent(50) ? LoopKind::Group : LoopKind::Item;
    const std::vector<UOp> bound = of_kind(k_.loops, kind);
    if (bound.size() == 3) return;
    const std::size_t axis = bound.size();
    const i64 limit = kind == LoopKind::Group ? caps_.max_groups_axis[axis]
                                              : std::min(caps_.max_group_axis[axis],
                                                         caps_.max_items / iterations(bound));
    if (r.range_size() <= limit) bind(k_, r, kind);
  }

  // The Serial loops keep their order, among the others in any.
  void shuffle() {
    std::vector<UOp> order = k_.loops;
    for (i64 i = std::ssize(order); i-- > 1;) {
      std::swap(order[static_cast<std::size_t>(i)],
                order[static_cast<std::size_t>(chance_.below(i + 1))]);
    }
    const std::vector<UOp> serial = of_kind(k_.loops, LoopKind::Serial);
    auto next = serial.begin();
    for (UOp& r : order) {
      if (is_serial(r)) r = *next++;
    }
    reorder(k_, order);
  }

  // A tile over some of the loops that an operand varies over.
  void stage_any() {
    const UOp stored = k_.sink.src(0).src(0).src(0);
    std::vector<UOp> operands;
    for (UOp l : loads(k_.sink)) {
      const UOp buffer = l.src(0).src(0);
      if (buffer.is(Op::Param) && buffer != stored) operands.push_back(l);
    }
    if (operands.empty()) return;
    const UOp load = chance_.one_of(operands);
    const bool shared = caps_.has_groups && chance_.percent(60);
    const std::vector<UOp> items = of_kind(k_.loops, LoopKind::Item);
    if (shared && items.empty()) return;
    const std::vector<UOp> inner = tile_loops(load.src(0), shared);
    if (inner.empty() || tile_elements(load, inner) > largest_tile) return;
    StageOptions options{.space = shared ? Space::Group : Space::Thread, .lanes = 1, .items = {}};
    if (shared) options.items = items;
    if (!shared && caps_.vector_bytes > 0) options.lanes = i64{1} << chance_.below(4);
    stage(k_, load, inner, options);
  }

  // In loop order.  A shared tile holds what all items read.
  std::vector<UOp> tile_loops(UOp place, bool shared) {
    std::vector<UOp> all = k_.loops;
    for (UOp r : ranges_) {
      if (std::ranges::find(all, r) == all.end()) all.push_back(r);
    }
    std::vector<UOp> inner;
    for (UOp r : all) {
      if (!place.varies_over(r)) continue;
      const LoopKind kind = r.loop_kind();
      const bool fixed = kind == LoopKind::Thread || kind == LoopKind::Group ||
                         kind == LoopKind::Serial || kind == LoopKind::Loop;
      const bool must = shared && kind == LoopKind::Item;
      if (!fixed && (must || chance_.percent(60))) inner.push_back(r);
    }
    return inner;
  }

  KernelState& k_;
  const Caps& caps_;
  Chance& chance_;
  std::vector<UOp> ranges_;
};

}  // namespace

Chooser RandomEdits::chooser() {
  return {[](void* self, KernelState& k, const Caps& caps) {
            static_cast<RandomEdits*>(self)->edit(k, caps);
          },
          this};
}

void RandomEdits::edit(KernelState& k, const Caps& caps) {
  const i64 tries = chance_.below(most_edits_per_kernel + 1);
  for (i64 i = 0; i < tries && std::ssize(applied_) < limit_; i++) {
    KernelState next = k;
    try {
      Editor(next, caps, chance_).run();
    } catch (const InternalError&) {
      continue;  // it does not apply
    }
    if (!is_sane(next)) continue;
    for (std::size_t n = k.applied.size(); n < next.applied.size(); n++) {
      applied_.push_back(next.applied[n]);
    }
    k = std::move(next);
  }
}

}  // namespace croze::fuzz
