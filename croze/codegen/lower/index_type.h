// index_type.h -- index arithmetic becomes arithmetic on a sized integer.
#pragma once

#include <span>

#include "croze/codegen/edits/item_axes.h"
#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// Replaces dtype Index by Int32 or Int64 throughout: Int64 on devices whose addresses are computed
// in 64 bits anyway (those with tasks), else Int32 if every index expression fits.  The terms of a
// sum are added in the order of the loops they vary over, outermost first, so that all but the last
// additions stand outside the innermost loop.  Ranges of kinds Thread, Group and Item become
// Special.  Trip counts stay sources of loops; what is open of launches and buffers is known from
// ProgramInfo.
UOp lower_index_type(UOp sink, std::span<const UOp> loops, const ItemAxes& items, const Caps& caps);

}  // namespace croze
