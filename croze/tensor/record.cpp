// record.cpp -- checks and recording primitives shared by the functions of tensor/.
#include "croze/tensor/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "croze/base/checked.h"
#include "croze/run/devices.h"
#include "croze/tensor/registry.h"

namespace croze {

std::int64_t Shape::numel() const { return checked_product(*this); }

std::string to_text(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape.begin(), shape.end(), ", "),
                     shape.size() == 1 ? "," : "");
}

// Nobody has a raw UOp when the lock is taken, so that even who records without ever realizing is
// collected after.
GraphLock::GraphLock() {
  Registry& registry = Registry::instance();
  std::unique_lock lock(registry.mutex);
  if (registry.mutex.depth() == 1 && registry.has_grown()) registry.collect();
  lock.release();  // for as long as this lives
}
GraphLock::~GraphLock() { Registry::instance().mutex.unlock(); }
Graph& tensor_graph() { return Registry::instance().graph; }

// ---- views ------------------------------------------------------------------------------------

void TensorRecord::attach_to(TensorRecord& root_of_views) {
  root = &root_of_views;
  root->references.fetch_add(1, std::memory_order_relaxed);
  root->views.push_back(this);
}

TensorRecord* TensorRecord::detach_from_root() {
  if (root) std::erase(root->views, this);
  return std::exchange(root, nullptr);
}

bool TensorRecord::is_seen_detached() const {
  if (references.load() != std::ssize(views)) return false;
  return std::ranges::all_of(views, [](const TensorRecord* view) {
    return std::ranges::find(view->path.steps, Op::Detach, &ViewStep::op) != view->path.steps.end();
  });
}

UOp TensorRecord::node_to_use() {
  (root ? root : this)->is_unshared = false;
  return node;
}

TensorRecord& TensorRecord::computed_as() {
  return root && (is_whole(path) || root->owns_storage) ? *root : *this;
}

Tensor TensorRecord::share(TensorRecord& record) {
  std::int64_t references = record.references.load();
  while (references > 0 && !record.references.compare_exchange_weak(references, references + 1)) {
  }
  return references > 0 ? Tensor(&record) : Tensor();
}

// ---- checks -----------------------------------------------------------------------------------

std::int64_t Call::axis(std::int64_t axis, int rank) const {
  // A tensor without axes accepts 0 and -1, as in PyTorch.
  const int count = std::max(rank, 1);
  require(-count <= axis && axis < count, "axis {} is out of range for a tensor of {} axes", axis,
          rank);
  return axis < 0 ? axis + count : axis;
}

Shape Call::axes(const Axes& axes, int rank) const {
  SmallVector<std::int64_t, 8> result;
  if (axes.all()) {
    for (int i = 0; i < rank; i++) result.push_back(i);
    return result;
  }
  for (std::int64_t a : axes.list()) result.push_back(axis(a, rank));
  std::sort(result.begin(), result.end());
  const auto* repeated = std::adjacent_find(result.begin(), result.end());
  require(repeated == result.end(), "axis {} is given twice",
          repeated == result.end() ? 0 : *repeated);
  if (rank == 0) result.clear();
  return result;
}

Shape Call::broadcast(std::span<const Shape> shapes) const {
  int rank = 0;
  for (const Shape& s : shapes) rank = std::max(rank, s.size());
  SmallVector<std::int64_t, 8> result;
  result.assign(rank, 1);
  for (const Shape& s : shapes) {
    for (int i = 0; i < s.size(); i++) {
      std::int64_t& size = result[rank - s.size() + i];
      require(s[i] == size || s[i] == 1 || size == 1,
              "shapes do not broadcast: sizes {} and {} at axis {} from the end", size, s[i],
              s.size() - i);
      if (s[i] != 1) size = s[i];
    }
  }
  const Shape shape(result);
  check_shape(shape);
  return shape;
}

int Call::device() const {
  int device = -1;
  for (const Tensor* t : operands_) {
    if (!t->defined()) continue;  // an optional operand
    const int d = t->device_index();
    require(d < 0 || device < 0 || d == device, "the operands are on different devices");
    if (d >= 0) device = d;
  }
  return device;
}

void Call::check_shape(const Shape& shape) const {
  std::int64_t elements = 1;
  bool fits = true;
  for (std::int64_t size : shape) {
    require(size >= 0, "shape {} has a negative size", shape);
    fits = fits && !__builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements);
  }
  // Eight bytes an element must fit too.
  require(fits && elements <= INT64_MAX / 8, "a tensor of shape {} has too many elements", shape);
}

ErrorDetails Call::details() const {
  ErrorDetails details;
  details.op = op_;
  details.where = at_;
  bool different = false;
  for (const Tensor* t : operands_) {
    if (!t->defined()) continue;
    details.shapes.push_back(to_text(t->shape()));
    details.dtypes.emplace_back(name_of(t->dtype()));
    details.devices.emplace_back(t->device());
    different = different || details.devices.back() != details.devices.front();
  }
  if (!different) details.devices.clear();
  return details;
}

// ---- nodes ------------------------------------------------------------------------------------

Tensor wrap(UOp node, int device) {
  // A tensor without elements is nothing but its shape: no kernel needs to know of it.
  if (node.elements() == 0 && !filling_of(node)) {
    node = filled_node(node.graph().constant(node.dtype(), std::int64_t{0}), node.shape());
  }
  return Tensor::of_node(node, device);
}

void own_storage(const Tensor& t) {
  GraphLock lock;
  TensorRecord& record = TensorRecord::of(t);
  Registry::instance().set_node(record, record.node, true);
}

void own_unshared(const Tensor& t) {
  GraphLock lock;
  own_storage(t);
  TensorRecord::of(t).is_unshared = true;
}

