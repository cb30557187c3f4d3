// rotary.cpp -- rotary embeddings.
#include "croze/io/onnx/ops/attention/rotary.h"

#include "croze/io/onnx/ops/attention/attention.h"

namespace croze::onnx {
namespace {

// Inputs: x, cosines, sines, positions.
Results rotary_embedding(const NodeCall& call) {
  const bool is_joined = call[0].ndim() == 3;
  const Tensor x = is_joined ? split_heads(call[0], call.required_integer("num_heads")) : call[0];
  check(x.ndim() == 4, "an input of shape {}: there must be 3 or 4 axes", to_text(x.shape()));
  Tensor cosines = call[1], sines = call[2];
  if (call.has(3)) {
    cosines = rows_at(cosines, call[3]);
    sines = rows_at(sines, call[3]);
  }
  const std::int64_t width = call.integer("rotary_embedding_dim", 0);
  check(2 * cosines.size(-1) == (width == 0 ? x.size(3) : width),
        "{} cosines do not rotate a width of {}", cosines.size(-1), width == 0 ? x.size(3) : width);
  const Tensor result = rotated(x, cosines, sines, call.flag("interleaved"));
  return {is_joined ? join_heads(result) : result};
}

// clang-format off
constexpr Operator table[] = {
  {"RotaryEmbedding", 23, rotary_embedding},
};
// clang-format on

}  // namespace

std::span<const Operator> rotary_operators() { return table; }

Tensor rows_at(const Tensor& table, const Tensor& positions) {
  check(table.ndim() == 2 && positions.ndim() == 2, "positions of shape {} in a table of {}",
        to_text(positions.shape()), to_text(table.shape()));
  const Tensor rows = index_select(table, 0, positions.cast(DType::Int64).flatten());
  return rows.reshape({positions.size(0), positions.size(1), table.size(1)});
}

Tensor rotated(const Tensor& x, const Tensor& cosines, const Tensor& sines, bool interleaved) {
  const std::int64_t half = cosines.size(-1);
  check(cosines.ndim() == 3 && sines.shape() == cosines.shape() && 2 * half <= x.size(3),
        "cosines of shape {} and sines of {} for {}", to_text(cosines.shape()),
        to_text(sines.shape()), to_text(x.shape()));
  return in_float32(x, [&](const Tensor& wide) {
    const Tensor cosine = cosines.cast(wide.dtype()).unsqueeze(1);
    const Tensor sine = sines.cast(wide.dtype()).unsqueeze(1);
    const Tensor turning = wide.narrow(3, 0, 2 * half);
    const Shape shape = turning.shape();
    Shape halves = shape;
    halves[3] = interleaved ? half : 2;
    halves.push_back(interleaved ? 2 : half);
    const std::int64_t axis = interleaved ? 4 : 3;
    const Tensor pairs = turning.reshape(halves);
    const Tensor a = select(pairs, axis, 0), b = select(pairs, axis, 1);
    const Tensor turned = stack({cosine * a - sine * b, sine * a + cosine * b}, axis);
    return cat({turned.reshape(shape), wide.narrow(3, 2 * half, x.size(3) - 2 * half)}, 3);
  });
}

}  // namespace croze::onnx
