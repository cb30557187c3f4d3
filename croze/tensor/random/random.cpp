// random.cpp -- random numbers by counting.
//
// Threefry(count, key) is a block cipher run over a counter, so any element of a random tensor can
// be computed alone, on any device, with the same result.  The key is drawn from the seed when the
// tensor is recorded and lives in a Buffer, so that a captured step can be given another.
//
// A call of it gives two words, and most elements want one, or half of a pair: they share the
// calls, in runs of 32 elements, of which the first takes the low words of 32 calls and the next
// one the high words.  Vectors lie in a run, so both words of a vector of calls are whole vectors
// of results; and which call an element takes part in depends on its position alone.
#include <numbers>

#include "croze/graph/eval.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/run/random_state.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/record.h"

namespace croze {
namespace {

bool is_empty(const Call& call, const Shape& shape) {
  call.check_shape(shape);
  return shape.numel() == 0;
}

constexpr std::int64_t run_length = 32;

// Nodes over the elements of a tensor, as one axis.
struct Draw {
  Shape shape, flat;
  int device = 0;
  UOp position, key;

  UOp apply(Op op, UOp a, UOp b) const {
    const UOp src[] = {a, b};
    return elementwise_node(op, src, flat);
  }
  UOp apply(Op op, UOp a, std::int64_t b) const {
    return apply(op, a, tensor_graph().constant(a.dtype(), b));
  }
  UOp call(UOp count) const { return apply(Op::Threefry, cast_node(count, DType::UInt64), key); }
  Tensor result(UOp x) const { return wrap(reshape_node(x, shape), device); }
};

// The caller holds the lock of the tensor graph.
Draw begin_draw(const Shape& shape, const TensorOptions& options) {
  const int device = options.device.empty() ? default_device() : device_index(options.device);
  const Shape flat{shape.numel()};
  return {shape, flat, device, position_node(flat, 0), new_random_key(tensor_graph(), device)};
}

// A call that two elements share, as UInt64, and which of them each is.
struct SharedCall {
  Tensor bits, is_second;
};

SharedCall shared_bits(const Shape& shape, const TensorOptions& options) {
  GraphLock lock;
  const Draw draw = begin_draw(shape, options);
  const UOp i = draw.position;
  const UOp run = draw.apply(Op::Mul, draw.apply(Op::IDiv, i, 2 * run_length), run_length);
  const UOp count = draw.apply(Op::Add, run, draw.apply(Op::Mod, i, run_length));
  const UOp side = draw.apply(Op::Mod, draw.apply(Op::IDiv, i, run_length), 2);
  return {draw.result(draw.call(count)), draw.result(draw.apply(Op::Eq, side, 1))};
}

// 64 random bits per element, as UInt64.
Tensor random_bits(const Shape& shape, const TensorOptions& options) {
  GraphLock lock;
  const Draw draw = begin_draw(shape, options);
  return draw.result(draw.call(draw.position));
}

Tensor low_word(const Tensor& bits) { return bits.cast(DType::UInt32); }
Tensor high_word(const Tensor& bits) { return (bits >> 32).cast(DType::UInt32); }

// 32 random bits per element, as UInt32.
Tensor random_words(const Shape& shape, const TensorOptions& options) {
  const auto [bits, is_second] = shared_bits(shape, options);
  return where(is_second, high_word(bits), low_word(bits));
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
  if (is_empty(call, shape)) return zeros(shape, options);
  const DType work = dtype == DType::Float64 ? dtype : DType::Float32;
  if (work == DType::Float64) {
    return as_uniform(random_bits(shape, options), 64, uniform_bits(dtype), work);
  }
  const Tensor words = random_words(shape, options);
  return as_uniform(words, 32, uniform_bits(dtype), work).cast(dtype);
}

// Box and Muller: the words of a call give the radius and the angle of a point, which is two
// numbers.
Tensor Tensor::randn(const Shape& shape, const TensorOptions& options, Location at) {
  const Call call("randn", {}, at);
  const DType dtype = float_dtype(call, options);
  if (is_empty(call, shape)) return zeros(shape, options);
  const DType work = dtype == DType::Float64 ? dtype : DType::Float32;
  const auto [bits, is_second] = shared_bits(shape, options);
  const int count = work == DType::Float64 ? 32 : 24;
  const Tensor u = as_uniform(high_word(bits), 32, count, work);
  const Tensor radius = croze::sqrt(-2.0 * croze::log(1.0 - u));
  const Tensor angle = as_uniform(low_word(bits), 32, count, work) * (2 * std::numbers::pi);
  return (radius * croze::where(is_second, croze::sin(angle), croze::cos(angle))).cast(dtype);
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
  if (is_empty(call, shape)) return zeros(shape, {.dtype = dtype, .device = options.device});
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  // Scaling 32 bits is as fair as 32 bits allow; wider ranges take the remainder of 64.
  const Tensor offset = count <= (std::uint64_t{1} << 32)
                            ? (random_words(shape, options).cast(DType::UInt64) * count) >> 32
                            : random_bits(shape, options) % count;
  return (offset.cast(DType::Int64) + low).cast(dtype);
}

}  // namespace croze
