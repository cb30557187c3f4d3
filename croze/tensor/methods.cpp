// methods.cpp -- the methods of Tensor that are functions of the same name over *this.
#include "croze/tensor/elementwise/activation.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/special.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"

namespace croze {
namespace {

// *this as the first operand, said to stand where the other one was written.
Operand beside(const Tensor& self, const Operand& other) { return Operand(self, other.at()); }

}  // namespace

// ---- elementwise ------------------------------------------------------------------------------

Tensor Tensor::add(Operand o) const { return beside(*this, o) + o; }
Tensor Tensor::sub(Operand o) const { return beside(*this, o) - o; }
Tensor Tensor::mul(Operand o) const { return beside(*this, o) * o; }
Tensor Tensor::div(Operand o) const { return beside(*this, o) / o; }
Tensor Tensor::bitwise_and(Operand o) const { return beside(*this, o) & o; }
Tensor Tensor::bitwise_or(Operand o) const { return beside(*this, o) | o; }
Tensor Tensor::bitwise_xor(Operand o) const { return beside(*this, o) ^ o; }
Tensor Tensor::lshift(Operand o) const { return beside(*this, o) << o; }
Tensor Tensor::rshift(Operand o) const { return beside(*this, o) >> o; }
Tensor Tensor::eq(Operand o) const { return beside(*this, o) == o; }
Tensor Tensor::ne(Operand o) const { return beside(*this, o) != o; }
Tensor Tensor::lt(Operand o) const { return beside(*this, o) < o; }
Tensor Tensor::le(Operand o) const { return beside(*this, o) <= o; }
Tensor Tensor::gt(Operand o) const { return beside(*this, o) > o; }
Tensor Tensor::ge(Operand o) const { return beside(*this, o) >= o; }
Tensor Tensor::floor_divide(Operand o) const { return croze::floor_divide(beside(*this, o), o); }
Tensor Tensor::remainder(Operand o) const { return croze::remainder(beside(*this, o), o); }
Tensor Tensor::pow(Operand o) const { return croze::pow(beside(*this, o), o); }
Tensor Tensor::maximum(Operand o) const { return croze::maximum(beside(*this, o), o); }
Tensor Tensor::minimum(Operand o) const { return croze::minimum(beside(*this, o), o); }
Tensor Tensor::logical_and(Operand o) const { return croze::logical_and(beside(*this, o), o); }
Tensor Tensor::logical_or(Operand o) const { return croze::logical_or(beside(*this, o), o); }
Tensor Tensor::logical_xor(Operand o) const { return croze::logical_xor(beside(*this, o), o); }

Tensor Tensor::where(Operand condition, Operand other) const {
  return croze::where(condition, beside(*this, condition), other);
}
Tensor Tensor::masked_fill(Operand mask, Operand value) const {
  return croze::masked_fill(*this, mask, value);
}
Tensor Tensor::clamp(std::optional<double> low, std::optional<double> high, Location at) const {
  return croze::clamp(*this, low, high, at);
}
Tensor Tensor::lerp(Operand end, Operand weight) const {
  return croze::lerp(beside(*this, end), end, weight);
}

Tensor Tensor::abs(Location at) const { return croze::abs(*this, at); }
Tensor Tensor::sign(Location at) const { return croze::sign(*this, at); }
Tensor Tensor::square(Location at) const { return croze::square(*this, at); }
Tensor Tensor::sqrt(Location at) const { return croze::sqrt(*this, at); }
Tensor Tensor::rsqrt(Location at) const { return croze::rsqrt(*this, at); }
Tensor Tensor::reciprocal(Location at) const { return croze::reciprocal(*this, at); }
Tensor Tensor::exp(Location at) const { return croze::exp(*this, at); }
Tensor Tensor::exp2(Location at) const { return croze::exp2(*this, at); }
Tensor Tensor::expm1(Location at) const { return croze::expm1(*this, at); }
Tensor Tensor::log(Location at) const { return croze::log(*this, at); }
Tensor Tensor::log2(Location at) const { return croze::log2(*this, at); }
Tensor Tensor::log10(Location at) const { return croze::log10(*this, at); }
Tensor Tensor::log1p(Location at) const { return croze::log1p(*this, at); }
Tensor Tensor::sin(Location at) const { return croze::sin(*this, at); }
Tensor Tensor::cos(Location at) const { return croze::cos(*this, at); }
Tensor Tensor::tan(Location at) const { return croze::tan(*this, at); }
Tensor Tensor::asin(Location at) const { return croze::asin(*this, at); }
Tensor Tensor::acos(Location at) const { return croze::acos(*this, at); }
Tensor Tensor::atan(Location at) const { return croze::atan(*this, at); }
Tensor Tensor::sinh(Location at) const { return croze::sinh(*this, at); }
Tensor Tensor::cosh(Location at) const { return croze::cosh(*this, at); }
Tensor Tensor::tanh(Location at) const { return croze::tanh(*this, at); }
Tensor Tensor::erf(Location at) const { return croze::erf(*this, at); }
Tensor Tensor::floor(Location at) const { return croze::floor(*this, at); }
Tensor Tensor::ceil(Location at) const { return croze::ceil(*this, at); }
Tensor Tensor::round(Location at) const { return croze::round(*this, at); }
Tensor Tensor::trunc(Location at) const { return croze::trunc(*this, at); }
Tensor Tensor::isnan(Location at) const { return croze::isnan(*this, at); }
Tensor Tensor::isinf(Location at) const { return croze::isinf(*this, at); }
Tensor Tensor::isfinite(Location at) const { return croze::isfinite(*this, at); }
Tensor Tensor::sigmoid(Location at) const { return croze::sigmoid(*this, at); }
Tensor Tensor::relu(Location at) const { return croze::relu(*this, at); }
Tensor Tensor::logical_not(Location at) const { return croze::logical_not(*this, at); }

// ---- reductions -------------------------------------------------------------------------------

Tensor Tensor::sum(const Axes& axes, bool keepdim, Location at) const {
  return croze::sum(*this, axes, keepdim, at);
}
Tensor Tensor::prod(const Axes& axes, bool keepdim, Location at) const {
  return croze::prod(*this, axes, keepdim, at);
}
Tensor Tensor::mean(const Axes& axes, bool keepdim, Location at) const {
  return croze::mean(*this, axes, keepdim, at);
}
Tensor Tensor::max(const Axes& axes, bool keepdim, Location at) const {
  return croze::max(*this, axes, keepdim, at);
}
Tensor Tensor::min(const Axes& axes, bool keepdim, Location at) const {
  return croze::min(*this, axes, keepdim, at);
}
Tensor Tensor::any(const Axes& axes, bool keepdim, Location at) const {
  return croze::any(*this, axes, keepdim, at);
}
Tensor Tensor::all(const Axes& axes, bool keepdim, Location at) const {
  return croze::all(*this, axes, keepdim, at);
}
Tensor Tensor::logsumexp(const Axes& axes, bool keepdim, Location at) const {
  return croze::logsumexp(*this, axes, keepdim, at);
}
Tensor Tensor::argmax(std::optional<std::int64_t> axis, bool keepdim, Location at) const {
  return croze::argmax(*this, axis, keepdim, at);
}
Tensor Tensor::argmin(std::optional<std::int64_t> axis, bool keepdim, Location at) const {
  return croze::argmin(*this, axis, keepdim, at);
}
Tensor Tensor::var(const Axes& axes, double correction, bool keepdim, Location at) const {
  return croze::var(*this, axes, correction, keepdim, at);
}
Tensor Tensor::std_dev(const Axes& axes, double correction, bool keepdim, Location at) const {
  return croze::std_dev(*this, axes, correction, keepdim, at);
}
Tensor Tensor::norm(double p, const Axes& axes, bool keepdim, Location at) const {
  return croze::norm(*this, p, axes, keepdim, at);
}
Tensor Tensor::softmax(std::int64_t axis, Location at) const {
  return croze::softmax(*this, axis, at);
}
Tensor Tensor::log_softmax(std::int64_t axis, Location at) const {
  return croze::log_softmax(*this, axis, at);
}
Tensor Tensor::cumsum(std::int64_t axis, Location at) const {
  return croze::cumsum(*this, axis, at);
}

// ---- movement ---------------------------------------------------------------------------------

Tensor Tensor::reshape(const Shape& shape, Location at) const {
  return croze::reshape(*this, shape, at);
}
Tensor Tensor::view(const Shape& shape, Location at) const {
  return croze::reshape(*this, shape, at);
}
Tensor Tensor::expand(const Shape& shape, Location at) const {
  return croze::expand(*this, shape, at);
}
Tensor Tensor::permute(const Shape& order, Location at) const {
  return croze::permute(*this, order, at);
}
Tensor Tensor::transpose(std::int64_t a, std::int64_t b, Location at) const {
  return croze::transpose(*this, a, b, at);
}
Tensor Tensor::flip(const Axes& axes, Location at) const { return croze::flip(*this, axes, at); }
Tensor Tensor::narrow(std::int64_t axis, std::int64_t begin, std::int64_t length,
                      Location at) const {
  return croze::narrow(*this, axis, begin, length, at);
}
Tensor Tensor::select(std::int64_t axis, std::int64_t i, Location at) const {
  return croze::select(*this, axis, i, at);
}
Tensor Tensor::slice(std::int64_t axis, const Slice& s, Location at) const {
  return croze::slice(*this, axis, s, at);
}
Tensor Tensor::pad(const Shape& amounts, Scalar value, Location at) const {
  return croze::pad(*this, amounts, value, at);
}
Tensor Tensor::squeeze(std::optional<std::int64_t> axis, Location at) const {
  return croze::squeeze(*this, axis, at);
}
Tensor Tensor::unsqueeze(std::int64_t axis, Location at) const {
  return croze::unsqueeze(*this, axis, at);
}
Tensor Tensor::flatten(std::int64_t first, std::int64_t last, Location at) const {
  return croze::flatten(*this, first, last, at);
}
Tensor Tensor::repeat(const Shape& times, Location at) const {
  return croze::repeat(*this, times, at);
}
Tensor Tensor::unfold(std::int64_t axis, std::int64_t size, std::int64_t step, Location at) const {
  return croze::unfold(*this, axis, size, step, 1, at);
}
std::vector<Tensor> Tensor::split(std::int64_t size, std::int64_t axis, Location at) const {
  return croze::split(*this, size, axis, at);
}
std::vector<Tensor> Tensor::split(const Shape& sizes, std::int64_t axis, Location at) const {
  return croze::split(*this, sizes, axis, at);
}
std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t axis, Location at) const {
  return croze::chunk(*this, chunks, axis, at);
}
Tensor Tensor::triu(std::int64_t diagonal, Location at) const {
  return croze::triu(*this, diagonal, at);
}
Tensor Tensor::tril(std::int64_t diagonal, Location at) const {
  return croze::tril(*this, diagonal, at);
}

