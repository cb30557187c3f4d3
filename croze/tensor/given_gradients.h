// given_gradients.h -- internal to tensor/ and jit/: the functions behind nodes WithGradient.
//
// A node is values and integers, so the function stands in a table, under the number of the call of
// with_gradient that is in the node's argument.  It goes when the last node of its call does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "croze/graph/node_set.h"
#include "croze/graph/uop.h"
#include "croze/tensor/gradient.h"

namespace croze {

// One call of with_gradient.
struct GivenGradient {
  struct Value {
    Shape shape;
    DType dtype;
    int device;
  };

  GradientFunction function;
  std::vector<Value> values;
  std::vector<int> input_devices;
  Location at;
};

class GivenGradients {
 public:
  bool empty() const { return calls_.empty(); }

  // Returns the number of the call.
  std::int64_t add(GivenGradient given);
  const std::shared_ptr<const GivenGradient>& at(std::int64_t call) const;
  // Forgets the calls none of whose nodes is seen.
  void drop_unseen(const NodeSet& seen);

 private:
  std::map<std::int64_t, std::shared_ptr<const GivenGradient>> calls_;
  std::int64_t next_ = 0;
};

// The value whose gradient goes to the inputs: result `k` of the call.
UOp with_gradient_node(UOp value, std::span<const UOp> inputs, std::int64_t call, int k);
// The nodes of the inputs of a call, with their devices in `given`.
std::vector<UOp> input_nodes(std::span<const Tensor> inputs, GivenGradient& given);

}  // namespace croze
