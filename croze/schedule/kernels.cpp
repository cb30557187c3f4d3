// kernels.cpp -- from the roots down: each state that something reads becomes one or more kernels.
#include "croze/schedule/kernels.h"

#include <algorithm>
#include <utility>

#include "croze/base/error.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/parts/scatter.h"
#include "croze/schedule/ranges.h"

namespace croze {
namespace {

// True if `kernel` loads from `buffer` what it stores to elsewhere: a loop over the stores would
// read what it has overwritten.
bool reads_elsewhere(UOp sink, UOp buffer) {
  const UOp stored = sink.src(0).src(0);
  const Region region = region_of(stored);
  for (UOp u : toposort(sink)) {
    if (!u.is(Op::Load) || u.src(0).src(0) != buffer || u.src(0).src(1) == stored.src(1)) continue;
    if (!are_disjoint(region_of(u.src(0)), region)) return true;
  }
  return false;
}

ScheduleStep copy_step(UOp from, UOp to) {
  return {.kernel = nullptr,
          .buffers = {static_cast<int>(to.buffer_id()), static_cast<int>(from.buffer_id())},
          .device = to.buffer_device()};
}

}  // namespace

LaunchSize count_of(Extent elements) {
  return elements.is_open() ? LaunchSize::of(elements.expression()) : LaunchSize(elements.number());
}

const Caps& main_caps(const CanonicalGraph& graph, const ScheduleContext& context) {
  return context.caps(graph.buffers.empty() ? context.default_device
                                            : graph.buffers[0].buffer_device());
}

UOp add_temporary(Schedule& schedule, Graph& graph, DType dtype, Extent elements, int device,
                  BufferReason reason) {
  const auto id = static_cast<std::int64_t>(schedule.buffers.size());
  schedule.buffers.push_back({.kind = ScheduleBuffer::Kind::Temporary,
                              .input = -1,
                              .dtype = dtype,
                              .elements = elements.most(),
                              .count = count_of(elements),
                              .device = device,
                              .reason = reason});
  return graph.buffer(dtype, id, elements, device);
}

KernelList::KernelList(const CanonicalGraph& graph, const ScheduleContext& context,
                       std::span<const UOp> copied, Schedule& schedule)
    : input_(graph),
      context_(context),
      schedule_(schedule),
      graph_(*graph.graph),
      plan_(graph.roots, context.fuse, main_caps(graph, context)) {
  for (UOp state : copied) snapshots_.emplace(state.node(), false);
  for (UOp root : graph.roots) roots_.insert(root.node());
  devices_.assign(graph_.id_limit(), -1);
  for (UOp u : toposort(graph.roots)) {
    int& device = devices_[u.id()];
    if (u.is(Op::Buffer)) device = u.buffer_device();
    if (u.is(Op::Copy)) device = static_cast<int>(u.arg().value);
    for (UOp s : u.sources()) {
      if (device < 0) device = devices_[s.id()];
    }
  }
  find_devices_of_constants();
  for (UOp buffer : graph.buffers) {
    schedule_.buffers.push_back({.kind = ScheduleBuffer::Kind::Input,
                                 .input = static_cast<int>(schedule_.buffers.size()),
                                 .dtype = buffer.dtype(),
                                 .elements = buffer.elements(),
                                 .count = count_of(buffer.element_count()),
                                 .device = buffer.buffer_device()});
  }
}

// What no buffer is below belongs to no device; it is computed where it is used.  Roots stay free.
void KernelList::find_devices_of_constants() {
  std::vector<bool> is_root(graph_.id_limit(), false);
  for (UOp root : input_.roots) is_root[root.id()] = true;
  const std::vector<UOp> order = toposort(input_.roots);
  for (auto u = order.rbegin(); u != order.rend(); ++u) {
    if (u->is(Op::Copy)) continue;
    for (UOp s : u->sources()) {
      if (devices_[s.id()] < 0 && !is_root[s.id()]) devices_[s.id()] = devices_[u->id()];
    }
  }
}

std::vector<PendingStep> KernelList::build() {
  for (UOp root : input_.roots) {
    const bool buffered = plan_.buffered(root);
    const UOp state = buffered ? root : strip_movement(root);
    need(state);
    if (!buffered) {
      schedule_.results.push_back(-1);
      continue;
    }
    const auto index = static_cast<int>(own_buffer(root).buffer_id());
    schedule_.buffers[static_cast<std::size_t>(index)].kind = ScheduleBuffer::Kind::Output;
    schedule_.results.push_back(index);
  }
  make_needed();
  if (context_.fuse) reuse_values();
  return std::move(steps_);
}

void KernelList::make_needed() {
  while (!pending_.empty()) {
    const UOp state = pending_.back();
    pending_.pop_back();
    make_state(state);
  }
}

void KernelList::need(UOp state) {
  if (needed_.insert(state.node())) pending_.push_back(state);
}

void KernelList::make_state(UOp state) {
  if (snapshots_.contains(state.node())) make_snapshot(state);
  switch (state.op()) {
    case Op::Buffer: return;
    case Op::After: return make_assignments(state);
    case Op::Copy: return make_copy(state);
    case Op::Scatter: return make_scatter(state);
    default: break;
  }
  if (state.elements() == 0) return;
  const UOp out = own_buffer(state);
  for (;;) {
    Draft draft = draft_value(state, state, out);
    if (!draft.sink || !reads_at_once(draft)) continue;
    return add(std::move(draft), state, out, UOp(), 0);
  }
}

void KernelList::make_copy(UOp u) {
  const UOp source = u.src(0);
  if (u.elements() == 0) return;
  need(source);
  PendingStep pending;
  pending.device = device_of(u);
  pending.steps = {copy_step(memory_of(source), own_buffer(u))};
  pending.reads = {read_as(source, memory_of(source).buffer_device())};
  pending.writes = {u};
  steps_.push_back(std::move(pending));
}

// First the base, then the values: a loop per axis of the values, in order where two of them may
// meet.
void KernelList::make_scatter(UOp u) {
  if (u.elements() == 0) return;
  const UOp out = own_buffer(u);
  for (;;) {
    Draft base = draft_value(u, u.src(0), out);
    if (!base.sink || !reads_at_once(base)) continue;
    add(std::move(base), u, out, UOp(), 0);
    break;
  }
  if (u.src(1).elements() == 0) return;
  for (;;) {
    Draft values = draft_scatter(u, u, out);
    if (!values.sink || !reads_at_once(values)) continue;
    return add(std::move(values), u, out, UOp(), 1);
  }
}

void KernelList::make_assignments(UOp after) {
  const UOp superseded = after.src(0);
  need(superseded);
  const UOp out = memory_states_.buffer_of(after);
  ensure(static_cast<bool>(out), "an After stands on {}", info(superseded.op()).name);
  for (int i = 1; i < after.num_src(); i++) {
    const UOp store = after.src(i);
    if (store.src(0).elements() == 0 || make_scatter_in_place(after, i)) continue;
    for (;;) {
      Draft draft = draft_store(store);
      if (!draft.sink || !reads_at_once(draft)) continue;
      const UOp outdated = outdated_read(draft.reads, superseded);
      if (outdated && is_copied_whole(store.src(1), outdated)) {
        read_through_copy(outdated);
        continue;
      }
      if (outdated || reads_elsewhere(draft.sink, out)) {
        read_through_copy(store.src(1));
        continue;
      }
      add_assignment(std::move(draft), after, i);
      break;
    }
  }
}

// What older states it reads it reads of the one that is overwritten, which holds the same there.
void KernelList::add_assignment(Draft draft, UOp after, int part) {
  const UOp superseded = after.src(0);
  for (Lowering::Read& r : draft.reads) {
    const bool is_older = memory_states_.are_of_one(r.state, superseded);
    if (is_older && !snapshots_.contains(r.state.node())) r.state = superseded;
  }
  add(std::move(draft), after, memory_states_.buffer_of(after), superseded, part);
}

// The Scatter into what stands in the place that its result is stored to, if that is all it is
// made for; null for any other store.
UOp KernelList::scattered_in_place(UOp store) {
  const auto is_for_store_only = [&](UOp u) {
    return plan_.has_one_consumer(u) && !roots_.contains(u.node());
  };
  const auto unshaped = [](UOp u) {
    while (u.is(Op::Reshape)) u = u.src(0);
    return u;
  };
  UOp value = store.src(1);
  for (; value.is(Op::Reshape); value = value.src(0)) {
    if (!is_for_store_only(value)) return UOp();
  }
  if (!value.is(Op::Scatter) || !is_for_store_only(value)) return UOp();
  return unshaped(value.src(0)) == unshaped(store.src(0)) ? value : UOp();
}

// Whether values are made from what they overwrite: two of them may come to one place.
bool KernelList::reads_overwritten(const Draft& draft, UOp buffer) {
  const Region written = region_of(draft.sink.src(0).src(0));
  return std::ranges::any_of(draft.reads, [&](const Lowering::Read& r) {
    if (memory_of(r.state) != buffer) return false;
    return std::ranges::any_of(r.places,
                               [&](UOp place) { return !are_disjoint(region_of(place), written); });
  });
}

// Then only the values are written.  False if it is a store like others.
bool KernelList::make_scatter_in_place(UOp after, int part) {
  const UOp u = scattered_in_place(after.src(part));
  if (!u) return false;
  const UOp value = u.src(1), out = memory_states_.buffer_of(after);
  if (value.elements() == 0) return true;
  for (;;) {
    Draft draft = draft_scatter(u, u.src(0), out);
    if (!draft.sink || !reads_at_once(draft)) continue;
    if (outdated_read(draft.reads, after.src(0)) || reads_overwritten(draft, out)) {
      if (is_state(value) || plan_.buffered(value) || value.dtype() == DType::Index) return false;
      read_through_copy(value);
      continue;
    }
    add_assignment(std::move(draft), after, part);
    return true;
  }
}

// A state that is read where `current`, a later one of the same memory, holds something else; null
// if there is none.
UOp KernelList::outdated_read(std::span<const Lowering::Read> reads, UOp current) {
  for (const Lowering::Read& r : reads) {
    if (r.state == current || !memory_states_.are_of_one(r.state, current)) continue;
    if (snapshots_.contains(r.state.node())) continue;
    for (UOp place : r.places) {
      if (!memory_states_.is_kept(r.state, current, region_of(place))) return r.state;
    }
  }
  return UOp();
}

// A kernel cannot read a buffer before and after a write: the older state is read through a copy.
// What the write leaves alone can be read after it.
bool KernelList::reads_at_once(Draft& draft) {
  for (std::size_t i = 0; i < draft.reads.size(); i++) {
    const UOp state = draft.reads[i].state;
    if (snapshots_.contains(state.node()) || !is_state(state)) continue;
    UOp latest = state;
    for (const Lowering::Read& r : draft.reads) {
      const bool is_other = memory_states_.are_of_one(r.state, latest);
      if (!is_other || snapshots_.contains(r.state.node())) continue;
      if (memory_states_.age_of(r.state) > memory_states_.age_of(latest)) latest = r.state;
    }
    if (latest == state) continue;
    if (outdated_read(std::span(&draft.reads[i], 1), latest)) {
      read_through_copy(state);
      return false;
    }
    draft.reads[i].state = latest;
  }
  return true;
}

// Whether an older state is copied for a value that is stored, rather than the value: it is no
// more, or the value is one already.
bool KernelList::is_copied_whole(UOp value, UOp state) {
  if (is_state(value) || plan_.buffered(value) || value.dtype() == DType::Index) return true;
  return value.elements() >= state.elements();
}

// From now on the value is read from memory of its own.
void KernelList::read_through_copy(UOp value) {
  if (!is_state(value)) return plan_.buffer(value, {BufferCause::OwnContents});
  snapshots_.emplace(value.node(), false);
  if (needed_.contains(value.node())) make_snapshot(value);
}

void KernelList::make_snapshot(UOp state) {
  if (std::exchange(snapshots_.at(state.node()), true)) return;
  const UOp copy = own_buffer(state);
  const UOp source = memory_states_.buffer_of(state);
  const UOp r = graph_.range(0, state.element_count(), LoopKind::Parallel);
  Draft draft;
  draft.sink = graph_.sink(std::vector<UOp>{
      graph_.store(graph_.place(copy, r), graph_.load(graph_.place(source, r)), std::span(&r, 1))});
  draft.reads = {{state, {}}};
  add(std::move(draft), copy, copy, UOp(), 0);
}

// ---- drafts: null sink means that a buffer was added, try again -------------------------------

Lowering KernelList::lowering(UOp root) {
  device_ = device_of(root);
  auto buffer_of = [](void* self, UOp state) {
    auto& list = *static_cast<KernelList*>(self);
    return list.buffer_on(list.device_, state);
  };
  return Lowering(graph_, plan_, root, limits(root), buffer_of, this);
}

// The loops over `shape`: serial where told, else parallel.
KernelList::OutputLoops KernelList::open_loops(Lowering& lower, const Extents& shape,
                                               const std::vector<bool>& serial) {
  OutputLoops loops{{{}, graph_.boolean(true)}, {}};
  for (std::int64_t i = 0; i < shape.size(); i++) {
    const bool in_order = i < std::ssize(serial) && serial[static_cast<std::size_t>(i)];
    const UOp r = lower.new_range(shape[i], in_order ? LoopKind::Serial : LoopKind::Parallel);
    loops.at.index.push_back(r);
    if (r.is(Op::Range)) loops.ranges.push_back(r);
  }
  lower.set_output(loops.ranges);
  return loops;
}

UOp KernelList::gated_place(UOp buffer, const Position& at, const Extents& shape) {
  const UOp flat = flat_index(at.index, shape, graph_);
  return at.gate.is_const() ? graph_.place(buffer, flat) : graph_.place(buffer, flat, at.gate);
}

// out[i, j, ..] = value[i, j, ..] for every element; `u` is the node being made.
KernelList::Draft KernelList::draft_value(UOp u, UOp value, UOp out) {
  Lowering lower = lowering(u);
  const OutputLoops loops = open_loops(lower, extents_of(value));
  const UOp v = lower.value(value, loops.at);
  if (!v) return {};
  const UOp store = graph_.store(gated_place(out, loops.at, extents_of(value)),
                                 cast(v, out.dtype()), loops.ranges);
  return {graph_.sink(std::span(&store, 1)), lower.reads(), lower.computed()};
}

// out[index(i, j, ..)] = value[i, j, ..], or added to what is there.  `view`: what the index is a
// position in, a view of the buffer or, as any other node, the whole of it.
KernelList::Draft KernelList::draft_scatter(UOp u, UOp view, UOp buffer) {
  const UOp base = u.src(0), value = u.src(1);
  Lowering lower = lowering(u);
  OutputLoops loops = open_loops(lower, extents_of(value), serial_axes(u));
  UOp v = lower.value(value, loops.at);
  if (!v) return {};
  Position to{{}, graph_.boolean(true)};
  for (int axis = 0; axis < base.rank(); axis++) {
    const UOp i = lower.value(u.src(2 + axis), loops.at);
    if (!i) return {};
    to.index.push_back(cast(i, DType::Index));
    to.gate = both(to.gate, within(to.index.back(), base.extent(axis)));
  }
  const ScatterSlices slices = slices_of(u, to, loops.ranges, context_.caps(device_));
  if (slices.count > 1) {
    const UOp slice = lower.new_range(slices.count, LoopKind::Parallel);
    const UOp own = within_slice(slices, slice, to);
    loops.ranges.insert(loops.ranges.begin(), slice);
    to.gate = both(to.gate, own);
    v = loaded_under(own, v);
  }
  for (; is_movement(view.op()); view = view.src(0)) to = through_movement(view, to);
  const UOp place = gated_place(buffer, to, extents_of(view));
  const bool overwrites = u.arg().value == 0;
  const UOp stored = overwrites ? v : graph_.alu(u.reduce_op(), {graph_.load(place), v});
  const UOp store = graph_.store(place, stored, loops.ranges);
  return {graph_.sink(std::span(&store, 1)), lower.reads(), lower.computed()};
}

// view[i, j, ..] = value[i, j, ..], where the view is a part of a buffer.
KernelList::Draft KernelList::draft_store(UOp store) {
  UOp view = store.src(0);
  Lowering lower = lowering(store);
  const OutputLoops loops = open_loops(lower, extents_of(view));
  const UOp v = lower.value(store.src(1), loops.at);
  if (!v) return {};
  Position at = loops.at;
  for (; is_movement(view.op()); view = view.src(0)) at = through_movement(view, at);
  const UOp result = graph_.store(gated_place(memory_states_.buffer_of(view), at, extents_of(view)),
                                  v, loops.ranges);
  return {graph_.sink(std::span(&result, 1)), lower.reads(), lower.computed()};
}

// ---- finishing --------------------------------------------------------------------------------

void KernelList::add(Draft draft, UOp writes, UOp out, UOp supersedes, int part) {
  PendingStep pending;
  pending.nests = {draft.sink};
  pending.device = device_of(writes);
  for (const auto& [state, places] : draft.reads) {
    need(state);
    UOp read = read_as(state, pending.device);
    if (read == writes) read = state;  // the copy itself is made from memory
    if (std::ranges::find(pending.reads, read) == pending.reads.end())
      pending.reads.push_back(read);
  }
  FlatSet<const Node*>& computed = computed_[writes.node()];
  for (const Node* n : draft.computed) computed.insert(n);
  pending.writes = {writes};
  pending.outputs = {out};
  pending.supersedes = supersedes;
  pending.part = part;
  steps_.push_back(std::move(pending));
}

UOp KernelList::memory_of(UOp state) {
  if (is_state(state) && !snapshots_.contains(state.node())) return memory_states_.buffer_of(state);
  return own_buffer(state);
}

// The memory of the state for kernels of `device`: a copy if it is on another one.  That can be so
// for what belongs to no device, like a range of numbers.
UOp KernelList::buffer_on(int device, UOp state) {
  const UOp memory = memory_of(state);
  if (memory.buffer_device() == device) return memory;
  UOp& moved = moved_[{state.node(), device}];
  if (!moved) moved = new_buffer(state, device, {BufferCause::OtherDevice});
  return moved;
}

// What stands for the state among the reads of a step: its copy, if it is read through one.
UOp KernelList::read_as(UOp state, int device) {
  const UOp memory = memory_of(state), buffer = buffer_on(device, state);
  const UOp read = snapshots_.contains(state.node()) ? memory : state;
  if (buffer == memory) return read;
  if (moves_made_.emplace(buffer.node(), true).second) {
    PendingStep move;
    move.device = device;
    move.steps = {copy_step(memory, buffer)};
    move.reads = {read};
    move.writes = {buffer};
    steps_.push_back(std::move(move));
  }
  return buffer;
}

UOp KernelList::own_buffer(UOp state) {
  auto it = buffers_.find(state.node());
  if (it != buffers_.end()) return it->second;
  const BufferReason reason =
      is_state(state) ? BufferReason{BufferCause::OlderContents} : plan_.reason(state);
  const UOp buffer = new_buffer(state, device_of(state), reason);
  return buffers_.emplace(state.node(), buffer).first->second;
}

UOp KernelList::new_buffer(UOp state, int device, BufferReason reason) {
  // Index is no dtype of memory.
  const DType dtype = state.dtype() == DType::Index ? DType::Int64 : state.dtype();
  const UOp buffer = add_temporary(schedule_, graph_, dtype, state.element_count(), device, reason);
  ScheduleBuffer& added = schedule_.buffers.back();
  for (Extent size : extents_of(state)) added.shape.push_back(size.most());
  added.value = state.id();
  return buffer;
}

int KernelList::device_of(UOp u) {
  if (u.is(Op::Buffer)) return u.buffer_device();
  const int device = u.id() < devices_.size() ? devices_[u.id()] : -1;
  return device < 0 ? context_.default_device : device;
}

Lowering::Limits KernelList::limits(UOp u) {
  const Caps& caps = context_.caps(device_of(u));
  if (!caps.runs_warps()) return {caps.threads, caps.threads, caps.max_buffers};
  // Half as many groups as the device has room for leave less idle than another launch.
  const std::int64_t groups = std::max<std::int64_t>(1, caps.threads / 4);
  return {groups, groups * caps.warp_items, caps.max_buffers, caps.matrix_units};
}

}  // namespace croze