// ---- indexing and products --------------------------------------------------------------------

Tensor Tensor::operator[](const TensorIndex& i) const {
  return croze::index(*this, std::span(&i, 1), i.at());
}
Tensor Tensor::index(std::initializer_list<TensorIndex> indices, Location at) const {
  return croze::index(*this, std::span(indices.begin(), indices.size()), at);
}
Tensor Tensor::index(std::span<const TensorIndex> indices, Location at) const {
  return croze::index(*this, indices, at);
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, Operand value) {
  return index_put_(std::span(indices.begin(), indices.size()), std::move(value));
}
Tensor Tensor::gather(std::int64_t axis, const Tensor& index, Location at) const {
  return croze::gather(*this, axis, index, at);
}
Tensor Tensor::index_select(std::int64_t axis, const Tensor& index, Location at) const {
  return croze::index_select(*this, axis, index, at);
}
Tensor Tensor::scatter(std::int64_t axis, const Tensor& index, Operand source) const {
  return croze::scatter(*this, axis, index, source);
}
Tensor Tensor::scatter_add(std::int64_t axis, const Tensor& index, Operand source) const {
  return croze::scatter_add(*this, axis, index, source);
}
Tensor Tensor::matmul(const Tensor& other, Location at) const {
  return croze::matmul(*this, other, at);
}
Tensor Tensor::dot(const Tensor& other, Location at) const { return croze::dot(*this, other, at); }

}  // namespace croze
