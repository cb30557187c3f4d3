// record.h -- internal to tensor/: what stands behind a Tensor, and how functions record nodes.
//
// All tensors live in one graph, under one lock.  A raw UOp of that graph is safe only while the
// lock is held, because another thread may collect; a Tensor is safe always.  So a function that
// works with nodes holds a GraphLock from the first to the last of them; one composed of other
// tensor functions needs none.  The lock is recursive, so both kinds may call each other.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/base/small_vector.h"
#include "croze/graph/graph.h"
#include "croze/tensor/contents.h"
#include "croze/tensor/print.h"
#include "croze/tensor/tensor.h"
#include "croze/tensor/views.h"

namespace croze {

// A tensor is settled when its node is a Reshape of a Buffer that it alone writes; every other
// tensor depends on a graph.  The registry (registry.h) keeps one list of each.
struct TensorRecord {
  std::atomic<std::int64_t> references{1};
  std::int64_t references_of_steps = 0;    // of these, which captured steps hold
  std::atomic<int> device{-1};             // -1: wherever it is needed
  bool owns_storage = false;               // its Buffer may be overwritten by assign
  bool borrows = false;                    // its Buffer is memory of the user
  bool is_computed = false;                // from what was recorded: it has a gradient
  bool is_unshared = false;                // its Buffer, which nobody has asked for (own_unshared)
  std::atomic<bool> is_given_away{false};  // at assigned_at: it has no value any more
  int parts_assigned = 0;                  // since it was assigned to whole
  UOp node;
  Contents contents;     // what the tensor holds now; those of a view are its root's
  Location assigned_at;  // the last assignment
  TensorRecord* previous = nullptr;
  TensorRecord* next = nullptr;

  // Of a view: what it looks at, which it keeps alive, and how.  A root is no view itself.
  TensorRecord* root = nullptr;
  ViewPath path;
  std::vector<TensorRecord*> views;  // the live views of this tensor

  void attach_to(TensorRecord& root_of_views);
  // Returns the root, one of whose references is the caller's now; null if this is no view.
  TensorRecord* detach_from_root();
  // Whether no gradient can come to the tensor: detached views alone keep it.
  bool is_seen_detached() const;
  // The node, for what is made of it: from then on the Buffer is one that others know.
  UOp node_to_use();
  // The root instead of a view of the whole or of memory: it is what gets the value.
  TensorRecord& computed_as();

  static TensorRecord& of(const Tensor& t, Location at = Location::current()) {
    return t.record(at);
  }
  // One more handle; undefined if another thread is about to remove the tensor, whose last is gone.
  static Tensor share(TensorRecord& record);
};

// Holds the lock of the default tensor graph.
class GraphLock {
 public:
  GraphLock();
  ~GraphLock();
  GraphLock(const GraphLock&) = delete;
  GraphLock& operator=(const GraphLock&) = delete;
};
Graph& tensor_graph();

// A public function at work: says what its errors are about.
class Call {
 public:
  Call(std::string_view op, std::initializer_list<const Tensor*> operands, Location at)
      : op_(op), operands_(operands), at_(at), scope_(op, at) {}

  // The arguments are made text only if it is not: give a Shape as it is.
  template <typename... Args>
  void require(bool ok, fmt::format_string<Args...> format, Args&&... args) const {
    if (!ok) [[unlikely]]
      fail(details(), format, std::forward<Args>(args)...);
  }

  // An axis made positive, for a tensor of `rank` axes.
  std::int64_t axis(std::int64_t axis, int rank) const;
  // The axes given, made positive and ascending; all if none is given.  Throws Error for repeated
  // ones.
  Shape axes(const Axes& axes, int rank) const;
  // The shape that all of them broadcast to.
  Shape broadcast(std::span<const Shape> shapes) const;
  // The device of all operands that have one; -1 if none has.
  int device() const;
  // Throws Error if the sizes are negative or their product is no size.
  void check_shape(const Shape& shape) const;

 private:
  ErrorDetails details() const;

  std::string_view op_;
  SmallVector<const Tensor*, 4> operands_;
  Location at_;
  CallScope scope_;
};

// The tensor of a node, with its device.
Tensor wrap(UOp node, int device);
inline Tensor wrap_like(const Tensor& x, UOp node) { return wrap(node, x.device_index()); }

// Declares that the Buffer behind a new tensor is its own: assign may write there.
void own_storage(const Tensor& t);
// Declares besides that no other tensor and nothing that was recorded knows the Buffer: if nobody
// asks the tensor for its node, memory is freed with it.
void own_unshared(const Tensor& t);

// The number in the dtype, shape ().
UOp scalar_node(DType dtype, Scalar value);
// Shapes that fit are the caller's care in these.
UOp reshape_node(UOp x, std::span<const std::int64_t> shape);
// Broadcasts x to `shape`: new axes in front, axes of size 1 repeated.
UOp broadcast_node(UOp x, std::span<const std::int64_t> shape);
UOp movement_node(Op op, UOp x, std::span<const std::int64_t> arg);
// The operation on sources broadcast to `shape`; constants stay scalar, so that they fold.
UOp elementwise_node(Op op, std::span<const UOp> sources, std::span<const std::int64_t> shape);
UOp cast_node(UOp x, DType dtype);
// `value`, shape (), repeated to `shape`.
UOp filled_node(UOp value, std::span<const std::int64_t> shape);
// The constant that fills all of x; null if there is none.
UOp filling_of(UOp x);
// 0, 1, 2, ... along one axis of `shape`, of dtype Index.
UOp position_node(const Shape& shape, std::int64_t axis);

// One tensor operation: shapes are broadcast, dtypes must agree.
Tensor elementwise(Op op, const Tensor& x);
Tensor elementwise(const Call& call, Op op, const Tensor& a, const Tensor& b);
Tensor elementwise(const Call& call, Op op, const Tensor& a, const Tensor& b, const Tensor& c);

// The dtype in which an operation on them is done (elementwise.h), and an operand cast to a dtype.
DType promoted(std::initializer_list<const Operand*> operands);
Tensor operand_as(const Operand& operand, DType dtype);
// x, or x as Float32 if it is no float.
Tensor as_float(const Tensor& x);
inline DType float_of(DType t) { return is_float(t) ? t : DType::Float32; }

// A function of two operands at work.
Call call_of(std::string_view name, const Operand& a, const Operand& b);
// f on both operands in the float dtype they promote to; Float32 instead of half types, of which
// the result is again.
template <typename F>
Tensor in_common_float(std::string_view name, const Operand& a, const Operand& b, F f) {
  const Call call = call_of(name, a, b);
  const DType dtype = float_of(promoted({&a, &b}));
  const DType wide = is_half(dtype) ? DType::Float32 : dtype;
  const Tensor x = operand_as(a, wide), y = operand_as(b, wide);
  const Shape shapes[] = {x.shape(), y.shape()};
  call.broadcast(shapes);
  call.device();
  return f(x, y).cast(dtype);
}
// Computes f on x in Float32 if x is a half type, and returns the result in the dtype of x.
template <typename F>
Tensor in_wide_float(const Tensor& x, F f) {
  const Tensor v = as_float(x);
  if (!is_half(v.dtype())) return f(v);
  return f(v.cast(DType::Float32)).cast(v.dtype());
}

// For a new tensor that is used with x or in its place: on the same device.
inline TensorOptions beside(const Tensor& x, std::optional<DType> dtype = std::nullopt) {
  return {.dtype = dtype, .device = x.device_index() < 0 ? "" : x.device()};
}
// The device of new tensors made with these options: -1 if they do not say.
int device_of(const TensorOptions& options);

}  // namespace croze
