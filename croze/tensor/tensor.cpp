// tensor.cpp -- the handle: lifetime, properties, reading, assignment, gradients.
#include "tensor/tensor.h"

#include <cstring>

#include "graph/eval.h"
#include "run/buffers.h"
#include "run/devices.h"
#include "tensor/elementwise.h"
#include "tensor/movement.h"
#include "tensor/record.h"
#include "tensor/registry.h"

namespace croze {

// ---- lifetime ---------------------------------------------------------------------------------

Tensor::Tensor(const Tensor& other) noexcept : record_(other.record_) {
  if (record_) record_->references.fetch_add(1, std::memory_order_relaxed);
}

Tensor& Tensor::operator=(const Tensor& other) noexcept {
  Tensor copy(other);
  std::swap(record_, copy.record_);
  return *this;
}

Tensor::~Tensor() {
  TensorRecord* record = record_;
  // The last view of a tensor may be the last that refers to it.
  while (record && record->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    GraphLock lock;
    TensorRecord* root = record->detach_from_root();
    Registry::instance().remove(*record);
    delete record;
    record = root;
  }
}

Tensor Tensor::of_node(UOp node, int device) {
  GraphLock lock;
  auto record = std::make_unique<TensorRecord>();
  record->node = node;
  record->device = device;
  Registry::instance().add(*record);
  return Tensor(record.release());
}

TensorRecord& Tensor::record() const {
  check(record_ != nullptr, "this tensor is not defined: it was never given a value");
  return *record_;
}

// ---- properties -------------------------------------------------------------------------------

// Reading the node needs no lock to be valid: shapes and dtypes never change, and the graph keeps
// what a live tensor refers to.  It is held because another thread may be replacing the node.
UOp Tensor::node() const {
  TensorRecord& r = record();
  GraphLock lock;
  return r.node;
}

Shape Tensor::shape() const { return node().shape(); }
DType Tensor::dtype() const { return node().dtype(); }
int Tensor::ndim() const { return node().rank(); }
std::int64_t Tensor::numel() const { return node().elements(); }
int Tensor::device_index() const { return record().device; }

std::string_view Tensor::device() const {
  const int device = device_index();
  return device_name(device < 0 ? default_device() : device);
}

std::int64_t Tensor::size(std::int64_t axis, Location at) const {
  const Call call("size", {this}, at);
  call.require(ndim() > 0, "a tensor without axes has no size along one");
  return shape()[call.axis(axis, ndim())];
}

// ---- computing --------------------------------------------------------------------------------

void realize(std::span<const Tensor> tensors) {
  GraphLock lock;
  std::vector<TensorRecord*> records;
  for (const Tensor& t : tensors) records.push_back(&TensorRecord::of(t));
  Registry::instance().realize(records);
}

void realize(std::initializer_list<Tensor> tensors) {
  realize(std::span(tensors.begin(), tensors.size()));
}

void memory_changed() {
  GraphLock lock;
  Registry::instance().forget_the_past();
}

Tensor& Tensor::realize() {
  croze::realize(std::span<const Tensor>(this, 1));
  return *this;
}

const Tensor& Tensor::realize() const {
  croze::realize(std::span<const Tensor>(this, 1));
  return *this;
}

std::vector<std::byte> Tensor::to_bytes() const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(numel() * size_of(dtype())));
  if (bytes.empty()) return bytes;
  GraphLock lock;
  realize();
  UOp buffer = storage_of(node());
  Tensor copy;
  if (!buffer || buffer.elements() != numel()) {
    // A view of memory in another order.
    copy = contiguous().realize();
    buffer = storage_of(copy.node());
    ensure(static_cast<bool>(buffer), "a contiguous tensor was realized as a view");
  }
  read_buffer(buffer, bytes);
  return bytes;
}

void Tensor::read(std::span<std::byte> bytes, DType to) const {
  const std::vector<std::byte> stored = to_bytes();
  const DType from = dtype();
  if (stored.empty()) return;
  if (from == to || (from == DType::Bool && to == DType::UInt8)) {
    std::memcpy(bytes.data(), stored.data(), stored.size());
    return;
  }
  const std::size_t from_size = static_cast<std::size_t>(size_of(from));
  const std::size_t to_size = static_cast<std::size_t>(size_of(to));
  for (std::size_t i = 0; i * from_size < stored.size(); i++) {
    const std::int64_t value = load_bits(&stored[i * from_size], from);
    store_bits(convert(value, from, to), to, &bytes[i * to_size]);
  }
}

