// structure.h -- internal to gradient/: derivatives of the ops that are not elementwise.
#pragma once

#include <span>

#include "croze/graph/analysis/derive.h"
#include "croze/graph/gradient/gradient_rules.h"

namespace croze {

// Partials of movement, reduction, gather, scatter, copies and stores.
Partials structural_partials(UOp u, UOp g, std::span<const bool> wanted);

// The movement of `x`, which is `x` itself where its shape stays.
UOp moved(Op op, UOp x, const Dims& arg);

// `x`, whose shape is () or aligned with it, repeated to `shape`.
UOp expanded(UOp x, std::span<const std::int64_t> shape);

}  // namespace croze
