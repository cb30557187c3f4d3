// indexing.cpp -- elements by position.
//
// An index is worked off in two steps.  Integers, Slices, None and Ellipsis are movements of the
// axes they stand for.  What is left are axes taken whole and axes indexed by tensors; if there are
// any of the latter, one Gather (or Scatter) takes a position along every axis.
#include "croze/tensor/movement/indexing.h"

#include <algorithm>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/numeric.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/watch.h"

namespace croze {
namespace {

// An index made ready: one entry per axis of `view`, undefined where the axis is taken whole.
struct Indexed {
  Tensor view;
  std::vector<Tensor> positions;
  bool has_positions = false;
};

// How many axes of x the indices name: a mask as many as it has.
int named_axes(std::span<const TensorIndex> indices) {
  int count = 0;
  for (const TensorIndex& i : indices) {
    if (i.kind() == TensorIndex::Kind::NewAxis || i.kind() == TensorIndex::Kind::Ellipsis) continue;
    const bool is_mask = i.kind() == TensorIndex::Kind::Tensor && i.tensor().dtype() == DType::Bool;
    count += is_mask ? i.tensor().ndim() : 1;
  }
  return count;
}

// Where the mask holds: one tensor of positions per axis.
std::vector<Tensor> places_where(const Tensor& mask, Location at) {
  return unbind(nonzero(mask, at), 1, at);
}

Indexed basic_part(const Tensor& x, std::span<const TensorIndex> indices, Location at) {
  const Call call("index", {&x}, at);
  const int whole = x.ndim() - named_axes(indices);
  call.require(whole >= 0, "{} indices for a tensor of {} axes", named_axes(indices), x.ndim());
  Indexed result{.view = x};
  bool seen_ellipsis = false;
  std::int64_t axis = 0;  // of result.view
  const auto keep_axis = [&](const Tensor& position) {
    result.positions.push_back(position);
    axis++;
  };
  for (const TensorIndex& i : indices) {
    switch (i.kind()) {
      case TensorIndex::Kind::Integer: {
        const std::int64_t size = result.view.shape()[axis];
        call.require(-size <= i.integer() && i.integer() < size,
                     "index {} is out of range for an axis of size {}", i.integer(), size);
        result.view = squeeze(narrow(result.view, axis, i.integer(), 1, at), axis, at);
        break;
      }
      case TensorIndex::Kind::Slice:
        result.view = slice(result.view, axis, i.slice(), at);
        keep_axis({});
        break;
      case TensorIndex::Kind::NewAxis:
        result.view = unsqueeze(result.view, axis, at);
        keep_axis({});
        break;
      case TensorIndex::Kind::Ellipsis:
        call.require(!seen_ellipsis, "an index has one Ellipsis at most");
        seen_ellipsis = true;
        for (int k = 0; k < whole; k++) keep_axis({});
        break;
      case TensorIndex::Kind::Tensor: {
        const DType dtype = i.tensor().dtype();
        call.require(is_integral(dtype), "an index tensor holds integers or is a mask, not {}",
                     name_of(dtype));
        result.has_positions = true;
        if (dtype == DType::Bool) {
          const Shape from = result.view.shape(), mask = i.tensor().shape();
          call.require(
              mask == Shape(std::span(from.begin() + axis, from.begin() + axis + mask.size())),
              "a mask of shape {} does not fit axis {}", mask, axis);
          for (const Tensor& place : places_where(i.tensor(), at)) keep_axis(place);
        } else {
          keep_axis(i.tensor());
        }
        break;
      }
    }
  }
  while (axis < result.view.ndim()) keep_axis({});
  return result;
}

// Positions as Index numbers; negative ones count from the end of an axis of `size`.
UOp index_numbers(const Tensor& index, std::int64_t size, bool wrap_negative) {
  UOp node = index.node();
  // A position that was an Index before (from arange) needs no detour.
  if (node.is(Op::Cast) && node.src(0).dtype() == DType::Index) node = node.src(0);
  const Shape shape = index.shape();
  const UOp number = cast_node(node, DType::Index);
  if (!wrap_negative || is_unsigned(index.dtype()) || node.lo() >= 0) return number;
  const UOp sum[] = {number, tensor_graph().index(size)};
  const UOp zero[] = {number, tensor_graph().index(0)};
  const UOp choice[] = {elementwise_node(Op::Lt, zero, shape),
                        elementwise_node(Op::Add, sum, shape), number};
  return elementwise_node(Op::Where, choice, shape);
}

// One position along every axis of the view, all of one shape.
struct Places {
  SmallVector<UOp, 9> sources;  // room for the value in front
  Shape shape;
  int device = -1;
  Negative negative = Negative::Refused;
};

Places places_of(const Call& call, const Indexed& index) {
  const int rank = index.view.ndim();
  // The tensors' common shape stands at the first of them, or in front if they are apart.
  std::vector<Shape> shapes;
  int first = -1, last = -1, count = 0;
  Places result;
  result.negative = Negative::FromTheEnd;
  result.device = index.view.device_index();
  for (int axis = 0; axis < rank; axis++) {
    const Tensor& t = index.positions[static_cast<std::size_t>(axis)];
    if (!t.defined()) continue;
    shapes.push_back(t.shape());
    if (first < 0) first = axis;
    last = axis;
    count++;
    call.require(t.device_index() < 0 || result.device < 0 || t.device_index() == result.device,
                 "the index is on another device than the tensor");
    if (result.device < 0) result.device = t.device_index();
  }
  const Shape common = call.broadcast(shapes);
  const int place = last - first + 1 == count ? first : 0;

  Shape axis_of;  // of the result, for each axis of the view taken whole
  for (int axis = 0, at_axis = 0; axis < rank; axis++) {
    const bool whole = !index.positions[static_cast<std::size_t>(axis)].defined();
    if (whole && at_axis == place && (axis > first || place == 0)) at_axis += common.size();
    axis_of.push_back(whole ? at_axis : -1);
    if (whole) at_axis++;
  }
  for (int i = 0; i < rank - count + common.size(); i++) result.shape.push_back(0);
  for (int i = 0; i < common.size(); i++) result.shape[place + i] = common[i];
  for (int axis = 0; axis < rank; axis++) {
    if (axis_of[axis] >= 0) result.shape[axis_of[axis]] = index.view.shape()[axis];
  }
  call.check_shape(result.shape);

  Shape aligned = common;  // followed by the whole axes behind it
  for (int i = place + common.size(); i < result.shape.size(); i++) aligned.push_back(1);
  for (int axis = 0; axis < rank; axis++) {
    const Tensor& t = index.positions[static_cast<std::size_t>(axis)];
    UOp position;
    if (t.defined()) {
      const UOp number = index_numbers(t, index.view.shape()[axis], true);
      position =
          broadcast_node(reshape_node(broadcast_node(number, common), aligned), result.shape);
    } else {
      position = position_node(result.shape, axis_of[axis]);
    }
    result.sources.push_back(position);
  }
  return result;
}

// The places x[.., index, ..] along one axis, for index of the same rank.
Places places_along(const Call& call, const Tensor& x, std::int64_t axis, const Tensor& index) {
  const Shape shape = index.shape(), sizes = x.shape();
  call.require(is_integer(index.dtype()), "an index holds integers, not {}",
               name_of(index.dtype()));
  call.require(shape.size() == sizes.size(), "the index must have as many axes as the tensor");
  Places result{.shape = shape, .device = call.device()};
  for (int i = 0; i < shape.size(); i++) {
    call.require(i == axis || shape[i] <= sizes[i],
                 "axis {} of the index is larger than that of the tensor", i);
    result.sources.push_back(i == axis ? index_numbers(index, sizes[i], false)
                                       : position_node(shape, i));
  }
  return result;
}

Tensor gather_at(const Tensor& x, const Places& places) {
  if (x.numel() == 0 || places.shape.numel() == 0 || places.sources.empty()) {
    return Tensor::zeros(places.shape, beside(x, x.dtype()));
  }
  SmallVector<UOp, 9> src{x.node()};
  src.append(places.sources.begin(), places.sources.end());
  const UOp node = tensor_graph().make(Op::Gather, x.dtype(), std::span<const UOp>(src));
  const Tensor result = wrap(node, places.device);
  note_positions(node, places.negative);
  return result;
}

// How a value meets what is there: Op::Const overwrites, the others combine.  (Their numbers are
// the argument of a Scatter.)
Tensor scatter_at(const Tensor& base, const Tensor& value, const Places& places, Op op) {
  if (base.numel() == 0 || places.shape.numel() == 0) return base;
  const DType dtype = base.dtype();
  if (op != Op::Const && is_half(dtype)) {
    const auto wide = [](const Tensor& t) { return t.cast(DType::Float32); };
    return scatter_at(wide(base), wide(value), places, op).cast(dtype);
  }
  const std::int64_t arg = op == Op::Const ? 0 : static_cast<std::int64_t>(op);
  SmallVector<UOp, 9> src{base.node(), broadcast_node(value.node(), places.shape)};
  src.append(places.sources.begin(), places.sources.end());
  const UOp node = tensor_graph().make(Op::Scatter, dtype, std::span<const UOp>(src), Arg(arg));
  const Tensor result = wrap(node, places.device);
  note_positions(node, places.negative);
  return result;
}

}  // namespace

// ---- index ------------------------------------------------------------------------------------

Tensor index(const Tensor& x, std::span<const TensorIndex> indices, Location at) {
  const CallScope scope("index", at);
  GraphLock lock;
  const Indexed basic = basic_part(x, indices, at);
  if (!basic.has_positions) return basic.view;
  return gather_at(basic.view, places_of(Call("index", {&x}, at), basic));
}

namespace {

// The flat positions in x of what the indices choose.  Counted from 1, so that an index out of
// range, which gives 0, becomes -1 and goes nowhere.
Tensor flat_places(const Tensor& x, std::span<const TensorIndex> indices, Location at) {
  const Tensor flat = Tensor::arange(1, x.numel() + 1, 1, {}, at);
  return index(reshape(flat, x.shape(), at), indices, at) - 1;
}

// x with `value` put at the indexed places.
Tensor put_at(const Call& call, const Tensor& x, std::span<const TensorIndex> indices,
              const Tensor& value, Op op, Location at) {
  const Indexed basic = basic_part(x, indices, at);
  if (basic.view.is_same(x) && basic.has_positions) {
    // Whole axes and tensors only: one loop per axis.
    const Places places = places_of(call, basic);
    const Shape shapes[] = {places.shape, value.shape()};
    call.require(call.broadcast(shapes) == places.shape,
                 "the value does not expand to the indexed shape {}", places.shape);
    return scatter_at(x, value, places, op);
  }
  const Tensor where_to = flat_places(x, indices, at);
  const Shape shapes[] = {where_to.shape(), value.shape()};
  call.require(call.broadcast(shapes) == where_to.shape(),
               "the value does not expand to the indexed shape {}", where_to.shape());
  const Tensor values = flatten(expand(value, where_to.shape(), at), 0, -1, at);
  Places places{.shape = {where_to.numel()}, .device = call.device()};
  places.sources.push_back(index_numbers(flatten(where_to, 0, -1, at), x.numel(), false));
  return reshape(scatter_at(flatten(x, 0, -1, at), values, places, op), x.shape(), at);
}

}  // namespace

Tensor index_put(const Tensor& x, std::span<const TensorIndex> indices, const Operand& value,
                 bool accumulate) {
  const Location at = value.at();
  const CallScope scope("index_put", at);
  const Tensor source = operand_as(value, x.dtype());
  const Call call("index_put", {&x, &source}, at);
  call.device();
  // One number under one mask of the whole shape needs no positions.
  const bool is_mask = indices.size() == 1 && indices[0].kind() == TensorIndex::Kind::Tensor &&
                       indices[0].tensor().dtype() == DType::Bool &&
                       indices[0].tensor().shape() == x.shape();
  if (is_mask && source.numel() == 1 && source.ndim() <= 1) {
    const Tensor number = reshape(source, {}, at);
    return where(indices[0].tensor(), accumulate ? x + number : number, x);
  }
  GraphLock lock;
  return put_at(call, x, indices, source, accumulate ? Op::Add : Op::Const, at);
}

Tensor index_put(const Tensor& x, std::initializer_list<TensorIndex> indices, const Operand& value,
                 bool accumulate) {
  return index_put(x, std::span(indices.begin(), indices.size()), value, accumulate);
}

namespace {

bool is_view_of(const Tensor& part, const Tensor& x) {
  const TensorRecord &a = TensorRecord::of(part), &b = TensorRecord::of(x);
  return part.is_same(x) || (a.root && a.root == (b.root ? b.root : &b));
}

}  // namespace

Tensor& Tensor::index_put_(std::span<const TensorIndex> indices, Operand value) {
  const Location at = value.at();
  const CallScope scope("index_put_", at);
  const Tensor source = operand_as(value, dtype());
  const Call call("index_put_", {this, &source}, at);
  call.device();
  const bool by_position = std::any_of(indices.begin(), indices.end(), [](const TensorIndex& i) {
    return i.kind() == TensorIndex::Kind::Tensor;
  });
  const auto put = [&] {
    return Operand(index_put(attached(*this), indices, Operand(source, at)), at);
  };
  if (by_position) return assign(put());
  Tensor part = croze::index(*this, indices, at);
  const Shape shapes[] = {part.shape(), source.shape()};
  call.require(call.broadcast(shapes) == part.shape(),
               "the value does not expand to the indexed shape {}", part.shape());
  if (part.numel() == 0) return *this;
  if (is_view_of(part, *this)) {
    part.assign(Operand(source, at));
    return *this;
  }
  return assign(put());
}

// ---- gather and scatter -----------------------------------------------------------------------

namespace {

// A tensor without axes is indexed as if it had one, of size 1.
Tensor with_an_axis(const Tensor& x, Location at) {
  return x.ndim() == 0 ? reshape(x, {1}, at) : x;
}

}  // namespace

Tensor gather(const Tensor& x, std::int64_t axis, const Tensor& index, Location at) {
  const Call call("gather", {&x, &index}, at);
  if (index.numel() == 0) return Tensor::zeros(index.shape(), beside(x, x.dtype()), at);
  if (x.ndim() == 0 || index.ndim() == 0) {
    const Tensor line = with_an_axis(x, at), places = with_an_axis(index, at);
    return reshape(gather(line, axis, places, at), index.shape(), at);
  }
  GraphLock lock;
  return gather_at(x, places_along(call, x, call.axis(axis, x.ndim()), index));
}

Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<std::int64_t> axis,
                      Location at) {
  const CallScope scope("take_along_dim", at);
  if (!axis) return take_along_dim(flatten(x, 0, -1, at), flatten(index, 0, -1, at), 0, at);
  const Call call("take_along_dim", {&x, &index}, at);
  const std::int64_t a = call.axis(*axis, x.ndim());
  Shape source = x.shape(), shape = index.shape();
  call.require(source.size() == shape.size(), "the index must have as many axes as the tensor");
  source[a] = shape[a];
  const Shape shapes[] = {source, shape};
  const Shape result = call.broadcast(shapes);
  Shape expanded = result;
  expanded[a] = x.shape()[a];
  return gather(expand(x, expanded, at), a, expand(index, result, at), at);
}

