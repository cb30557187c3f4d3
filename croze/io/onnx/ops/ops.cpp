// ops.cpp -- what the families of operators share.
#include "croze/io/onnx/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace croze::onnx {

Tensor along_axis(const Tensor& vector, std::int64_t axis, int rank) {
  Shape shape;
  for (int i = 0; i < rank; i++) shape.push_back(i == axis ? vector.numel() : 1);
  return vector.reshape(shape);
}

Tensor from_the_end(const Tensor& index, std::int64_t size) {
  const Tensor wide = index.cast(DType::Int64);
  return where(wide < 0, wide + size, wide);
}

Tensor take_positions(const Tensor& x, std::int64_t axis, const Ints& positions) {
  const auto count = static_cast<std::int64_t>(positions.size());
  if (count == 0) return x.narrow(axis, 0, 0);
  bool consecutive = true;
  for (std::size_t i = 1; i < positions.size(); i++) {
    consecutive = consecutive && positions[i] == positions[i - 1] + 1;
  }
  if (consecutive) return x.narrow(axis, positions[0], count);
  return index_select(x, axis, vector_of(positions));
}

Tensor divide(const Tensor& a, const Tensor& b) {
  return is_float(a.dtype()) ? a / b : div(a, b, Rounding::Trunc);
}

Ints all_axes(int rank) {
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Ints axes_of(const NodeCall& call, int by_input, int rank) {
  Ints axes = call.integers("axes");
  if (call.version() >= by_input && call.has(1)) axes = call.integers(1);
  if (axes.empty()) axes = all_axes(rank);
  for (std::int64_t& axis : axes) axis = checked_axis(axis, rank);
  std::ranges::sort(axes);
  return axes;
}

}  // namespace croze::onnx
