// storage.h -- internal to tensor/: which memory a node looks at.
#pragma once

#include <span>
#include <string_view>

#include "croze/base/flat_map.h"
#include "croze/graph/node_set.h"
#include "croze/tensor/tensor.h"

namespace croze {

// Whether the value of the op is elements of its source as they are.
bool is_view_op(Op op);
// The Buffer of a chain of Reshapes, detached or not; null if the node is anything else.
UOp storage_of(UOp node);
// Whether the node reaches a Buffer.
bool reads_memory(UOp node);
// The nodes that the roots reach and that do.
NodeSet nodes_reading_memory(std::span<const UOp> roots);
// Whether the node is a view of a Buffer as it stands in memory.
bool looks_at_memory(UOp node);
// The Buffer that a view looks at, through stores that have not happened yet; null if the node
// computes something.
UOp viewed_buffer(UOp node);

// What a model calls the tensor, for those who look at what is computed with it.  Says nothing of a
// tensor that has not been computed.
void name_memory(const Tensor& t, std::string_view name);

// A view of a Buffer once its pending stores have happened, when memory is named by `now`.
UOp without_stores(UOp node, const FlatMap<const Node*, UOp>& now);

}  // namespace croze
