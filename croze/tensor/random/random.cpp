// random.cpp -- random numbers by counting.
//
// Element i of a random tensor is Threefry(i, key): a block cipher run over a counter, so any
// element can be computed alone, on any device, with the same result.  The key is drawn from the
// seed when the tensor is recorded and lives in a Buffer, so that a captured step can be given
// another.
#include <numbers>

#include "croze/graph/eval.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/random_state.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

// 64 random bits per element, as UInt64.
Tensor random_bits(const Call& call, const Shape& shape, const TensorOptions& options) {
  call.check_shape(shape);
  const int device = options.device.empty() ? default_device() : device_index(options.device);
  const Shape flat{shape.numel()};
  GraphLock lock;
  if (flat[0] == 0) return Tensor::zeros(shape, {.dtype = DType::UInt64, .device = options.device});
  const UOp key = new_random_key(tensor_graph(), device);
  const UOp src[] = {cast_node(position_node(flat, 0), DType::UInt64), key};
  return wrap(reshape_node(elementwise_node(Op::Threefry, src, flat), shape), device);
}

// Bits of precision of a uniform number: all that the dtype holds below 1, so that none rounds
// to 1.
int uniform_bits(DType t) {
  switch (t) {
    case DType::Float64: return 53;
    case DType::Float32: return 24;
    case DType::Float16: return 11;
    case DType::BFloat16: return 8;
    default: return 3;  // the least of the float8 types
  }
}

// The top `count` of `width` bits as a number in [0, 1) of dtype `t`.
Tensor as_uniform(const Tensor& bits, int width, int count, DType t) {
  const Tensor top = bits >> (width - count);
  return top.cast(t) * (1.0 / static_cast<double>(std::uint64_t{1} << count));
}

DType float_dtype(const Call& call, const TensorOptions& options) {
  const DType dtype = options.dtype.value_or(DType::Float32);
  call.require(is_float(dtype), "{} is not a float dtype", name_of(dtype));
  return dtype;
}

TensorOptions options_of(const Tensor& like) {
  return {.dtype = like.dtype(), .device = like.device_index() < 0 ? "" : like.device()};
}

}  // namespace

void manual_seed(std::uint64_t seed) { set_random_state({.seed = seed, .draws = 0}); }

Tensor Tensor::rand(const Shape& shape, const TensorOptions& options, Location at) {
  const Call call("rand", {}, at);
  const DType dtype = float_dtype(call, options);
  const DType work = dtype == DType::Float64 ? dtype : DType::Float32;
  return as_uniform(random_bits(call, shape, options), 64, uniform_bits(dtype), work).cast(dtype);
}

// Box and Muller: one draw of 64 bits gives the radius and the angle.
Tensor Tensor::randn(const Shape& shape, const TensorOptions& options, Location at) {
  const Call call("randn", {}, at);
  const DType dtype = float_dtype(call, options);
  const DType work = dtype == DType::Float64 ? dtype : DType::Float32;
  const Tensor bits = random_bits(call, shape, options);
  const int count = work == DType::Float64 ? 32 : 24;
  const Tensor u = as_uniform(bits >> 32, 32, count, work);
  const Tensor angle = as_uniform(bits & 0xffff'ffffu, 32, count, work);
  const Tensor radius = croze::sqrt(-2.0 * croze::log(1.0 - u));
  return (radius * croze::cos(angle * (2 * std::numbers::pi))).cast(dtype);
}

Tensor Tensor::rand_like(const Tensor& like, Location at) {
  const CallScope scope("rand_like", at);
  return rand(like.shape(), options_of(like), at);
}

Tensor Tensor::randn_like(const Tensor& like, Location at) {
  const CallScope scope("randn_like", at);
  return randn(like.shape(), options_of(like), at);
}

Tensor Tensor::uniform(const Shape& shape, double low, double high, const TensorOptions& options,
                       Location at) {
  const CallScope scope("uniform", at);
  return rand(shape, options, at) * (high - low) + low;
}

Tensor Tensor::randint(std::int64_t low, std::int64_t high, const Shape& shape,
                       const TensorOptions& options, Location at) {
  const Call call("randint", {}, at);
  const DType dtype = options.dtype.value_or(DType::Int64);
  call.require(is_integer(dtype), "{} is not an integer dtype", name_of(dtype));
  call.require(low < high, "there is no integer in [{}, {})", low, high);
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const Tensor bits = random_bits(call, shape, options);
  // Scaling 32 bits is as fair as 32 bits allow; wider ranges take the remainder of 64.
  const Tensor offset =
      count <= (std::uint64_t{1} << 32) ? ((bits >> 32) * count) >> 32 : bits % count;
  return (offset.cast(DType::Int64) + low).cast(dtype);
}

}  // namespace croze