namespace {

// The index of the slices along an axis at the positions of a 1-D tensor.
std::vector<TensorIndex> along(const Call& call, const Tensor& x, std::int64_t axis,
                               const Tensor& index, Location at) {
  call.require(index.ndim() <= 1 && is_integer(index.dtype()),
               "the index has one axis, of integers");
  std::vector<TensorIndex> indices(static_cast<std::size_t>(call.axis(axis, x.ndim())),
                                   TensorIndex(Slice{}));
  indices.emplace_back(reshape(index, {-1}, at));
  return indices;
}

// x with the slices of `source` put along an axis; source may be a number.
Tensor put_along(std::string_view name, const Tensor& x, std::int64_t axis, const Tensor& index,
                 const Operand& source, Op op) {
  const Location at = source.at();
  const CallScope scope(name, at);
  const Tensor value = operand_as(source, x.dtype());
  const Call call(name, {&x, &index, &value}, at);
  call.device();
  const Tensor base = x.ndim() == 0 ? reshape(x, {1}, at) : x;
  GraphLock lock;
  const std::vector<TensorIndex> indices = along(call, base, axis, index, at);
  if (value.ndim() > 0) {
    Shape expected = base.shape();
    expected[call.axis(axis, base.ndim())] = index.numel();
    call.require(value.shape() == expected, "the source must have shape {}", expected);
  }
  return reshape(put_at(call, base, indices, value, op, at), x.shape(), at);
}

// What a reduction starts from where x itself takes no part.
Scalar start_of(Op op, DType dtype) {
  switch (op) {
    case Op::Mul: return 1;
    case Op::Max: return is_float(dtype) ? Scalar(-infinity) : Scalar(min_value(dtype));
    case Op::Min: return is_float(dtype) ? Scalar(infinity) : Scalar(max_value(dtype));
    default: return 0;
  }
}

Op op_of(ScatterReduce reduce) {
  switch (reduce) {
    case ScatterReduce::Prod: return Op::Mul;
    case ScatterReduce::Amax: return Op::Max;
    case ScatterReduce::Amin: return Op::Min;
    default: return Op::Add;  // Sum, Mean
  }
}

// x reduced with what `put(base, value, op)` puts into it.
template <typename Put>
Tensor reduced_into(const Tensor& x, const Tensor& value, ScatterReduce reduce, bool include_self,
                    Put put) {
  const Op op = op_of(reduce);
  const Tensor start = Tensor::full_like(value, start_of(op, x.dtype()));
  const Tensor base = include_self ? x : put(x, start, Op::Const);
  const Tensor total = put(base, value, op);
  if (reduce != ScatterReduce::Mean) return total;
  const Tensor one = Tensor::ones_like(value), self = Tensor::ones_like(x);
  const Tensor count = put(include_self ? self : put(self, value * 0, Op::Const), one, Op::Add);
  return is_float(x.dtype()) ? total / count.detach() : floor_divide(total, count);
}

}  // namespace

