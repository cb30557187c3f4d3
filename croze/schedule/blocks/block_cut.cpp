// block_cut.cpp -- nests over the whole made nests over a block.
#include "croze/schedule/blocks/block_cut.h"

#include <algorithm>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/blocks/open_blocks.h"
#include "croze/schedule/nest_facts.h"

namespace croze {
namespace {

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
    // Nests that add to what is there by themselves have gates already.
    if (plan_.adds_itself.empty()) open_ = open_blocks(step_.nests, plan_, axes_);
    for (std::size_t n = 0; n < step_.nests.size(); n++) {
      RangeMap map;
      for (const CutAxis& a : axes_) {
        if (const UOp loop = a.axis->loops[n]) map.emplace_back(loop, a.position(loop));
      }
      const UOp first = plan_.adds_itself.contains(n) ? UOp() : is_first_part(n);
      KernelState nest(step_.nests[n], caps);
      replace_ranges(nest, map);
      step_.nests[n] = first ? added_to_memory(nest.sink, first) : nest.sink;
      if (open_.any) step_.nests[n] = storing_where(step_.nests[n], open_.any);
    }
    for (const PassedBuffer& passed : plan_.sequence.passed) {
      if (passed.inner) move_into_block(plan_.written.at(passed.buffer.node()));
    }
    step_.sequence = static_cast<int>(schedule_.sequences.size());
    step_.block_axes = static_cast<int>(blocks_.size());
    schedule_.sequences.push_back(
        {.blocks = blocks_, .prelude = plan_.sequence.prelude, .in_order = blocks_in_order()});
  }

 private:
  // Whether the block has the first of the terms that the nest adds up; null if it has all.
  UOp is_first_part(std::size_t nest) const {
    UOp first;
    for (const CutAxis& a : axes_) {
      const UOp loop = a.axis->loops[nest];
      if (!loop || loop.loop_kind() != LoopKind::Reduce) continue;
      const UOp here = open_.any && open_.first[nest] ? equal(a.number, open_.first[nest])
                                                      : less(a.number, a.number.graph().index(1));
      first = first ? first & here : here;
    }
    return first;
  }

  // The nest adds to what the blocks before have stored.
  static UOp added_to_memory(UOp nest, UOp is_first) {
    Graph& g = nest.graph();
    const UOp store = nest.src(0), place = store.src(0), part = store.src(1);
    const UOp sum = where(is_first, part, g.load(place) + part);
    const UOp added = g.store(place, sum, closed_ranges(store));
    return g.sink(std::span(&added, 1));
  }

  std::int64_t blocks_in_order() const {
    std::int64_t blocks = 1;
    for (const CutAxis& a : axes_) blocks *= a.axis->is_in_order() ? a.blocks : 1;
    return blocks;
  }

  // The accesses to the buffer become accesses to one of a block, of the same number.
  void move_into_block(const Written& w) {
    ScheduleBuffer& entry = schedule_.buffers[static_cast<std::size_t>(w.buffer.buffer_id())];
    entry.kind = ScheduleBuffer::Kind::Block;
    std::int64_t elements = 1;
    for (std::size_t i = w.layout.size(); i-- > 0;) elements = behind(elements, w, w.layout[i]);
    entry.elements = elements;
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
      if (const CutAxis* cut = cut_along(w, loop)) position = position - cut->start(loop);
      flat = flat + position * stride;
      stride = behind(stride, w, w.layout[i]);
    }
    return flat;
  }

  // The axis along which the loop of what is written is cut; null if it is not.
  const CutAxis* cut_along(const Written& w, UOp loop) const {
    const auto is_it = [&](const CutAxis& a) { return a.axis->loops[w.nest] == loop; };
    const auto found = std::ranges::find_if(axes_, is_it);
    return found == axes_.end() ? nullptr : &*found;
  }

  // The distance of what follows the axis, of which neighbours are so far apart.
  std::int64_t behind(std::int64_t stride, const Written& w, const LayoutAxis& axis) const {
    const CutAxis* cut = cut_along(w, axis.loop);
    const std::int64_t size = cut ? cut->extent(axis.loop) : axis.loop.range_size();
    const std::int64_t element = size_of(w.buffer.dtype());
    return size > 1 ? bytes_apart(stride * size * element) / element : stride;
  }

  PendingStep& step_;
  const BlockPlan& plan_;
  Schedule& schedule_;
  std::vector<CutAxis> axes_;
  std::vector<std::int64_t> blocks_;
  OpenBlocks open_;
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

std::vector<UOp> summed_loops(UOp nest) {
  const std::vector<UOp> all = reduces(nest);
  if (nest.num_src() != 1 || all.size() != 1 || all[0].reduce_op() != Op::Add) return {};
  const UOp store = nest.src(0), sum = all[0];
  UOp value = store.src(1);
  if (value.is(Op::Mul) && value.src(1).is(Op::Const)) value = value.src(0);
  if (value != sum || layout_of(store).empty() || loads_what_it_stores(nest)) return {};
  std::vector<UOp> loops = closed_ranges(sum);
  std::erase_if(loops, [](UOp r) { return r.is_open() || r.loop_kind() != LoopKind::Reduce; });
  return loops;
}

void cut_step(PendingStep& step, const BlockPlan& plan, Schedule& schedule, const Caps& caps) {
  Cutter(step, plan, schedule).run(caps);
}

}  // namespace croze
