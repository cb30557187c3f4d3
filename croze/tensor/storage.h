// storage.h -- internal to tensor/: which memory a node looks at.
#pragma once

#include "croze/graph/uop.h"

namespace croze {

// Whether the value of the op is elements of its source as they are.
bool is_view_op(Op op);
// The Buffer of a chain of Reshapes, detached or not; null if the node is anything else.
UOp storage_of(UOp node);
// Whether the node reaches a Buffer.
bool reads_memory(UOp node);
// Whether the node is a view of a Buffer as it stands in memory.
bool looks_at_memory(UOp node);
// The Buffer that a view looks at, through stores that have not happened yet; null if the node
// computes something.
UOp viewed_buffer(UOp node);

}  // namespace croze
