// group_factor.h -- factors that a matrix unit reads from group memory by itself.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/matrix_unit.h"

namespace croze {

// A factor as it is loaded from memory of the program.
struct GroupFactor {
  UOp load;
  UOp lines;  // the output loop over rows or columns of the unit
  UOp depth;  // that over its terms
  char axis;  // of the lines in the record: 'm', 'n'
  std::string_view places;
};

// What a tile of all that the items of a group multiply at once extends over, the factor of one
// instruction innermost.
std::vector<UOp> ranges_of_factor(const KernelState& k, const GroupFactor& factor);

// Why its tile cannot be one in which the factors of the unit lie one after the other; empty if it
// can.
std::string refuse_group_factor(const KernelState& k, const GroupFactor& factor);

// The factor in such a tile, which the items fill, or the device by boxes of what lies so that it
// can: what an item has of it, in the lanes `part`.
UOp group_factor(KernelState& k, const GroupFactor& factor, std::span<const UOp> items, UOp part,
                 const MatrixUnit& unit);

}  // namespace croze
