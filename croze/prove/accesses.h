// accesses.h -- proof that a kernel stays inside its buffers.
#pragma once

#include <cstdint>
#include <string_view>

#include "croze/graph/observer.h"
#include "croze/graph/uop.h"

namespace croze {

// How the places of a kernel were proven.
struct AccessProofs {
  std::int64_t by_bounds = 0;
  std::int64_t by_solver = 0;
};

// Proves that every place that `kernel` (a Sink of Stores, with addresses of dtype Index) reads or
// writes lies in its buffer, or has a false gate, for all values of the loops and of the Variables
// that sizes depend on, and all contents of the memory that addresses are computed from.  Bounds
// decide most; the rest is asked of Z3, with a limit of steps.
//
// Throws InternalError with the name of the kernel, the access, its gate and values that lead
// outside, also if Z3 gives no answer; Error if Z3 is needed and not there.
AccessProofs prove_accesses(UOp kernel, std::string_view name);

// Does so for each kernel that is compiled while it watches, once its edits have been made: the
// last stage at which a reduction, which may be an address, has its bounds.  What follows copies
// addresses and gives them a width.
class AccessProver : public CompileObserver {
 public:
  void left(CompilePart part, std::string_view name, UOp result) override;
};

}  // namespace croze
