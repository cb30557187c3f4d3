// views.cpp -- the bookkeeping of views.
#include "croze/tensor/views.h"

#include <algorithm>

#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze {
namespace {

using Sizes = std::span<const std::int64_t>;

Shape contiguous_strides(Sizes shape) {
  Shape strides(shape);
  std::int64_t stride = 1;
  for (int i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[static_cast<std::size_t>(i)], 1);
  }
  return strides;
}

// The strides of a reshaped view, if it is one: axes can be cut, and merged where one step of the
// outer is a whole walk of the inner.
bool reshape_strides(Sizes from, const Shape& strides, Sizes to, Shape& result) {
  result = Shape(to);
  int j = static_cast<int>(to.size()) - 1;
  std::int64_t room = 1, covered = 1;  // elements of the run of merged axes, and of new axes in it
  std::int64_t stride = from.empty() ? 1 : strides.back();
  for (int i = static_cast<int>(from.size()) - 1; i >= 0; i--) {
    const std::int64_t size = from[static_cast<std::size_t>(i)];
    room *= size;
    const bool ends =
        i == 0 || (from[static_cast<std::size_t>(i - 1)] != 1 && strides[i - 1] != room * stride);
    if (!ends) continue;
    while (j >= 0 && (covered < room || to[static_cast<std::size_t>(j)] == 1)) {
      result[j] = covered * stride;
      covered *= to[static_cast<std::size_t>(j--)];
    }
    if (covered != room) return false;
    if (i > 0) stride = strides[i - 1];
    room = covered = 1;
  }
  for (; j >= 0; j--) result[j] = 1;
  return true;
}

// The strides after one more movement; false if it copies.
bool moved_strides(Op op, Sizes arg, UOp from, UOp to, Shape& strides) {
  switch (op) {
    case Op::Shrink: return true;
    case Op::Permute: {
      const Shape before = strides;
      for (int i = 0; i < strides.size(); i++)
        strides[i] = before[arg[static_cast<std::size_t>(i)]];
      return true;
    }
    case Op::Expand:
      for (int i = 0; i < strides.size(); i++) {
        const auto axis = static_cast<std::size_t>(i);
        if (from.shape()[axis] != to.shape()[axis]) strides[i] = 0;
      }
      return true;
    case Op::Window:
      strides.push_back(strides[arg[0]] * arg[3]);
      strides[arg[0]] *= arg[2];
      return true;
    case Op::Reshape: {
      Shape result;
      if (!reshape_strides(from.shape(), strides, to.shape(), result)) return false;
      strides = result;
      return true;
    }
    default: return false;
  }
}

}  // namespace

Tensor moved_view(const Tensor& x, Op op, std::span<const std::int64_t> arg) {
  GraphLock lock;
  TensorRecord& from = TensorRecord::of(x);
  Tensor result = wrap_like(x, movement_node(op, from.node, arg));
  TensorRecord& record = TensorRecord::of(result);
  if (record.node.elements() == 0) return result;
  ViewPath path = from.root ? from.path : ViewPath{{}, contiguous_strides(from.node.shape())};
  if (!moved_strides(op, arg, from.node, record.node, path.strides)) return result;
  path.steps.push_back({op, Shape(arg)});
  record.path = std::move(path);
  record.attach_to(from.root ? *from.root : from);
  return result;
}

UOp led_through(UOp root, std::span<const ViewStep> steps) {
  for (const ViewStep& s : steps) root = movement_node(s.op, root, s.arg);
  return root;
}

bool is_injective(Sizes shape, const ViewPath& path) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, size
  for (std::size_t i = 0; i < shape.size(); i++) {
    if (shape[i] > 1) axes.emplace_back(path.strides[static_cast<std::int64_t>(i)], shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;  // of all axes with smaller strides
  for (const auto& [stride, size] : axes) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

namespace {

// The one value along the axes that is not 0: no two places of a view are one in its root.
UOp joined(UOp value, Sizes axes) {
  if (axes.empty()) return value;
  return tensor_graph().reduce_axes(value.dtype() == DType::Bool ? Op::Max : Op::Add, value, axes);
}

// Back through one movement, with zeros where the view does not look.
UOp led_back(const ViewStep& step, UOp value, Sizes shape) {
  const Shape& arg = step.arg;
  Shape back;
  switch (step.op) {
    case Op::Permute:
      for (int i = 0; i < arg.size(); i++) back.push_back(0);
      for (int i = 0; i < arg.size(); i++) back[arg[i]] = i;
      return movement_node(Op::Permute, value, back);
    case Op::Shrink:
      for (std::size_t i = 0; i < shape.size(); i++) {
        const auto axis = static_cast<std::int64_t>(i);
        back.push_back(arg[2 * axis]);
        back.push_back(shape[i] - arg[2 * axis + 1]);
      }
      return movement_node(Op::Pad, value, back);
    case Op::Window: {
      const std::int64_t to[] = {arg[0], shape[static_cast<std::size_t>(arg[0])], arg[2], arg[3]};
      const UOp spread = movement_node(Op::Unwindow, value, to);
      const std::int64_t last[] = {spread.rank() - 1};
      return reshape_node(joined(spread, last), shape);
    }
    case Op::Expand: {
      Shape repeated;
      for (std::size_t i = 0; i < shape.size(); i++) {
        if (value.shape()[i] != shape[i]) repeated.push_back(static_cast<std::int64_t>(i));
      }
      return reshape_node(joined(value, repeated), shape);
    }
    default: return reshape_node(value, shape);
  }
}

}  // namespace

UOp with_view_replaced(UOp root, std::span<const ViewStep> steps, UOp value) {
  std::vector<Shape> shapes;
  UOp node = root;
  for (const ViewStep& s : steps) {
    shapes.emplace_back(node.shape());
    node = movement_node(s.op, node, s.arg);
  }
  UOp mask = filled_node(tensor_graph().boolean(true), value.shape());
  for (std::size_t i = steps.size(); i-- > 0;) {
    value = led_back(steps[i], value, shapes[i]);
    mask = led_back(steps[i], mask, shapes[i]);
  }
  const UOp choice[] = {mask, value, root};
  return elementwise_node(Op::Where, choice, root.shape());
}

}  // namespace croze
