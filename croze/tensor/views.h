// views.h -- internal to tensor/: views share memory with what they look at, as in PyTorch.
//
// The graph has values only.  So a view remembers the tensor at the root of its views, and the
// movements that lead from there.  An assignment through a view gives the root a new value, and
// whenever the root gets another node, its live views get theirs from it by the same movements.
//
// A detached tensor is such a view, too, with a Detach among the movements: no gradient comes to
// the root through it.  What is assigned through it is assigned to the root, as through any view.
#pragma once

#include <span>
#include <vector>

#include "croze/graph/uop.h"
#include "croze/tensor/shape.h"

namespace croze {

struct TensorRecord;
class Tensor;

struct ViewStep {
  Op op;  // a movement, or Detach
  Shape arg;
};

// How a view stands in memory if its root is contiguous: elements from one to the next per axis.
struct ViewPath {
  std::vector<ViewStep> steps;
  Shape strides;
};

// x moved by `op`.  A view of x, unless PyTorch would copy: a flip, a padding, or a reshape of
// elements that do not lie in order.
Tensor moved_view(const Tensor& x, Op op, std::span<const std::int64_t> arg);
// x through which no gradient flows.
Tensor detached_view(const Tensor& x);

// The root's node led through the steps.
UOp led_through(UOp root, std::span<const ViewStep> steps);
// The part of the root that the view looks at, to be stored into: a chain of movements.
UOp place_in(UOp root, std::span<const ViewStep> steps);
// What x holds, with its gradient even if x is detached: a part of it that is assigned to leaves
// the rest as it was recorded.
Tensor attached(const Tensor& x);
// Whether the view looks at all of the root in the root's shape.
bool is_whole(const ViewPath& path);
// Whether no two elements of the view are one element of the root.
bool is_injective(std::span<const std::int64_t> shape, const ViewPath& path);
// The root's node with `value` where the view looks at it.
UOp with_view_replaced(UOp root, std::span<const ViewStep> steps, UOp value);
// The movements that lead to a place in `root`, through what stores in it leave.
std::vector<ViewStep> steps_to(UOp place, UOp root);

// A part of memory: the movements that lead to it from its Buffer.
using MemoryPart = std::vector<ViewStep>;
// The parts that are stored into before a Buffer holds what the node says; none if one is all of
// it.
std::vector<MemoryPart> parts_stored(UOp node);

}  // namespace croze
