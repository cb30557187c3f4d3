// memory_states.cpp -- walks along chains of Afters, each taken once.
#include "croze/schedule/memory/memory_states.h"

#include <vector>

#include "croze/graph/graph.h"
#include "croze/schedule/ranges.h"

namespace croze {

MemoryStates::Place MemoryStates::place_of(UOp state) {
  std::vector<UOp> chain;
  Place below;
  for (; state.is(Op::After); state = state.src(0)) {
    if (const Place* known = places_.find(state.node())) {
      below = *known;
      break;
    }
    chain.push_back(state);
  }
  if (state.is(Op::Buffer)) below.buffer = state;
  if (!below.buffer) return below;
  for (; !chain.empty(); chain.pop_back()) {
    below.age++;
    places_.insert(chain.back().node(), below);
  }
  return below;
}

UOp MemoryStates::buffer_of(UOp state) { return place_of(state).buffer; }
std::int64_t MemoryStates::age_of(UOp state) { return place_of(state).age; }

bool MemoryStates::are_of_one(UOp a, UOp b) {
  const UOp buffer = buffer_of(a);
  return buffer && buffer == buffer_of(b);
}

bool MemoryStates::is_kept(UOp state, UOp later, const Region& region) {
  const std::int64_t age = age_of(state);
  for (; age_of(later) > age; later = later.src(0)) {
    for (int i = 1; i < later.num_src(); i++) {
      const UOp store = later.src(i);
      const bool is_empty = store.src(0).elements() == 0;
      if (!is_empty && !are_disjoint(region_of_store(store), region)) return false;
    }
  }
  return later == state;
}

Region MemoryStates::region_of_store(UOp store) {
  if (const Region* known = regions_.find(store.node())) return *known;
  UOp view = store.src(0);
  Graph& graph = view.graph();
  Position at{{}, graph.boolean(true)};
  for (Extent size : extents_of(view)) {
    const auto axis = static_cast<std::int64_t>(at.index.size());
    at.index.push_back(size.most() > 1 ? graph.range(axis, size, LoopKind::Parallel)
                                       : graph.index(0));
  }
  for (; is_movement(view.op()); view = view.src(0)) at = through_movement(view, at);
  const UOp flat = flat_index(at.index, extents_of(view), graph);
  const Region region = region_of(flat, view.elements(), !at.gate.is_const());
  regions_.insert(store.node(), region);
  return region;
}

}  // namespace croze