Tensor index_select(const Tensor& x, std::int64_t axis, const Tensor& index, Location at) {
  const Call call("index_select", {&x, &index}, at);
  if (x.ndim() == 0) return reshape(index_select(reshape(x, {1}, at), 0, index, at), {}, at);
  return croze::index(x, along(call, x, axis, index, at), at);
}

Tensor index_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source,
                 Scalar alpha) {
  const CallScope scope("index_add", source.at());
  const bool scaled = alpha.kind() != DType::Int64 || alpha.integer() != 1;
  const Operand value = scaled ? Operand(source * alpha, source.at()) : source;
  return put_along("index_add", x, axis, index, value, Op::Add);
}

Tensor index_copy(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                  Location at) {
  return put_along("index_copy", x, axis, index, Operand(source, at), Op::Const);
}

Tensor index_fill(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& value) {
  const Location at = value.at();
  const CallScope scope("index_fill", at);
  const Tensor number = operand_as(value, x.dtype());
  check(number.numel() == 1, at, "index_fill: the value is not one number");
  // By a mask: the gradient of the value counts each place once.
  const Tensor nowhere = Tensor::zeros_like(x, {.dtype = DType::Bool}, at);
  const Tensor mask = put_along("index_fill", nowhere, axis, index, Operand(true, at), Op::Const);
  return where(mask, reshape(number, {}, at), x);
}

