// structure.h -- internal to gradient/: derivatives of the ops that are not elementwise.
#pragma once

#include <span>

#include "croze/graph/gradient/gradient_rules.h"

namespace croze {

// Partials of movement, reduction, gather, scatter, copies and stores.
Partials structural_partials(UOp u, UOp g, std::span<const bool> wanted);

}  // namespace croze
