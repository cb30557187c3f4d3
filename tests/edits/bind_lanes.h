// bind_lanes.h -- a loop as lanes, on processors whose vectors are shorter than it, too.
#pragma once

#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"

namespace croze::test {

// Of a loop that is longer than a vector of the device the inner part.
inline void bind_lanes(KernelState& k, UOp loop) {
  const std::int64_t most = most_lanes(k.caps());
  bind(k, loop.range_size() > most ? split(k, loop, most).inner : loop, LoopKind::Lane);
}

}  // namespace croze::test