Tensor index_reduce(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                    ScatterReduce reduce, bool include_self, Location at) {
  const CallScope scope("index_reduce", at);
  return reduced_into(x, source.cast(x.dtype()), reduce, include_self,
                      [&](const Tensor& base, const Tensor& value, Op op) {
                        return put_along("index_reduce", base, axis, index, Operand(value, at), op);
                      });
}

// ---- scatter ----------------------------------------------------------------------------------

namespace {

Tensor scattered(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source,
                 Op op, std::string_view name) {
  const Location at = source.at();
  const CallScope scope(name, at);
  const Tensor value = operand_as(source, x.dtype());
  const Call call(name, {&x, &index, &value}, at);
  if (index.numel() == 0) return x;
  if (x.ndim() == 0 || index.ndim() == 0) {
    const Tensor line = with_an_axis(x, at), places = with_an_axis(index, at);
    const Operand part = source.is_scalar() ? source : Operand(with_an_axis(value, at), at);
    return reshape(scattered(line, axis, places, part, op, name), x.shape(), at);
  }
  GraphLock lock;
  const Places places = places_along(call, x, call.axis(axis, x.ndim()), index);
  if (value.ndim() == 0) return scatter_at(x, value, places, op);
  const Shape shape = index.shape(), sizes = value.shape();
  call.require(sizes.size() == shape.size(), "the source must have as many axes as the index");
  Tensor part = value;
  for (int i = 0; i < shape.size(); i++) {
    call.require(shape[i] <= sizes[i], "axis {} of the source is smaller than that of the index",
                 i);
    part = narrow(part, i, 0, shape[i], at);
  }
  return scatter_at(x, part, places, op);
}

}  // namespace

Tensor scatter(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source) {
  return scattered(x, axis, index, source, Op::Const, "scatter");
}

Tensor scatter_add(const Tensor& x, std::int64_t axis, const Tensor& index, const Operand& source) {
  return scattered(x, axis, index, source, Op::Add, "scatter_add");
}

Tensor scatter_reduce(const Tensor& x, std::int64_t axis, const Tensor& index, const Tensor& source,
                      ScatterReduce reduce, bool include_self, Location at) {
  const CallScope scope("scatter_reduce", at);
  return reduced_into(x, source.cast(x.dtype()), reduce, include_self,
                      [&](const Tensor& base, const Tensor& value, Op op) {
                        return scattered(base, axis, index, Operand(value, at), op,
                                         "scatter_reduce");
                      });
}

}  // namespace croze