UOp scalar_node(DType dtype, Scalar value) {
  if (value.kind() == DType::Float64) return tensor_graph().constant(dtype, value.number());
  return tensor_graph().constant(dtype, value.integer());
}

UOp movement_node(Op op, UOp x, std::span<const std::int64_t> arg) {
  if ((op == Op::Reshape || op == Op::Expand) && std::ranges::equal(x.shape(), arg)) return x;
  return x.graph().movement(op, x, arg);
}

UOp filled_node(UOp value, std::span<const std::int64_t> shape) {
  if (shape.empty()) return value;
  Shape ones;
  for (std::size_t i = 0; i < shape.size(); i++) ones.push_back(1);
  return movement_node(Op::Expand, movement_node(Op::Reshape, value, ones), shape);
}

UOp filling_of(UOp x) {
  while (x.is(Op::Expand) || x.is(Op::Reshape)) x = x.src(0);
  return x.is_const() ? x : UOp();
}

UOp cast_node(UOp x, DType dtype) {
  const UOp number = filling_of(x);
  return number ? filled_node(x.graph().cast(number, dtype), x.shape()) : x.graph().cast(x, dtype);
}

UOp reshape_node(UOp x, std::span<const std::int64_t> shape) {
  return movement_node(Op::Reshape, x, shape);
}

UOp broadcast_node(UOp x, std::span<const std::int64_t> shape) {
  const std::size_t added = shape.size() - x.shape().size();
  if (added > 0) {
    Shape aligned;
    for (std::size_t i = 0; i < added; i++) aligned.push_back(1);
    for (std::int64_t size : x.shape()) aligned.push_back(size);
    x = reshape_node(x, aligned);
  }
  return movement_node(Op::Expand, x, shape);
}

UOp elementwise_node(Op op, std::span<const UOp> sources, std::span<const std::int64_t> shape) {
  SmallVector<UOp, 3> src;
  for (UOp s : sources) {
    const UOp number = filling_of(s);
    src.push_back(number ? number : broadcast_node(s, shape));
  }
  const UOp result = tensor_graph().alu(op, src);
  return std::ranges::equal(result.shape(), shape) ? result : filled_node(result, shape);
}

UOp position_node(const Shape& shape, std::int64_t axis) {
  const UOp positions = tensor_graph().iota(shape[axis]);
  Shape aligned;
  for (int i = 0; i < shape.size(); i++) aligned.push_back(i == axis ? shape[axis] : 1);
  return movement_node(Op::Expand, reshape_node(positions, aligned), shape);
}

// ---- operations -------------------------------------------------------------------------------

Tensor elementwise(Op op, const Tensor& x) {
  GraphLock lock;
  const UOp src[] = {x.node()};
  return wrap_like(x, elementwise_node(op, src, x.shape()));
}

Tensor elementwise(const Call& call, Op op, const Tensor& a, const Tensor& b) {
  const Shape shapes[] = {a.shape(), b.shape()};
  const Shape shape = call.broadcast(shapes);
  const int device = call.device();
  GraphLock lock;
  const UOp src[] = {a.node(), b.node()};
  return wrap(elementwise_node(op, src, shape), device);
}

Tensor elementwise(const Call& call, Op op, const Tensor& a, const Tensor& b, const Tensor& c) {
  const Shape shapes[] = {a.shape(), b.shape(), c.shape()};
  const Shape shape = call.broadcast(shapes);
  const int device = call.device();
  GraphLock lock;
  const UOp src[] = {a.node(), b.node(), c.node()};
  return wrap(elementwise_node(op, src, shape), device);
}

// ---- dtypes -----------------------------------------------------------------------------------

namespace {

int kind_of(DType t) { return t == DType::Bool ? 0 : is_float(t) ? 2 : 1; }

// A lower-ranking dtype takes part only if its kind is higher than that of what is there already.
DType with_lower_rank(std::optional<DType> high, std::optional<DType> low) {
  if (!high) return low.value_or(DType::Float32);
  if (!low || kind_of(*low) <= kind_of(*high)) return *high;
  return *low;
}

void join(std::optional<DType>& all, DType t) { all = all ? promote(*all, t) : t; }

}  // namespace

DType promoted(std::initializer_list<const Operand*> operands) {
  std::optional<DType> tensors, without_axes, numbers;
  for (const Operand* o : operands) {
    if (o->is_scalar()) {
      const DType kind = o->scalar().kind();
      join(numbers, kind == DType::Float64 ? DType::Float32 : kind);
    } else {
      join(o->tensor().ndim() > 0 ? tensors : without_axes, o->tensor().dtype());
    }
  }
  if (tensors && without_axes) {
    tensors = with_lower_rank(tensors, without_axes);
  } else if (!tensors) {
    tensors = without_axes;
  }
  return with_lower_rank(tensors, numbers);
}

Tensor operand_as(const Operand& operand, DType dtype) {
  if (!operand.is_scalar()) return operand.tensor().cast(dtype);
  GraphLock lock;
  return wrap(scalar_node(dtype, operand.scalar()), -1);
}

Call call_of(std::string_view name, const Operand& a, const Operand& b) {
  if (a.is_scalar()) return Call(name, {&b.tensor()}, b.at());
  if (b.is_scalar()) return Call(name, {&a.tensor()}, a.at());
  return Call(name, {&a.tensor(), &b.tensor()}, a.at());
}

Tensor as_float(const Tensor& x) { return is_float(x.dtype()) ? x : x.cast(DType::Float32); }

int device_of(const TensorOptions& options) {
  return options.device.empty() ? -1 : device_index(options.device);
}

}  // namespace croze
