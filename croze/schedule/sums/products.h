// products.h -- sums of many products of tensors, taken together as a product of stacks.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "croze/graph/node_map.h"
#include "croze/graph/uop.h"

namespace croze {

// The gradient of a weight that is used many times, as at each time of a recurrent network, is
//
//     sum over r of (a1 * b1 + a2 * b2 + ..)
//
// in which a product has more elements than its factors.  As one kernel it would read too much; cut
// between products, it would write products down.  With a1, a2, .. stacked, and b1, b2, .., it is
//
//     sum over t and r of a[t] * b[t]
//
// which is one product of matrices, in stacks of so many factors as a kernel can read.
class SumsOfProducts {
 public:
  // `order`: a tensor graph, sources first.
  explicit SumsOfProducts(std::span<const UOp> order);

  // What a reduction of the graph becomes; null if it stays as it is.  `copies`: what has become of
  // the nodes below it.
  UOp stacked(UOp reduce, const NodeMap<UOp>& copies) const;

 private:
  std::unordered_map<const Node*, std::vector<UOp>> products_;  // of each reduction
};

}  // namespace croze
