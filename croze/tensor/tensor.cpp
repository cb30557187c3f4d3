// tensor.cpp -- the handle: lifetime, properties, reading, assignment.
#include "croze/tensor/tensor.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "croze/base/checked.h"
#include "croze/graph/eval.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"
#include "croze/tensor/storage.h"
#include "croze/tensor/watch.h"

namespace croze {

// ---- lifetime ---------------------------------------------------------------------------------

Tensor::Tensor(const Tensor& other) noexcept : record_(other.record_) {
  if (record_) record_->references.fetch_add(1, std::memory_order_relaxed);
}

Tensor& Tensor::operator=(const Tensor& other) & noexcept {
  Tensor copy(other);
  std::swap(record_, copy.record_);
  return *this;
}

Tensor::~Tensor() {
  TensorRecord* record = record_;
  try {
    // The last view of a tensor may be the last that refers to it.
    while (record && record->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      GraphLock lock;
      TensorRecord* root = record->detach_from_root();
      Registry::instance().remove(*record);
      delete record;
      record = root;
    }
  } catch (const Error&) {
    // No lock is to be had in this process (base/process.h): the tensor goes with it.
  }
}

Tensor Tensor::of_node(UOp node, int device) {
  GraphLock lock;
  auto record = std::make_unique<TensorRecord>();
  record->node = node;
  record->device = device;
  note_call(node);
  Registry::instance().add(*record);
  return Tensor(record.release());
}

namespace {

[[noreturn]] void refuse_given_away(const TensorRecord& record, Location at) {
  const Location& by = record.assigned_at;
  fail({.where = at},
       "this tensor was donated to the captured step that was made at {}:{}, which may have "
       "overwritten it: use what the step has returned, or donate a copy",
       by.file_name(), by.line());
}

}  // namespace

TensorRecord& Tensor::record(Location at) const {
  check(record_ != nullptr, at, "this tensor is not defined: it was never given a value");
  if (record_->is_given_away) refuse_given_away(*record_, at);
  return *record_;
}

// ---- properties -------------------------------------------------------------------------------

// A node is safe to look at only under the lock: another thread may give the tensor another one,
// and collect this.
UOp Tensor::node(Location at) const {
  TensorRecord& r = record(at);
  GraphLock lock;
  return r.node_to_use();
}

namespace {

template <typename F>
auto of_node_of(const TensorRecord& record, F f) {
  GraphLock lock;
  return f(record.node);
}

}  // namespace

Shape Tensor::shape(Location at) const {
  return of_node_of(record(at), [](UOp node) { return Shape(node.shape()); });
}
DType Tensor::dtype(Location at) const {
  return of_node_of(record(at), [](UOp node) { return node.dtype(); });
}
int Tensor::ndim(Location at) const {
  return of_node_of(record(at), [](UOp node) { return node.rank(); });
}
std::int64_t Tensor::numel(Location at) const {
  return of_node_of(record(at), [](UOp node) { return node.elements(); });
}
int Tensor::device_index(Location at) const { return record(at).device; }

std::string_view Tensor::device(Location at) const {
  const int device = device_index(at);
  return device_name(device < 0 ? default_device() : device);
}

std::int64_t Tensor::size(std::int64_t axis, Location at) const {
  const Call call("size", {this}, at);
  call.require(ndim() > 0, "a tensor without axes has no size along one");
  return shape()[call.axis(axis, ndim())];
}

// ---- computing --------------------------------------------------------------------------------

void realize(std::span<const Tensor> tensors, Location at) {
  const CallScope scope("realize", at);
  std::vector<TensorRecord*> records;
  for (const Tensor& t : tensors) records.push_back(&TensorRecord::of(t));
  Registry::instance().realize(records);
}

void realize(std::initializer_list<Tensor> tensors, Location at) {
  realize(std::span(tensors.begin(), tensors.size()), at);
}

Tensor& Tensor::realize(Location at) {
  croze::realize(std::span<const Tensor>(this, 1), at);
  return *this;
}

const Tensor& Tensor::realize(Location at) const {
  croze::realize(std::span<const Tensor>(this, 1), at);
  return *this;
}

namespace {

// All elements of x, in a buffer of their own.
BufferRead read_from(const Tensor& x) {
  Tensor stored = x;
  for (;;) {
    stored.realize();
    GraphLock lock;
    const UOp buffer = storage_of(stored.node());
    if (buffer && buffer.elements() == x.numel()) return BufferRead(buffer);
    // A view of memory in another order, or another thread has assigned to it.
    stored = x.contiguous();
  }
}

// All elements of x as they stand in memory: so many bytes.
void copy_out(const Tensor& x, std::span<std::byte> bytes) {
  if (!bytes.empty()) read_from(x).finish(bytes);
}

bool is_aligned(const std::byte* address, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(address) % static_cast<std::size_t>(size_of(dtype)) == 0;
}

}  // namespace

std::vector<std::byte> Tensor::to_bytes(Location at) const {
  const CallScope scope("to_bytes", at);
  auto bytes = sized_vector<std::byte>(checked_mul(numel(), size_of(dtype())),
                                       "a copy of a tensor on the host");
  copy_out(*this, bytes);
  return bytes;
}

void Tensor::read(std::span<std::byte> bytes, DType to, Location at) const {
  const CallScope scope("to_vector", at);
  const DType from = dtype();
  if (from == to || (from == DType::Bool && to == DType::UInt8)) return copy_out(*this, bytes);
  const std::vector<std::byte> stored = to_bytes();
  const std::size_t from_size = static_cast<std::size_t>(size_of(from));
  const std::size_t to_size = static_cast<std::size_t>(size_of(to));
  for (std::size_t i = 0; i * from_size < stored.size(); i++) {
    const std::int64_t value = load_bits(&stored[i * from_size], from);
    store_bits(convert(value, from, to), to, &bytes[i * to_size]);
  }
}

void Tensor::read_all(std::span<std::byte> bytes, DType to, Location at) const {
  const Call call("copy_to", {this}, at);
  const std::int64_t elements = std::ssize(bytes) / size_of(to);
  call.require(numel() == elements, "the tensor has {} elements, and there is room for {}", numel(),
               elements);
  read(bytes, to, at);
}

std::shared_ptr<const std::byte> Tensor::memory_of_elements(DType to, Location at) const {
  const Call call("elements", {this}, at);
  if (numel() == 0) return nullptr;
  if (dtype() == to) {
    auto memory = read_from(*this).finish_in_place();
    if (memory && is_aligned(memory.get(), to)) return memory;
  }
  const auto copy = std::make_shared<std::vector<std::byte>>(
      sized_vector<std::byte>(checked_mul(numel(), size_of(to)), "a copy of a tensor on the host"));
  read(*copy, to, at);
  return {copy, copy->data()};
}

void Tensor::read_item(std::span<std::byte> bytes, DType dtype, Location at) const {
  const Call call("item", {this}, at);
  call.require(numel() == 1, "the tensor has {} elements, not one", numel());
  read(bytes, dtype, at);
}

// ---- assignment -------------------------------------------------------------------------------

namespace {

// A value of which a part is replaced is a choice between the two, which fuses with what is made of
// it.  Of many parts each element would be many choices; those are written into memory.  (What a
// captured function makes for itself stays a value.)
constexpr int most_parts_chosen = 8;

void give_memory(TensorRecord& root) {
  if (root.device < 0) root.device = default_device();
  const UOp value = root.node;
  const UOp buffer = new_buffer(tensor_graph(), value.dtype(), value.elements(), root.device);
  const UOp whole = reshape_node(buffer, value.shape());
  const UOp effects[] = {tensor_graph().store(whole, value)};
  Registry::instance().set_node(root, tensor_graph().after(whole, effects), true);
}

}  // namespace

Tensor& Tensor::assign(Operand value) {
  const Call call("assign", {this, value.is_scalar() ? this : &value.tensor()}, value.at());
  Tensor source = operand_as(value, dtype());
  const Shape shapes[] = {shape(), source.shape()};
  call.require(call.broadcast(shapes) == shape(),
               "the value does not expand to the shape assigned to");
  call.device();
  GraphLock lock;
  TensorRecord& r = *record_;
  TensorRecord& root = r.root ? *r.root : r;
  const UOp node = broadcast_node(source.node(), r.node.shape());
  if (node.elements() == 0) return *this;
  call.require(!r.root || is_injective(node.shape(), r.path),
               "several elements of this view are one element in memory");
  Registry::instance().leave_contents(root, value.at());
  root.parts_assigned = r.root ? root.parts_assigned + 1 : 0;
  if (root.device < 0) root.device = source.device_index();
  const bool is_value = !root.owns_storage && !Capturing::is_active();
  if (is_value && root.parts_assigned > most_parts_chosen) give_memory(root);
  if (root.owns_storage) {
    const UOp place = place_in(root.node, r.path.steps);
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
Tensor& Tensor::operator+=(Operand o) & { return assign(Operand(add(o), o.at())); }
Tensor& Tensor::operator-=(Operand o) & { return assign(Operand(sub(o), o.at())); }
Tensor& Tensor::operator*=(Operand o) & { return assign(Operand(mul(o), o.at())); }
Tensor& Tensor::operator/=(Operand o) & { return assign(Operand(div(o), o.at())); }

Tensor& Tensor::as_view(std::string_view function, Location at) {
  const Call call(function, {this}, at);
  const bool is_seen = record(at).root || record_->references.load() > 1 || numel() == 0;
  call.require(is_seen,
               "this writes to a value that nobody can see: what stands on the left is no view of "
               "a tensor. Positions in a tensor or a mask are written by index_put_");
  return *this;
}

Tensor& Tensor::operator=(Operand o) && { return as_view("assign", o.at()).assign(o); }
Tensor& Tensor::operator+=(Operand o) && { return as_view("+=", o.at()) += o; }
Tensor& Tensor::operator-=(Operand o) && { return as_view("-=", o.at()) -= o; }
Tensor& Tensor::operator*=(Operand o) && { return as_view("*=", o.at()) *= o; }
Tensor& Tensor::operator/=(Operand o) && { return as_view("/=", o.at()) /= o; }

// ---- the same value ---------------------------------------------------------------------------

namespace {

Tensor same_value(std::string_view name, const Tensor& x, Op op, Location at) {
  const CallScope scope(name, at);
  GraphLock lock;
  return wrap_like(x, tensor_graph().make(op, x.dtype(), {x.node()}));
}

}  // namespace

Tensor Tensor::detach(Location at) const {
  const CallScope scope("detach", at);
  return detached_view(*this);
}
Tensor Tensor::contiguous(Location at) const {
  return same_value("contiguous", *this, Op::Contiguous, at);
}
Tensor Tensor::contiguous_backward(Location at) const {
  return same_value("contiguous_backward", *this, Op::ContiguousBackward, at);
}

Tensor Tensor::to(std::string_view device, Location at) const {
  const Call call("to", {this}, at);
  const int index = croze::device_index(device);
  if (index == device_index()) return *this;
  GraphLock lock;
  if (device_index() < 0) return wrap(node(), index);
  return wrap(tensor_graph().make(Op::Copy, dtype(), {node()}, Arg(index)), index);
}

Tensor Tensor::cast(DType t, Location at) const {
  if (t == dtype(at)) return *this;
  const Call call("cast", {this}, at);
  call.require(size_of(t) > 0, "{} is not a dtype of tensors", name_of(t));
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
