// sums_in_lanes.h -- sums over lanes that are stored side by side.
#pragma once

#include "croze/device/caps.h"
#include "croze/graph/uop.h"

namespace croze {

// Makes a vector of as many sums over lanes as there are lanes, and of all that is computed of them
// and stored in runs, each as long as the others and as far from the last.
UOp keep_sums_in_lanes(UOp sink, const Caps& caps);

}  // namespace croze
