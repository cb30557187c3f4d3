// serialize.h -- graphs as bytes: keys of caches, and the code of the interpreter.
//
// The bytes are canonical: nodes are numbered in the order of the first visit, operands before
// users, so equal graphs give equal bytes in every run, whatever the ids of their nodes are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/graph/graph.h"

namespace croze {

// Everything the nodes reach, then which of them the list consists of.  Linear and iterative.
std::string serialize(std::span<const UOp> nodes);
// The same of equal graphs over any Buffers: instead of its id, each has the number of its first
// visit.  Appends them to `buffers`, by number.
std::string serialize_over(std::span<const UOp> nodes, std::vector<UOp>& buffers);

// The list again, built in `graph`.  Never trusts the bytes: damaged input throws Error.
std::vector<UOp> deserialize(Graph& graph, std::string_view bytes);

}  // namespace croze
