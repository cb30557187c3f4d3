// creation.cpp -- tensors from numbers and from memory.
#include <cmath>
#include <cstring>

#include "croze/graph/eval.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/record.h"
#include "croze/tensor/registry.h"

namespace croze {
namespace {

DType default_dtype(Scalar value) {
  return value.kind() == DType::Float64 ? DType::Float32 : value.kind();
}

Tensor filled(const Call& call, const Shape& shape, Scalar value, DType dtype, int device) {
  call.require(size_of(dtype) > 0, "{} is not a dtype of tensors", name_of(dtype));
  call.check_shape(shape);
  GraphLock lock;
  return wrap(filled_node(scalar_node(dtype, value), shape), device);
}

TensorOptions options_like(const Tensor& like, const TensorOptions& options) {
  const bool bound = like.device_index() >= 0;
  return {.dtype = options.dtype.value_or(like.dtype()),
          .device = !options.device.empty() ? options.device
                    : bound                 ? like.device()
                                            : ""};
}

// Makes the tensor of a Buffer that nothing else refers to.
Tensor tensor_over(UOp buffer, const Shape& shape, int device) {
  Tensor t = wrap(reshape_node(buffer, shape), device);
  own_storage(t);
  return t;
}

// How many of begin, begin + step, ... lie before end.
std::int64_t arange_count(const Call& call, Scalar begin, Scalar end, Scalar step) {
  call.require(step.number() != 0, "the step is zero");
  double count = std::ceil((end.number() - begin.number()) / step.number());
  call.require(count < 0x1p60, "arange from {} to {} by {} has too many elements", begin.number(),
               end.number(), step.number());
  call.require(count >= 0, "the step {} leads away from the end: begin {}, end {}", step.number(),
               begin.number(), end.number());
  return static_cast<std::int64_t>(count);
}

}  // namespace

Tensor Tensor::full(const Shape& shape, Scalar value, const TensorOptions& options, Location at) {
  const Call call("full", {}, at);
  return filled(call, shape, value, options.dtype.value_or(default_dtype(value)),
                device_of(options));
}

Tensor Tensor::zeros(const Shape& shape, const TensorOptions& options, Location at) {
  const Call call("zeros", {}, at);
  return filled(call, shape, 0, options.dtype.value_or(DType::Float32), device_of(options));
}

Tensor Tensor::ones(const Shape& shape, const TensorOptions& options, Location at) {
  const Call call("ones", {}, at);
  return filled(call, shape, 1, options.dtype.value_or(DType::Float32), device_of(options));
}

Tensor Tensor::empty(const Shape& shape, const TensorOptions& options, Location at) {
  return zeros(shape, options, at);
}

Tensor Tensor::scalar(Scalar value, const TensorOptions& options, Location at) {
  return full({}, value, options, at);
}

Tensor Tensor::zeros_like(const Tensor& like, const TensorOptions& options, Location at) {
  const CallScope scope("zeros_like", at);
  return zeros(like.shape(), options_like(like, options), at);
}

Tensor Tensor::ones_like(const Tensor& like, const TensorOptions& options, Location at) {
  const CallScope scope("ones_like", at);
  return ones(like.shape(), options_like(like, options), at);
}

Tensor Tensor::full_like(const Tensor& like, Scalar value, const TensorOptions& options,
                         Location at) {
  const CallScope scope("full_like", at);
  return full(like.shape(), value, options_like(like, options), at);
}

Tensor Tensor::arange(Scalar begin, Scalar end, Scalar step, const TensorOptions& options,
                      Location at) {
  const Call call("arange", {}, at);
  const bool integers = begin.kind() != DType::Float64 && end.kind() != DType::Float64 &&
                        step.kind() != DType::Float64;
  const DType dtype = options.dtype.value_or(integers ? DType::Int64 : DType::Float32);
  // As in PyTorch, integers are counted in steps that are integers too, Int64 to such an end.
  const auto whole = [](Scalar v) { return static_cast<std::int64_t>(v.number()); };
  if (!integers && dtype == DType::Int64) {
    return arange(whole(begin), whole(end), whole(step), options, at);
  }
  const Shape shape{arange_count(call, begin, end, step)};
  call.check_shape(shape);
  if (!integers && is_integral(dtype)) {
    const Tensor i = arange(0, shape[0], 1, {.dtype = DType::Int64, .device = options.device}, at);
    return (i * whole(step) + whole(begin)).cast(dtype);
  }
  GraphLock lock;
  // Integers are computed as Index, which the compiler understands best.
  const DType work = integers          ? DType::Index
                     : is_float(dtype) ? accumulator(dtype)
                                       : DType::Float32;
  const UOp steps[] = {cast_node(position_node(shape, 0), work), scalar_node(work, step)};
  const UOp terms[] = {elementwise_node(Op::Mul, steps, shape), scalar_node(work, begin)};
  return wrap(cast_node(elementwise_node(Op::Add, terms, shape), dtype), device_of(options));
}

Tensor Tensor::arange(Scalar end, const TensorOptions& options, Location at) {
  return arange(0, end, 1, options, at);
}

Tensor Tensor::linspace(double begin, double end, std::int64_t steps, const TensorOptions& options,
                        Location at) {
  const Call call("linspace", {}, at);
  const DType dtype = options.dtype.value_or(DType::Float32);
  call.require(is_float(dtype), "{} is not a float dtype", name_of(dtype));
  call.check_shape({steps});
  const DType work = accumulator(dtype);
  const double step = steps > 1 ? (end - begin) / static_cast<double>(steps - 1) : 0;
  // Counted from the nearer end, so that both ends are exact.
  const Tensor i = arange(steps, {.dtype = work, .device = options.device}, at);
  const double last = static_cast<double>(steps - 1);
  return croze::where(i < static_cast<double>(steps) / 2, i * step + begin, end - (last - i) * step)
      .cast(dtype);
}

Tensor Tensor::eye(std::int64_t rows, std::int64_t columns, const TensorOptions& options,
                   Location at) {
  const Call call("eye", {}, at);
  const Shape shape{rows, columns < 0 ? rows : columns};
  call.check_shape(shape);
  GraphLock lock;
  const UOp positions[] = {position_node(shape, 0), position_node(shape, 1)};
  const Tensor diagonal = wrap(elementwise_node(Op::Eq, positions, shape), device_of(options));
  return diagonal.cast(options.dtype.value_or(DType::Float32));
}

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                          const TensorOptions& options, Location at) {
  const Call call("from_data", {}, at);
  call.check_shape(shape);
  const std::int64_t expected = shape.numel() * size_of(dtype);
  call.require(static_cast<std::int64_t>(bytes.size()) == expected,
               "shape {} of {} takes {} bytes, but {} are given", shape, name_of(dtype), expected,
               bytes.size());
  if (options.dtype && *options.dtype != dtype) {
    return from_bytes(bytes, dtype, shape, {.device = options.device}, at).cast(*options.dtype);
  }
  const int device =
      options.device.empty() ? default_device() : croze::device_index(options.device);
  if (bytes.empty()) return filled(call, shape, 0, dtype, device);
  GraphLock lock;
  Registry::instance().free_unseen_if_worthwhile();
  const UOp buffer = new_buffer(tensor_graph(), dtype, shape.numel(), device);
  write_buffer(buffer, bytes);
  return tensor_over(buffer, shape, device);
}

Tensor Tensor::from_blob(const void* memory, const Shape& shape, DType dtype,
                         std::shared_ptr<const void> owner, const TensorOptions& options,
                         Location at) {
  const Call call("from_blob", {}, at);
  call.check_shape(shape);
  call.require(!options.dtype || *options.dtype == dtype,
               "the memory holds {}; cast the tensor to get another dtype", name_of(dtype));
  const int device =
      options.device.empty() ? default_device() : croze::device_index(options.device);
  const std::size_t bytes = static_cast<std::size_t>(shape.numel() * size_of(dtype));
  if (bytes == 0) return filled(call, shape, 0, dtype, device);
  call.require(memory != nullptr, "the memory is a null pointer");
  GraphLock lock;
  Registry::instance().free_unseen_if_worthwhile();
  const std::span<const std::byte> span(static_cast<const std::byte*>(memory), bytes);
  const UOp buffer = adopt_buffer(tensor_graph(), dtype, span, std::move(owner), device);
  const Tensor t = tensor_over(buffer, shape, device);
  TensorRecord::of(t).borrows = true;
  return t;
}

}  // namespace croze
