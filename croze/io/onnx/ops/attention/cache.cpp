// cache.cpp -- writing rows into caches.
#include "croze/io/onnx/ops/attention/cache.h"

namespace croze::onnx {
namespace {

Results tensor_scatter(const NodeCall& call) {
  const Tensor& cache = call[0];
  const std::string_view mode = call.text("mode", "linear");
  check(mode == "linear" || mode == "circular", "mode \"{}\"", mode);
  const std::int64_t axis = checked_axis(call.integer("axis", -2), cache.ndim());
  const Tensor begin = call.has(2) ? call[2] : Tensor::zeros({cache.size(0)}, DType::Int64);
  return {call.like(0, with_rows(cache, call[1], axis, begin, mode == "circular"))};
}

constexpr Operator table[] = {{"TensorScatter", 24, tensor_scatter}};

}  // namespace

std::span<const Operator> cache_operators() { return table; }

Tensor with_rows(const Tensor& cache, const Tensor& update, std::int64_t axis, const Tensor& begin,
                 bool circular) {
  Shape fitting = cache.shape();
  const std::int64_t size = cache.size(axis);
  const std::int64_t count = update.ndim() == cache.ndim() ? update.size(axis) : -1;
  fitting[static_cast<int>(axis)] = count;
  check(axis > 0 && count >= 0 && count <= size && update.shape() == fitting,
        "rows of shape {} along axis {} of a cache of {}", to_text(update.shape()), axis,
        to_text(cache.shape()));
  check(begin.numel() == cache.size(0), "{} places for a batch of {}", begin.numel(),
        cache.size(0));
  if (count == 0) return cache;
  Tensor row = along_axis(Tensor::arange(size), axis, cache.ndim()) -
               along_axis(begin.cast(DType::Int64).flatten(), 0, cache.ndim());
  if (circular) row = remainder(row, size);
  const Tensor is_new = logical_and(row >= 0, row < count);
  const Tensor source = clamp(row, 0, count - 1).expand(cache.shape());
  return where(is_new, gather(update, axis, source), cache);
}

}  // namespace croze::onnx
