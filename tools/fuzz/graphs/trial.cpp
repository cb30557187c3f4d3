// trial.cpp -- leaves, noise and casts of functions that are recorded several ways.
#include "fuzz/graphs/trial.h"

#include <algorithm>
#include <cmath>

#include "croze/graph/eval.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "fuzz/chance.h"
#include "fuzz/program.h"

namespace croze::fuzz {
namespace {

// In [-1, 1).
double unit(Chance& chance) { return static_cast<double>(chance.bits() >> 11) * 0x1p-52 - 1; }

HostTensor empty_data(const Shape& shape, DType dtype) {
  HostTensor data{dtype, Dims(), {}};
  for (std::int64_t size : shape) data.shape.push_back(size);
  data.bits.reserve(static_cast<std::size_t>(shape.numel()));
  return data;
}

}  // namespace

GraphTrial GraphTrial::wide(std::vector<DType> rounded) {
  GraphTrial trial("INTERP");
  trial.is_wide_ = true;
  trial.rounded_ = std::move(rounded);
  return trial;
}

GraphTrial GraphTrial::noisy(std::vector<DType> rounded, std::uint64_t seed) {
  GraphTrial trial = wide(std::move(rounded));
  trial.is_noisy_ = true;
  trial.seed_ = seed;
  return trial;
}

GraphTrial GraphTrial::rounding(std::vector<DType> rounded) {
  GraphTrial trial = wide(std::move(rounded));
  trial.is_rounding_ = true;
  return trial;
}

double GraphTrial::epsilon(DType dtype) {
  switch (dtype) {
    case DType::Float64: return 0x1p-52;
    case DType::Float16: return 0x1p-10;
    case DType::BFloat16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

double GraphTrial::magnification(DType dtype) { return is_half(dtype) ? 4 : 256; }

// Contents are those of the dtype that is written, whatever the arithmetic.
Tensor GraphTrial::leaf(HostTensor data) const {
  if (is_wide_ && is_float(data.dtype)) data.dtype = DType::Float64;
  return Tensor::from_bytes(to_bytes(data), data.dtype, Shape(data.shape), {.device = device_});
}

Tensor GraphTrial::reals(const Shape& shape, DType dtype, std::int64_t seed, int specials) {
  constexpr double special[] = {NAN, INFINITY, -INFINITY, 0., -0.};
  Chance chance(static_cast<std::uint64_t>(seed));
  HostTensor data = empty_data(shape, dtype);
  for (std::int64_t i = shape.numel(); i > 0; i--) {
    const double number = 2 * unit(chance);
    data.bits.push_back(bits_of(chance.percent(specials) ? chance.one_of(special) : number, dtype));
  }
  return (*this)(leaf(std::move(data)));
}

Tensor GraphTrial::real(const Shape& shape, DType dtype, std::int64_t seed) {
  return reals(shape, dtype, seed, 0);
}

Tensor GraphTrial::special(const Shape& shape, DType dtype, std::int64_t seed) {
  return reals(shape, dtype, seed, 10);
}

Tensor GraphTrial::whole(const Shape& shape, DType dtype, std::int64_t low, std::int64_t high,
                         std::int64_t seed) {
  Chance chance(static_cast<std::uint64_t>(seed));
  HostTensor data = empty_data(shape, dtype);
  for (std::int64_t i = shape.numel(); i > 0; i--) {
    data.bits.push_back(bits_of(chance.between(low, high), dtype));
  }
  return leaf(std::move(data));
}

Tensor GraphTrial::operator()(const Tensor& x) {
  if (!is_wide_) rounded_.push_back(x.dtype());
  const std::size_t call = calls_++;
  if (!(is_noisy_ || is_rounding_) || !is_float(x.dtype())) return x;
  const DType dtype = rounded_.at(call);
  if (is_rounding_) return x.cast(dtype).cast(x.dtype());
  const double size = epsilon(dtype) * magnification(dtype);
  Chance chance(seed_ * 0x9e3779b97f4a7c15u + call);
  HostTensor noise = empty_data(x.shape(), DType::Float64);
  for (std::int64_t i = x.numel(); i > 0; i--) {
    noise.bits.push_back(bits_of(1 + size * unit(chance), DType::Float64));
  }
  return x * leaf(std::move(noise));
}

Tensor GraphTrial::cast(const Tensor& x, DType dtype) const {
  return x.cast(is_wide_ && is_float(dtype) ? DType::Float64 : dtype);
}

}  // namespace croze::fuzz
