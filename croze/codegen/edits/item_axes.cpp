// item_axes.cpp -- loops over items find their axes.
#include "croze/codegen/edits/item_axes.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/matrix_unit.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

bool is_item(UOp range) { return range.loop_kind() == LoopKind::Item; }

class Assignment {
 public:
  Assignment(UOp sink, std::span<const UOp> loops, UOp also) {
    for (UOp u : toposort(sink)) {
      if (u.is(Op::Load) && u.src(0).src(0).is(Op::Param)) loaded_.push_back(u.src(0));
      if (u.is(Op::Store) && u.src(0).src(0).is(Op::Param)) stored_.push_back(u.src(0));
      if (u.is(Op::Contract)) wave_ = std::max(wave_, find_matrix_unit(u.arg().as_text())->threads);
      if (!u.is(Op::Reduce)) continue;
      for (UOp r : closed_ranges(u)) {
        if (!is_item(r) && r != also) continue;
        reductions_.push_back({r, u});
        if (std::ranges::find(combined_, r) == combined_.end()) combined_.push_back(r);
      }
    }
    std::ranges::sort(combined_, {}, &UOp::range_id);
    // The innermost loop is that along which memory is walked.
    for (std::size_t i = loops.size(); i-- > 0;) {
      if (is_item(loops[i])) add_axis(loops[i]);
    }
  }

  std::optional<ItemAxes> run() {
    const std::size_t outputs = members_.size();
    for (UOp r : combined_) {
      std::size_t axis = 0;
      while (axis < members_.size() && !fits(r, axis)) axis++;
      if (axis == members_.size()) {
        if (axis > outputs) return {};
        add_axis(r);
        result_.combining = r;
      } else {
        members_[axis].push_back(r);
        result_.axis_of[r.range_id()] = static_cast<std::int64_t>(axis);
      }
      if (!fits_itself(r)) return {};
    }
    sort();
    return std::move(result_);
  }

 private:
  struct Reduction {
    UOp range, reduce;
  };

  void add_axis(UOp range) {
    result_.axis_of[range.range_id()] = std::ssize(members_);
    result_.axes.push_back(range);
    members_.push_back({range});
  }

  // The threads of a wave that a matrix unit works for are neighbours.  Else that along which
  // memory is walked in the smallest steps comes first.
  void sort() {
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    for (std::size_t i = 0; i < members_.size(); i++) {
      std::int64_t least = least_step(members_[i], loaded_);
      if (least == far) least = least_step(members_[i], stored_);
      if (wave_ > 1 && result_.axes[i].range_size() == wave_) least = 0;
      order.emplace_back(least, i);
    }
    std::ranges::stable_sort(order, {}, &std::pair<std::int64_t, std::size_t>::first);
    const std::vector<UOp> axes = result_.axes;
    for (std::size_t i = 0; i < order.size(); i++) {
      result_.axes[i] = axes[order[i].second];
      for (UOp r : members_[order[i].second]) {
        result_.axis_of[r.range_id()] = static_cast<std::int64_t>(i);
      }
    }
  }

  // From one iteration of one of the loops to the next.
  static std::int64_t least_step(const std::vector<UOp>& loops, const std::vector<UOp>& places) {
    std::int64_t least = far;
    for (UOp place : places) {
      for (UOp r : loops) {
        const Stride s = stride_over(place.src(1), r);
        if (s.affine && s.step != 0) least = std::min(least, std::abs(s.step));
      }
    }
    return least;
  }

  // Whether what is reduced over the range is the same along the axis, for every reduction.
  bool fits(UOp range, std::size_t axis) const {
    if (result_.axes[axis].range_size() != range.range_size()) return false;
    return std::ranges::all_of(members_[axis],
                               [&](UOp other) { return other == range || !meets(range, other); });
  }

  bool fits_itself(UOp range) const {
    return std::ranges::count_if(reductions_, [&](const Reduction& r) {
             return r.range == range && r.reduce.varies_over(range);
           }) == 0;
  }

  // Whether the loops stand one inside of the other.
  bool meets(UOp a, UOp b) const {
    return std::ranges::any_of(reductions_, [&](const Reduction& r) {
      if (r.range == a) return r.reduce.varies_over(b) || closes(r.reduce, b);
      return r.range == b && (r.reduce.varies_over(a) || closes(r.reduce, a));
    });
  }

  static constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

  std::int64_t wave_ = 1;      // threads of the matrix units at work
  std::vector<UOp> combined_;  // the loops of reductions
  std::vector<Reduction> reductions_;
  std::vector<UOp> loaded_, stored_;       // places in memory of the program
  std::vector<std::vector<UOp>> members_;  // the loops of each axis
  ItemAxes result_;
};

}  // namespace

std::optional<ItemAxes> item_axes(UOp sink, std::span<const UOp> loops, UOp also) {
  return Assignment(sink, loops, also).run();
}

UOp stored_once(UOp sink, const ItemAxes& items) {
  if (!items.combining) return sink;
  Graph& g = sink.graph();
  const UOp first = less(items.combining, 1);
  std::vector<UOp> stores;
  for (UOp store : sink.sources()) {
    const UOp place = store.src(0);
    const UOp gate = place.num_src() > 2 ? place.src(2) & first : first;
    stores.push_back(
        g.store(g.place(place.src(0), place.src(1), gate), store.src(1), closed_ranges(store)));
  }
  return g.sink(stores);
}

std::int64_t combining_bytes(UOp reduce, std::span<const UOp> ranges, UOp also) {
  std::int64_t items = 0;
  for (UOp r : closed_ranges(reduce)) {
    if (is_item(r) || r == also) items = std::max<std::int64_t>(items, 1) * r.range_size();
  }
  std::int64_t bytes = items * size_of(reduce.dtype());
  for (UOp r : ranges) {
    const LoopKind kind = r.loop_kind();
    const bool is_copied = is_item(r) || kind == LoopKind::Lane || kind == LoopKind::Unroll;
    if (is_copied && reduce.varies_over(r)) bytes *= r.range_size();
  }
  return bytes;
}

}  // namespace croze
