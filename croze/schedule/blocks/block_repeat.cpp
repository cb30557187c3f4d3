// block_repeat.cpp -- a small step is run again by every thread that runs a step which reads it.
//
// The products of a transformer read a norm of a few hundred elements, all of it for each of their
// rows:
//
//     y[i]    = x[i] / sqrt(sum(x[..]^2))
//     q[j]    = sum(y[i] * a[i, j])
//     k[j]    = sum(y[i] * b[i, j])
//
// They have no loop in common with it, so no block of theirs needs a block of the norm only.  But
// the norm takes less time than starting a launch for it, and while one thread computes it the
// others wait.  So each of them makes it, in memory of its own, before its first block of q and k.
// The readers are one sequence, since one norm serves a block of each; what they are cut along is
// not the same axis, only as many parts of one.
#include "croze/schedule/blocks/block_repeat.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "croze/graph/index/index_form.h"

namespace croze {
namespace {

// Whether no index divides the loop: a part of it may be another kind of nest, with lanes that the
// whole has.
bool is_never_divided(UOp loop, const BlockedNest& nest) {
  return std::ranges::all_of(nest.places, [&](UOp place) {
    const LinearForm form = LinearForm::of(place.src(1));
    return std::ranges::all_of(
        form.terms, [&](const Term& t) { return t.atom == loop || !t.atom.varies_over(loop); });
  });
}

std::vector<BlockAxis> plain_axes(const BlockSequence& sequence) {
  std::vector<BlockAxis> axes;
  for (const BlockAxis& axis : sequence.axes) {
    bool is_plain = true;
    for (std::size_t n = sequence.prelude; n < sequence.nests.size(); n++) {
      is_plain = is_plain && is_never_divided(axis.loops[n], *sequence.nests[n]);
    }
    if (is_plain) axes.push_back(axis);
  }
  return axes;
}

class Repeater {
 public:
  Repeater(const BlockPlan& producer, std::span<const BlockPlan* const> readers,
           const MachineModel& machine)
      : readers_(readers), wanted_(machine.blocks_per_thread * machine.threads) {
    plan_.joinable = true;
    append(producer);
    for (const BlockPlan* reader : readers_) append(*reader);
    plan_.sequence.prelude = producer.sequence.nests.size();
    if (readers_.size() == 1) plan_.sequence.prelude += readers_[0]->sequence.prelude;
    plan_.sequence.strands = 0;
    for (const BlockPlan* reader : readers_) plan_.sequence.strands += reader->sequence.strands;
    add_axes(producer.sequence.nests.size());
    pass_on(producer);
  }

  BlockPlan take() { return std::move(plan_); }

 private:
  void append(const BlockPlan& part) {
    const std::size_t count = plan_.sequence.nests.size();
    plan_.sequence.nests.insert(plan_.sequence.nests.end(), part.sequence.nests.begin(),
                                part.sequence.nests.end());
    for (const auto& [buffer, written] : part.written) {
      Written w = written;
      w.nest += count;
      plan_.written.emplace(buffer, std::move(w));
    }
    for (const auto& [buffer, by] : part.accessed) {
      for (std::size_t n : by) plan_.accessed[buffer].insert(n + count);
    }
    for (PassedBuffer p : part.sequence.passed) {
      p.first += count;
      p.last += count;
      passed_.emplace(p.buffer.buffer_id(), p);
    }
  }

  void add_axes(std::size_t repeated) {
    std::vector<BlockAxis>& axes = plan_.sequence.axes;
    if (readers_.size() == 1) {
      axes = plain_axes(readers_[0]->sequence);
      for (BlockAxis& axis : axes) axis.loops.insert(axis.loops.begin(), repeated, UOp());
      return;
    }
    BlockAxis common{0, std::vector<UOp>(repeated)};
    for (const BlockPlan* reader : readers_) {
      std::vector<BlockAxis> plain = plain_axes(reader->sequence);
      std::erase_if(plain, std::mem_fn(&BlockAxis::is_in_order));
      if (plain.empty()) return;
      const BlockAxis& axis = axis_to_cut(plain);
      common.size = std::gcd(common.size, axis.size);
      common.loops.insert(common.loops.end(), axis.loops.begin(), axis.loops.end());
    }
    axes.push_back(std::move(common));
  }

  // The outermost that makes enough blocks.
  const BlockAxis& axis_to_cut(std::span<const BlockAxis> axes) const {
    const auto enough =
        std::ranges::find_if(axes, [&](const BlockAxis& axis) { return axis.size >= wanted_; });
    return enough == axes.end() ? axes[0] : *enough;
  }

  // What the producer writes, of which nobody else wants anything.
  void pass_on(const BlockPlan& producer) {
    for (const auto& [buffer, w] : producer.written) {
      const std::size_t last = *plan_.accessed.at(buffer).rbegin();
      passed_.insert_or_assign(w.buffer.buffer_id(), PassedBuffer{w.buffer, w.nest, last, true});
    }
    for (const auto& [number, p] : passed_) plan_.sequence.passed.push_back(p);
  }

  std::span<const BlockPlan* const> readers_;
  std::int64_t wanted_;  // blocks
  BlockPlan plan_;
  std::map<std::int64_t, PassedBuffer> passed_;  // by number
};

}  // namespace

BlockPlan repeated_plan(const BlockPlan& producer, std::span<const BlockPlan* const> readers,
                        const MachineModel& machine) {
  return Repeater(producer, readers, machine).take();
}

}  // namespace croze
