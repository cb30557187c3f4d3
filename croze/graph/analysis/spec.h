// spec.h -- what is legal at each boundary of the path: the tensor graph, a kernel, a linear
// program.
//
// Tests and CROZE_CHECK_SPEC run these after each stage.  All throw InternalError that names the
// stage, says what is wrong and prints the node.
#pragma once

#include <span>

#include "croze/graph/uop.h"

namespace croze {

// The graph that user code records: buffers, constants, movement, elementwise ops, reductions over
// axes; no loops, no addresses.
void check_tensor_graph(UOp root);

// One kernel, from the scheduler until it is linearised: a Sink of Stores; values are scalars over
// Range nodes, memory is reached through Index, every range is closed by a Reduce, Stage or Store,
// and a range id has one size and kind.
void check_kernel(UOp sink);

// The instructions of a linear program (render/program.h), in order: sources come first, loops
// nest, no Index dtype, no Invalid and no Unroll range is left.
void check_program(std::span<const UOp> instructions);

}  // namespace croze
