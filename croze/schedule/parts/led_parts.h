// led_parts.h -- parts of a reduction whose terms need what another one comes to, its leader.
#pragma once

#include <optional>

#include "croze/graph/uop.h"
#include "croze/schedule/parts/cut.h"

namespace croze {

// A reduction that has been cut.
struct CutReduction {
  UOp reduce;  // as it was
  UOp whole;   // what stands for it
  UOp parts;   // as stored_parts() has them
  Cut cut;
};

struct LedParts {
  UOp stored, whole;
};

// The reduction, cut where its leader is, so that a part needs no more than the same part of the
// leader.  Nothing if it follows no such leader, or no law says how.
std::optional<LedParts> led_in_parts(UOp reduce, const CutReduction& leader);

}  // namespace croze
