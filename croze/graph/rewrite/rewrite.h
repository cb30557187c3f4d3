// rewrite.h -- drivers: how a rule set, or a plain mapping, is applied to a whole graph.
//
// All are iterative, memoised by node and return the same node when nothing changed.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "croze/graph/uop.h"

namespace croze {

class NodeSet;
class RuleSet;

enum class Order {
  Post,  // operands first, then rules at the node, until none fires (the default)
  Pre,   // rules at the node until none fires, then its operands; the result is visited again
  Walk,  // every original node once, operands first; what a rule produced is not visited
};

// `root` rewritten by `rules`.  `state` reaches function rules as m.state<T>().
// Throws InternalError, naming the last rules that fired, if a node does not settle.
[[nodiscard]] UOp rewrite(UOp root, const RuleSet& rules, Order order = Order::Post,
                          void* state = nullptr);

// `root` with every occurrence of a first replaced by its second, rebuilt through the canonical
// constructors.  Replacements are not searched again.
[[nodiscard]] UOp substitute(UOp root, std::span<const std::pair<UOp, UOp>> replacements);

// Everything `root` reaches, sources before users, each once.
std::vector<UOp> toposort(UOp root);
std::vector<UOp> toposort(std::span<const UOp> roots);
// The same without what has been seen, which they are then, too.
std::vector<UOp> toposort(std::span<const UOp> roots, NodeSet& seen);

}  // namespace croze
