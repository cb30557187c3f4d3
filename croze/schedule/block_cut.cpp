// block_cut.cpp -- nests over the whole made nests over a block.
#include "croze/schedule/block_cut.h"

#include <algorithm>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/nest_facts.h"

namespace croze {
namespace {

// An axis that is cut: where the block begins along it, and how long it is.
struct CutAxis {
  const BlockAxis* axis;
  UOp number;  // of the block
  std::int64_t blocks;

  // Of a loop along the axis.
  std::int64_t extent(UOp loop) const { return loop.range_size() / blocks; }
  UOp start(UOp loop) const { return number * extent(loop); }
  // What takes the place of the loop.
  UOp position(UOp loop) const {
    if (extent(loop) == 1) return start(loop);
    return start(loop) + loop.graph().range(loop.range_id(), extent(loop), loop.loop_kind());
  }
};

class Cutter {
 public:
  Cutter(PendingStep& step, const BlockPlan& plan, Schedule& schedule)
      : step_(step), plan_(plan), schedule_(schedule) {
    Graph& g = step.nests[0].graph();
    for (std::size_t i = 0; i < plan.sequence.axes.size(); i++) {
      const std::int64_t blocks = plan.cut.blocks[i];
      if (blocks == 1) continue;
      const BlockAxis& axis = plan.sequence.axes[i];
      const UOp number = g.variable(block_variable(std::ssize(axes_)), 0, blocks - 1);
      axes_.push_back({&axis, number, blocks});
      blocks_.push_back(blocks);
    }
    if (blocks_.empty()) blocks_.push_back(1);
  }

  void run(const Caps& caps) {
    for (std::size_t n = 0; n < step_.nests.size(); n++) {
      RangeMap map;
      for (const CutAxis& a : axes_) {
        if (const UOp loop = a.axis->loops[n]) map.emplace_back(loop, a.position(loop));
      }
      KernelState nest(step_.nests[n], caps);
      replace_ranges(nest, map);
      step_.nests[n] = nest.sink;
    }
    for (const PassedBuffer& passed : plan_.sequence.passed) {
      if (passed.inner) move_into_block(plan_.written.at(passed.buffer.node()));
    }
    step_.sequence = static_cast<int>(schedule_.sequences.size());
    step_.block_axes = static_cast<int>(blocks_.size());
    schedule_.sequences.push_back({.blocks = blocks_, .prelude = plan_.sequence.prelude});
  }

 private:
  // The accesses to the buffer become accesses to one of a block, of the same number.
  void move_into_block(const Written& w) {
    ScheduleBuffer& entry = schedule_.buffers[static_cast<std::size_t>(w.buffer.buffer_id())];
    entry.kind = ScheduleBuffer::Kind::Block;
    entry.elements = w.buffer.elements();
    for (const CutAxis& a : axes_) entry.elements /= a.axis->loops[w.nest] ? a.blocks : 1;
    const UOp memory = w.buffer.graph().buffer(w.buffer.dtype(), w.buffer.buffer_id(),
                                               entry.elements, w.buffer.buffer_device());
    for (std::size_t n : plan_.accessed.at(w.buffer.node())) {
      step_.nests[n] = with_memory(step_.nests[n], w, memory);
    }
  }

  UOp with_memory(UOp nest, const Written& w, UOp memory) const {
    Graph& g = nest.graph();
    RangeMap places;
    for (UOp u : toposort(nest)) {
      if (!u.is(Op::Index) || u.src(0) != w.buffer) continue;
      const UOp flat = place_in_block(substitute(u.src(1), places), w);
      places.emplace_back(u, u.num_src() > 2 ? g.place(memory, flat, substitute(u.src(2), places))
                                             : g.place(memory, flat));
    }
    return substitute(nest, places);
  }

  UOp place_in_block(UOp index, const Written& w) const {
    UOp flat = index.graph().index(0);
    std::int64_t stride = 1;
    for (std::size_t i = w.layout.size(); i-- > 0;) {
      const UOp loop = w.layout[i].loop;
      UOp position = position_along(index, w.layout[i]);
      std::int64_t size = loop.range_size();
      for (const CutAxis& a : axes_) {
        if (a.axis->loops[w.nest] != loop) continue;
        position = position - a.start(loop);
        size = a.extent(loop);
      }
      flat = flat + position * stride;
      stride *= size;
    }
    return flat;
  }

  PendingStep& step_;
  const BlockPlan& plan_;
  Schedule& schedule_;
  std::vector<CutAxis> axes_;
  std::vector<std::int64_t> blocks_;
};

}  // namespace

Layout layout_of(UOp store) {
  const UOp place = store.src(0);
  const auto strides = strides_of(place.src(1));
  if (place.num_src() > 2 || !strides) return {};
  Layout layout;
  std::int64_t next = 1;
  for (const auto& [stride, loop] : *strides) {
    if (stride != next) return {};
    next = stride * loop.range_size();
    layout.insert(layout.begin(), {loop, stride});
  }
  return next == place.src(0).elements() ? layout : Layout{};
}

UOp loop_along(std::span<const UOp> places, UOp buffer, const LayoutAxis& axis) {
  UOp loop;
  for (UOp place : places) {
    if (place.src(0) != buffer) continue;
    const UOp position = position_along(place.src(1), axis);
    if (!position.is(Op::Range) || (loop && loop != position)) return UOp();
    // One over the first part of the axis is cut at other places.
    if (position.range_size() != axis.loop.range_size()) return UOp();
    loop = position;
  }
  return loop;
}

std::vector<UOp> common_loops(UOp nest) {
  std::vector<UOp> loops;
  for (const LayoutAxis& a : layout_of(nest.src(0))) loops.push_back(a.loop);
  if (loops.empty()) loops = closed_ranges(nest.src(0));
  std::erase_if(loops,
                [&](UOp r) { return !is_parallel(r) || stores_in(nest, r) != nest.num_src(); });
  return loops;
}

void cut_step(PendingStep& step, const BlockPlan& plan, Schedule& schedule, const Caps& caps) {
  Cutter(step, plan, schedule).run(caps);
}

}  // namespace croze
