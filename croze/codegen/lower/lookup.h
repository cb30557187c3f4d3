// lookup.h -- tables in registers, for what is computed of a few bits.
#pragma once

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// What varies from lane to lane by one small number alone, an integer below the lanes of a vector,
// has one value for each of them.  Those values are a vector too: the same expression, of the
// number of the lane.  So an expression of four bits (a packed weight with its scale and offset, an
// entry of a table in memory) is one Lookup, and its vector of values is shared by all that have
// the same, or stands outside of the loops.  The bits are those of what is replaced.
//
// `sink` is a kernel after decompose(); what is looked up has four bytes (Caps::looks_up).
[[nodiscard]] UOp make_lookups(UOp sink, const Caps& caps);

}  // namespace croze
