// contract.h -- which sums of products a matrix unit can add up; contract() itself is in
// transform.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/matrix_unit.h"

namespace croze {

// A sum of products that a unit adds up.
struct ContractionPlan {
  UOp reduce;
  UOp a, b;  // the factors as the unit takes them: not widened; b varies over the lanes
  UOp rows;  // copies of the code that a varies over and that the unit makes at once; null: one
};

// Why the unit cannot add up the products of a reduction over `depth`, one loop or those that make
// up the unit's depth, outermost first, for the lanes; empty if it can, and then `plan`, if it is
// not null, says of what.
std::string plan_contraction(UOp sink, UOp reduce, UOp lanes, std::span<const UOp> depth,
                             const MatrixUnit& unit, ContractionPlan* plan);

// Whether a factor of this dtype may be widened to that of a unit, if it is another one.
bool takes_dtype(DType of_unit, DType factor);

// Whether the unit takes a factor of this dtype that has these values, as far as they are known: of
// a tile, what is stored there.
bool takes_values(const MatrixUnit& unit, UOp factor);

// Why the edit of this name cannot be made with unit number `unit` of the device, of one thread;
// empty if it can.
std::string refuse_contraction(const KernelState& k, UOp lanes, std::span<const UOp> depth,
                               std::int64_t unit);

// Whether the unit of this number is one of the threads of a wave together.
bool is_of_wave(const Caps& caps, std::int64_t unit);

// The factors of the products that a reduction adds up, as they are loaded.  Null if it adds up no
// products, or leaves out some that are not zero.
struct LoadedFactors {
  UOp first, second;
};
LoadedFactors factors_of_sum(UOp reduce, DType accumulator);

// Whether an edit, of a first range that may be null, leaves what units add up products of what is
// loaded.
bool leaves_contractions(UOp sink, EditKind kind, UOp range);

// Whether the reduction is a sum of products of what the unit multiplies, in either order, one of
// them the same for all lanes.
bool multiplies_for(UOp reduce, const MatrixUnit& unit);

// The loops that a reduction closes of terms which a unit takes at once, outermost first; none if
// there is no unit.
std::vector<UOp> depths_of(UOp reduce);

// Ranges that lowering makes for the sums of the kernel that units add up (lower/contractions.h),
// at most; 0 if there are none.
std::int64_t ranges_for_contractions(UOp sink);

}  // namespace croze
