// memory_states.h -- the states of one piece of memory: what assignments have made of it.
#pragma once

#include <cstdint>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/graph/uop.h"
#include "croze/schedule/memory/region.h"

namespace croze {

// The states of a Buffer are a chain: it, an After on it, an After on that, and so on.
class MemoryStates {
 public:
  // The memory that the state, a Buffer or an After, stands in; null for any other node.
  UOp buffer_of(UOp state);
  // How many Afters lead to it.
  std::int64_t age_of(UOp state);
  bool are_of_one(UOp a, UOp b);

  // Whether the region holds the same in `later`, a state of the same memory, as in `state`.
  bool is_kept(UOp state, UOp later, const Region& region);
  // What a Store into a view of memory overwrites; the view has elements.
  Region region_of_store(UOp store);

 private:
  struct Place {
    UOp buffer;
    std::int64_t age = 0;
  };
  Place place_of(UOp state);

  FlatMap<const Node*, Place> places_;
  FlatMap<const Node*, Region> regions_;  // of stores
};

}  // namespace croze
