// elementwise.h -- elementwise ops as instructions of SPIR-V.
//
// Integers of 8 and 16 bits live in 32, extended as their type says.  Floats are computed as
// written: each instruction is decorated so that none is fused with another.
#pragma once

#include <cstdint>
#include <span>

#include "croze/graph/uop.h"
#include "croze/render/spirv/module.h"

namespace croze::spirv {

// The value of the node, whose operands have these.  Throws InternalError for an op that the
// renderer has not.
Id elementwise(Module& module, UOp u, std::span<const Id> operands);

// The elementwise ops that there are instructions for, as bits.
OpSet table_ops();

}  // namespace croze::spirv
