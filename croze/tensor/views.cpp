// views.cpp -- the bookkeeping of views.
#include "croze/tensor/views.h"

#include <algorithm>
#include <functional>
#include <ranges>

#include "croze/base/error.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"

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

ViewPath path_of(const TensorRecord& x) {
  return x.root ? x.path : ViewPath{{}, contiguous_strides(x.node.shape())};
}

UOp stepped(const ViewStep& step, UOp x) {
  if (step.op != Op::Detach) return movement_node(step.op, x, step.arg);
  return x.graph().make(Op::Detach, x.dtype(), {x});
}

}  // namespace

Tensor moved_view(const Tensor& x, Op op, std::span<const std::int64_t> arg) {
  GraphLock lock;
  TensorRecord& from = TensorRecord::of(x);
  Tensor result = wrap_like(x, movement_node(op, from.node_to_use(), arg));
  TensorRecord& record = TensorRecord::of(result);
  if (record.node.elements() == 0) return result;
  ViewPath path = path_of(from);
  if (!moved_strides(op, arg, from.node, record.node, path.strides)) return result;
  path.steps.push_back({op, Shape(arg)});
  record.path = std::move(path);
  record.attach_to(from.root ? *from.root : from);
  return result;
}

Tensor detached_view(const Tensor& x) {
  GraphLock lock;
  TensorRecord& from = TensorRecord::of(x);
  ViewPath path = path_of(from);
  path.steps.push_back({Op::Detach, {}});
  const Tensor result = wrap_like(x, stepped(path.steps.back(), from.node_to_use()));
  TensorRecord& record = TensorRecord::of(result);
  if (record.node.elements() == 0) return result;
  record.path = std::move(path);
  record.attach_to(from.root ? *from.root : from);
  return result;
}

UOp led_through(UOp root, std::span<const ViewStep> steps) {
  for (const ViewStep& s : steps) root = stepped(s, root);
  return root;
}

UOp place_in(UOp root, std::span<const ViewStep> steps) {
  for (const ViewStep& s : steps) {
    if (s.op != Op::Detach) root = movement_node(s.op, root, s.arg);
  }
  return root;
}

Tensor attached(const Tensor& x) {
  GraphLock lock;
  const TensorRecord& record = TensorRecord::of(x);
  return record.root ? wrap_like(x, place_in(record.root->node, record.path.steps)) : x;
}

bool is_whole(const ViewPath& path) {
  return std::ranges::all_of(path.steps, [](const ViewStep& s) { return s.op == Op::Detach; });
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

// A view of which no two places are one in its root: a choice among the places that could be one
// element is not needed then, and could not be a sum, which makes 0 of -0.

bool joins_places(const ViewStep& step, UOp from) {
  if (step.op == Op::Window) return step.arg[1] > 1;
  return step.op == Op::Expand && !std::ranges::equal(from.shape(), step.arg);
}

// Back through one movement that joins no places, with zeros where the view does not look.
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
      return reshape_node(movement_node(Op::Unwindow, value, to), shape);
    }
    default: return reshape_node(value, shape);
  }
}

// Where a view stands in its contiguous root.
struct Layout {
  Shape strides;
  std::int64_t offset = 0;
};

// The value at its places in a root of `shape`, with zeros where the view does not look: axis by
// axis from the smallest stride on, each element is padded to what lies between it and the next.
UOp laid_out(UOp value, const Layout& layout, Sizes shape) {
  std::vector<std::int64_t> order;
  for (int i = 0; i < value.rank(); i++) order.push_back(i);
  const auto stride_of = [&](std::int64_t axis) {
    return value.shape()[static_cast<std::size_t>(axis)] == 1 ? 0 : layout.strides[axis];
  };
  std::ranges::stable_sort(order, std::greater(), stride_of);
  UOp result = reshape_node(movement_node(Op::Permute, value, order), Shape{value.elements(), 1});
  std::int64_t length = 1;  // of the last axis
  for (const std::int64_t axis : std::views::reverse(order)) {
    const std::int64_t size = value.shape()[static_cast<std::size_t>(axis)];
    if (size == 1) continue;
    const std::int64_t stride = stride_of(axis), outer = result.shape()[0] / size;
    result = movement_node(Op::Pad, result, Shape{0, 0, 0, stride - length});
    result = reshape_node(result, Shape{outer, size * stride});
    length += (size - 1) * stride;
    result = movement_node(Op::Shrink, result, Shape{0, outer, 0, length});
  }
  const std::int64_t elements = Shape(shape).numel();
  const Shape around{layout.offset, elements - layout.offset - length};
  return reshape_node(movement_node(Op::Pad, reshape_node(result, Shape{length}), around), shape);
}

}  // namespace

UOp with_view_replaced(UOp root, std::span<const ViewStep> steps, UOp value) {
  std::vector<ViewStep> path;
  std::vector<Shape> shapes;
  Layout layout{contiguous_strides(root.shape())};
  bool joins = false;
  UOp node = root;
  for (const ViewStep& s : steps) {
    if (s.op == Op::Detach) continue;
    path.push_back(s);
    shapes.emplace_back(node.shape());
    joins = joins || joins_places(s, node);
    for (int i = 0; s.op == Op::Shrink && i < node.rank(); i++) {
      layout.offset += s.arg[2 * i] * layout.strides[i];
    }
    const UOp moved = movement_node(s.op, node, s.arg);
    const bool is_view = moved_strides(s.op, s.arg, node, moved, layout.strides);
    ensure(is_view, "a part that {} makes is stored into", info(s.op).name);
    node = moved;
  }
  UOp mask = filled_node(tensor_graph().boolean(true), value.shape());
  const auto back = [&](UOp part) {
    if (joins) return laid_out(part, layout, root.shape());
    for (std::size_t i = path.size(); i-- > 0;) part = led_back(path[i], part, shapes[i]);
    return part;
  };
  const UOp choice[] = {back(mask), back(value), root};
  return elementwise_node(Op::Where, choice, root.shape());
}

std::vector<ViewStep> steps_to(UOp place, UOp root) {
  std::vector<ViewStep> steps;
  for (; place != root; place = place.src(0)) {
    if (place.is(Op::After)) continue;
    ensure(is_movement(place.op()), "a store into {}, which is no view of what follows it",
           info(place.op()).name);
    steps.push_back({place.op(), Shape(place.arg().as_ints())});
  }
  std::ranges::reverse(steps);
  return steps;
}

std::vector<MemoryPart> parts_stored(UOp node) {
  const UOp buffer = viewed_buffer(node);
  std::vector<MemoryPart> parts;
  for (; node != buffer; node = node.src(0)) {
    if (!node.is(Op::After)) continue;
    for (UOp effect : node.sources()) {
      if (!effect.is(Op::Store)) continue;
      if (effect.src(1).elements() == buffer.elements()) return {};
      parts.push_back(steps_to(effect.src(0), buffer));
    }
  }
  return parts;
}

}  // namespace croze