void Tensor::read_item(std::span<std::byte> bytes, DType dtype, Location at) const {
  const Call call("item", {this}, at);
  call.require(numel() == 1, "the tensor has {} elements, not one", numel());
  read(bytes, dtype);
}

// ---- assignment -------------------------------------------------------------------------------

Tensor& Tensor::assign(Operand value) {
  const Call call("assign", {this, value.is_scalar() ? this : &value.tensor()}, value.at());
  Tensor source = operand_as(value, dtype());
  const Shape shapes[] = {shape(), source.shape()};
  call.require(call.broadcast(shapes) == shape(),
               "the value does not expand to the shape assigned to");
  call.device();
  GraphLock lock;
  TensorRecord& r = record();
  TensorRecord& root = r.root ? *r.root : r;
  const UOp node = broadcast_node(source.node(), r.node.shape());
  if (node.elements() == 0) return *this;
  call.require(!r.root || is_injective(node.shape(), r.path),
               "several elements of this view are one element in memory");
  if (root.owns_storage) {
    const UOp place = led_through(root.node, r.path.steps);
    const UOp effects[] = {tensor_graph().store(place, node)};
    Registry::instance().set_node(root, tensor_graph().after(root.node, effects), true);
  } else {
    const UOp whole = r.root ? with_view_replaced(root.node, r.path.steps, node) : node;
    Registry::instance().set_node(root, whole, false);
  }
  return *this;
}

Tensor& Tensor::fill_(Scalar value, Location at) { return assign(Operand(value, at)); }
Tensor& Tensor::zero_(Location at) { return assign(Operand(0, at)); }
Tensor& Tensor::operator+=(Operand other) { return assign(Operand(*this + other, other.at())); }
Tensor& Tensor::operator-=(Operand other) { return assign(Operand(*this - other, other.at())); }
Tensor& Tensor::operator*=(Operand other) { return assign(Operand(*this * other, other.at())); }
Tensor& Tensor::operator/=(Operand other) { return assign(Operand(*this / other, other.at())); }

// ---- gradient ---------------------------------------------------------------------------------

std::vector<Tensor> Tensor::gradient(std::span<const Tensor> targets, Location at) const {
  const Call call("gradient", {this}, at);
  call.require(numel() == 1 && is_float(dtype()),
               "only a tensor of one float element can be differentiated");
  GraphLock lock;
  Registry& registry = Registry::instance();
  registry.settle_values();
  call.require(
      !record().owns_storage || !storage_of(node()) || record().history,
      "how this tensor was computed is not known: it was made from data, or memory that it was "
      "computed from has been assigned to since");
  std::vector<UOp> nodes;
  for (const Tensor& t : targets) {
    const Call by("gradient", {this, &t}, at);
    by.require(is_float(t.dtype()), "target {} is not a float tensor", nodes.size());
    by.require(reads_memory(t.node()),
               "target {} is a constant, which cannot be told from others that look alike: "
               "realize() it where it is made",
               nodes.size());
    nodes.push_back(t.node());
  }
  const std::vector<UOp> gradients = registry.gradient(node(), nodes);
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < nodes.size(); i++) {
    result.push_back(wrap_like(targets[i], gradients[i]));
  }
  return result;
}

// ---- the same value ---------------------------------------------------------------------------

namespace {

Tensor same_value(const Tensor& x, Op op) {
  GraphLock lock;
  return wrap_like(x, tensor_graph().make(op, x.dtype(), {x.node()}));
}

}  // namespace

Tensor Tensor::detach() const { return same_value(*this, Op::Detach); }
Tensor Tensor::contiguous() const { return same_value(*this, Op::Contiguous); }
Tensor Tensor::contiguous_backward() const { return same_value(*this, Op::ContiguousBackward); }

Tensor Tensor::to(std::string_view device, Location at) const {
  const Call call("to", {this}, at);
  const int index = croze::device_index(device);
  if (index == device_index()) return *this;
  GraphLock lock;
  if (device_index() < 0) return wrap(node(), index);
  return wrap(tensor_graph().make(Op::Copy, dtype(), {node()}, Arg(index)), index);
}

Tensor Tensor::cast(DType t) const {
  if (t == dtype()) return *this;
  check(size_of(t) > 0, "cast: {} is not a dtype of tensors", name_of(t));
  GraphLock lock;
  return wrap_like(*this, cast_node(node(), t));
}

Tensor Tensor::bitcast(DType t, Location at) const {
  const Call call("bitcast", {this}, at);
  call.require(size_of(t) == size_of(dtype()), "{} is not of the same width", name_of(t));
  GraphLock lock;
  return wrap_like(*this, tensor_graph().bitcast(node(), t));
}

}  // namespace croze
